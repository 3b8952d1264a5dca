/* SPDX-License-Identifier: MIT
 *
 * index_cpu.h: computes CPU times of a thread's records while an index is built (index_build.c),
 * for the thread's state at the next mark. Runs only in the tool.
 */
#ifndef PROBITY_READER_INDEX_CPU_H
#define PROBITY_READER_INDEX_CPU_H

#include "base/assert.h"
#include "base/ticks.h"
#include "format/block.h"
#include "format/stream.h"
#include "reader/index_write.h"

/* CPU times in one block: only that of the last record before each change of `off` is computed.
 * tick: that of the latest record other than declarations and the like, or 0. */
struct probity_index_cpu {
    const struct probity_data *data;
    uint64_t tick, off;
    int is_known, has_moment;
};

static inline uint64_t probity_index_cpu_at(const struct probity_data *data, uint64_t tick,
                                            uint64_t off)
{
    uint64_t ns = data->cpu_ns + probity_ns_of_ticks(tick - data->first_tick - off, data->rate);

    return (int64_t)ns > 0 ? ns : 0;
}

/* Takes the last record before a change. */
static inline void probity_index_cpu_moment(struct probity_index_state *at,
                                            struct probity_index_cpu *walk)
{
    uint64_t ns = walk->has_moment ? probity_index_cpu_at(walk->data, walk->tick, walk->off) : 0;

    probity_assert(!walk->has_moment || walk->is_known);
    walk->has_moment = 0;
    at->seen_cpu_ns = ns > at->seen_cpu_ns ? ns : at->seen_cpu_ns;
}

/* Processes a record that raises the CPU time of scopes, but not that of later records. */
static inline void probity_index_cpu_other(struct probity_index_state *at,
                                           struct probity_index_cpu *walk,
                                           const struct probity_record *record)
{
    probity_index_cpu_moment(at, walk);
    walk->tick = record->tick;
    if (!walk->is_known)
        return;
    uint64_t ns = probity_index_cpu_at(walk->data, record->tick, record->off);
    ns = ns > at->seen_cpu_ns ? ns : at->seen_cpu_ns;
    at->record_cpu_ns = ns > at->record_cpu_ns ? ns : at->record_cpu_ns;
}

/* Processes a hit, or a record of a scope. */
static inline void probity_index_cpu_walk(struct probity_index_state *at,
                                          struct probity_index_cpu *walk,
                                          const struct probity_record *record)
{
    if (__builtin_expect(record->off != walk->off, 0)) {
        probity_index_cpu_moment(at, walk);
        walk->off = record->off;
    }
    walk->tick = record->tick;
    walk->has_moment = walk->is_known;
}

#endif
