/* SPDX-License-Identifier: MIT
 *
 * request.h: finds the spool of a process and requests a change of levels from its program; the
 * tool's side of src/spool/control.h. Never runs in a traced program.
 */
#ifndef PROBITY_WRITER_REQUEST_H
#define PROBITY_WRITER_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"

struct probity_attach;

/* A spool whose program is recording. */
struct probity_request;

/* Opens the spool of a process. Searches all segments 0 in PROBITY_SPOOL_DIR or in the directory of
 * its user, whose path is stored in ret_directory. pid: as seen by this process; it may differ in
 * the program's PID namespace. *ret_count: number of spools found; if 1, *ret_request is open.
 * Returns 0, PROBITY_ERROR_OPEN with errno set if the directory cannot be read (if it does not
 * exist, there is no spool), PROBITY_ERROR_STATE if it is another user's or writable by others,
 * PROBITY_ERROR_VERSION if the only spool has another version, or PROBITY_ERROR_MEMORY. */
int probity_request_open_process(uint32_t pid, char *ret_directory, size_t room, int *ret_count,
                                 struct probity_request **ret_request);

/* Identifies a trace that was read. */
struct probity_request_trace {
    const char *path;
    const struct probity_info *info;
    uint64_t device, inode; /* those of its file */
    uint32_t owner;         /* its user id */
};

/* Opens the spool of a trace. Returns 0; PROBITY_ERROR_STATE if its program is no longer recording;
 * otherwise the same as probity_attach_find(). */
int probity_request_open_trace(const struct probity_request_trace *trace,
                               struct probity_request **ret_request);

/* Returns whether the process sees different files from the caller under the same names: it is in
 * another mount namespace or chroot. 0 if that is unknown. */
int probity_request_has_other_files(uint32_t pid);

/* Returns the attached spool; valid until the request is closed. */
const struct probity_attach *probity_request_attach(const struct probity_request *request);

uint32_t probity_request_pid(const struct probity_request *request);

/* Returns 1 if there is a writer that can reply, or 0. */
int probity_request_has_writer(const struct probity_request *request);

/* Reads the current levels. Returns 0, or PROBITY_ERROR_VERSION if the program does not support
 * levels. */
int probity_request_read(const struct probity_request *request, int *ret_functions,
                         int *ret_parameters);

/* Requests levels (-1: unchanged) and waits at most wait_ns for the reply. Returns 0 with the
 * resulting levels, or an error of probity_control_ask(). */
int probity_request_levels(const struct probity_request *request, int functions, int parameters,
                           int64_t wait_ns, int *ret_functions, int *ret_parameters);

/* Requests other settings, like probity_control_change(). ret_why: PROBITY_SPOOL_CHANGE_TEXT
 * bytes. */
int probity_request_change(const struct probity_request *request, const char *text,
                           int64_t wait_ns, char *ret_why);

/* Ends the recording, like probity_control_end(). */
int probity_request_end(const struct probity_request *request, int64_t wait_ns, int *ret_why);

void probity_request_close(struct probity_request *request);

#endif
