/* SPDX-License-Identifier: MIT
 *
 * traces.h: the traces of a recording: their threads, and the files of states next to them.
 */
#ifndef PROBITY_SCHED_TRACES_H
#define PROBITY_SCHED_TRACES_H

#include "format/sched.h"
#include "sched/blocks.h"
#include "sched/lives.h"
#include "sched/moments.h"

struct probity_sched_trace {
    const char *path;
    int is_used; /* 0: owned by another user, not readable, or on another clock */
    int has_threads; /* some of the lives are threads of the trace */
    uint8_t session[16];
    struct probity_sched_moments moments;
};

/* Reads the headers of a trace's blocks, and assigns the trace to the lives that are its threads.
 * clock: as returned by probity_clock_choose(). Returns 0 or PROBITY_ERROR_MEMORY; any problem with
 * the trace only means that it is not used. */
int probity_sched_trace_open(struct probity_sched_trace *trace, uint32_t number,
                             const struct probity_clock_moment *moments, size_t moment_count,
                             uint32_t clock, struct probity_sched_lives *lives);

/* Returns the window of a dump, in CLOCK_MONOTONIC_RAW: from its first record to its end, or to its
 * last record if that is later. Returns 1, or 0 if it is not a dump, or cannot be used (see
 * is_used). */
int probity_sched_trace_window(const char *path, const struct probity_clock_moment *moments,
                               size_t moment_count, uint32_t clock, uint64_t *ret_from_ns,
                               uint64_t *ret_until_ns);

/* Writes the file next to a trace, replacing an existing one. info: flags, lost; the rest is filled
 * in. Returns 0, PROBITY_ERROR_MEMORY, or READ or WRITE with errno set. */
int probity_sched_trace_write(const struct probity_sched_trace *trace, uint32_t number,
                              const struct probity_sched_blocks *blocks,
                              struct probity_sched_info *info);

#endif
