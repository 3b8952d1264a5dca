/* SPDX-License-Identifier: MIT
 *
 * xray_fdr.c: the scope as plain.c has it, for the flight recorder of clang's XRay, which a program
 * must itself start and ask for its file. (XRay's basic mode needs neither.) Ends the program where
 * it does not start: the figures of patched code that records nothing are worth nothing.
 */
#include "peer.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* As in xray/xray_log_interface.h, which needs a C++ compiler. */
enum { XRAY_LOG_INITIALIZED = 2, XRAY_REGISTRATION_OK = 0 };
extern int __xray_log_select_mode(const char *mode);
extern int __xray_log_init_mode(const char *mode, const char *options);
extern int __xray_log_finalize(void);
extern int __xray_log_flushLog(void);

uint64_t peer_scope(uint64_t value)
{
    PEER_WORK(value);
    return value;
}

/* 64 MiB hold all. By default what is shorter than 5 us is thrown away. */
static __attribute__((constructor)) void start_recording(void)
{
    static const char options[] = "func_duration_threshold_us=0:buffer_size=1048576:buffer_max=64";

    if (__xray_log_select_mode("xray-fdr") != XRAY_REGISTRATION_OK ||
        __xray_log_init_mode("xray-fdr", options) != XRAY_LOG_INITIALIZED) {
        fprintf(stderr, "XRay's flight recorder does not start\n");
        exit(1);
    }
}

static __attribute__((destructor)) void write_log(void)
{
    __xray_log_finalize();
    __xray_log_flushLog();
}
