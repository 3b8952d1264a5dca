/* SPDX-License-Identifier: MIT
 *
 * traces.h: the traces of a run: which threads they have, and the files of states beside them.
 */
#ifndef PROBITY_SCHED_TRACES_H
#define PROBITY_SCHED_TRACES_H

#include "format/sched.h"
#include "sched/blocks.h"
#include "sched/lives.h"
#include "sched/moments.h"

struct probity_sched_trace {
    const char *path;
    int is_used; /* 0: not the caller's, not readable, or on another clock */
    uint8_t session[16];
    struct probity_sched_moments moments;
};

/* Reads the headers of a trace's blocks, and sets the trace of the lives that are its threads;
 * clock as probity_clock_choose() returns it. Returns 0 or PROBITY_ERROR_MEMORY; any problem
 * with the trace only means that it is not used. */
int probity_sched_trace_open(struct probity_sched_trace *trace, uint32_t number,
                             const struct probity_clock_moment *moments, size_t moment_count,
                             uint32_t clock, struct probity_sched_lives *lives);

/* Writes the file beside a trace, replacing any with its name. info: flags, lost; the rest is
 * filled in. Returns 0, PROBITY_ERROR_MEMORY, or READ or WRITE with errno set. */
int probity_sched_trace_write(const struct probity_sched_trace *trace, uint32_t number,
                              const struct probity_sched_blocks *blocks,
                              struct probity_sched_info *info);

#endif
