/* SPDX-License-Identifier: MIT
 *
 * xray_fdr.c: the scope of plain.c for the flight data recorder of clang's XRay, which a program
 * must start itself and ask for its file (XRay's basic mode needs neither). Exits if the recorder
 * does not start, because figures for patched code that records nothing are useless.
 */
#include "peer.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* From xray/xray_log_interface.h, which requires a C++ compiler. */
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

/* 64 MiB hold everything. By default, calls shorter than 5 us are dropped. */
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
