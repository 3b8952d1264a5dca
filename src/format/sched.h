/* SPDX-License-Identifier: MIT
 *
 * sched.h: the head of TRACE.sched, the file of thread states next to a trace, as specified in
 * doc/sched.md. Pure functions on memory, no I/O; used by `record` and the reader.
 */
#ifndef PROBITY_FORMAT_SCHED_H
#define PROBITY_FORMAT_SCHED_H

#include <stddef.h>
#include <stdint.h>

#define PROBITY_SCHED_SUFFIX ".sched"

enum {
    PROBITY_SCHED_MAJOR = 1,
    PROBITY_SCHED_MINOR = 1,
    PROBITY_SCHED_HEADER_BYTES = 16,
    PROBITY_SCHED_INFO_BYTES = 84,
    PROBITY_SCHED_INFO_BYTES_LEAST = 64, /* without the fields that version 1.1 added */
    PROBITY_SCHED_INFO = 37 /* type of the first block */
};

enum {
    PROBITY_SCHED_WAKINGS = 1, /* wakings are recorded: waiting for a CPU is exact */
    PROBITY_SCHED_CUT = 2,     /* recording ended early, because a write failed */
    PROBITY_SCHED_WAKINGS_STOPPED = 4 /* wakings are recorded until wakings_until */
};

struct probity_sched_info {
    uint8_t session[16];
    uint32_t flags, error_ns; /* error_ns: error of the ticks, plus or minus */
    uint64_t first_tick, last_tick;
    uint64_t lost; /* records that the kernel dropped */
    uint64_t blocks, events;
    uint64_t wakings_until; /* a tick, if the flag is set */
    uint64_t paused_ns;     /* total of the intervals that a budget left out */
    uint32_t pauses;        /* number of these */
};

/* The file's first 16 bytes. check: returns 0, PROBITY_ERROR_FORMAT or PROBITY_ERROR_VERSION. */
void probity_sched_header_put(uint8_t bytes[PROBITY_SCHED_HEADER_BYTES]);
int probity_sched_header_check(const uint8_t bytes[PROBITY_SCHED_HEADER_BYTES]);

/* The payload of the first block. get: returns 0 or PROBITY_ERROR_DAMAGED. */
void probity_sched_info_put(uint8_t payload[PROBITY_SCHED_INFO_BYTES],
                            const struct probity_sched_info *info);
int probity_sched_info_get(const uint8_t *payload, size_t bytes,
                           struct probity_sched_info *ret_info);

#endif
