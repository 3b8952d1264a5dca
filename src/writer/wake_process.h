/* SPDX-License-Identifier: MIT
 *
 * wake_process.h: finds the library in another process, and requests that it start recording; the
 * tool's side of doc/attach.md. Never runs in a traced program.
 */
#ifndef PROBITY_WRITER_WAKE_PROCESS_H
#define PROBITY_WRITER_WAKE_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "spool/wake.h" /* results reported by the program */

/* Maximum size of the settings in a request. */
enum { PROBITY_WAKE_SETTINGS_MAX = 8190 };

enum probity_wake_refusal {
    PROBITY_WAKE_OK = 0,
    PROBITY_WAKE_NO_PROCESS,  /* none with this id, or it has ended */
    PROBITY_WAKE_OTHER_USER,  /* it belongs to another user */
    PROBITY_WAKE_NO_RIGHTS,   /* its memory may not be written: ptrace is restricted */
    PROBITY_WAKE_NO_LIBRARY,  /* no mapped file has the library */
    PROBITY_WAKE_OTHER_VERSION, /* it has a version without attach, or a later one */
    PROBITY_WAKE_RECORDS,     /* it is already recording, or will from its first probe on */
    PROBITY_WAKE_BUSY,        /* another tool's request has had no reply yet */
    PROBITY_WAKE_TIMEOUT,     /* no probe was passed; the request is withdrawn */
    PROBITY_WAKE_REFUSED,     /* the library could not start recording: *ret_error */
    PROBITY_WAKE_SYSTEM       /* errno */
};

/* Starts a recording in the process with settings, each "NAME=VALUE" and a zero byte, and waits for
 * it, at most wait_ns; SIGINT, SIGTERM and SIGHUP withdraw the request, and then take effect.
 * settings_bytes: at most PROBITY_WAKE_SETTINGS_MAX. */
enum probity_wake_refusal probity_wake_process(uint32_t pid, const char *settings,
                                               size_t settings_bytes, int64_t wait_ns,
                                               int *ret_error);

/* Does the same through the control page of a process (doc/attach.md, "The control page"). Returns
 * PROBITY_WAKE_NO_LIBRARY if it has none. */
enum probity_wake_refusal probity_wake_page(uint32_t pid, const char *settings,
                                            size_t settings_bytes, int64_t wait_ns,
                                            int *ret_error);

/* Returns whether the process is stopped, by a signal or a debugger, and therefore cannot reply. 0
 * if that is unknown. */
int probity_wake_is_stopped(uint32_t pid);

#endif
