/* SPDX-License-Identifier: MIT
 *
 * moments.h: converts CLOCK_MONOTONIC_RAW to ticks of traces, using the times of all clocks that
 * `record` reads at several moments (doc/sched.md, "Clock").
 */
#ifndef PROBITY_SCHED_MOMENTS_H
#define PROBITY_SCHED_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

struct probity_sched_moments {
    const struct probity_clock_moment *items; /* in order of time, at least one */
    size_t count, at;
    int is_counter; /* ticks of the counter; 0: CLOCK_MONOTONIC */
    uint64_t rate;  /* ns per tick × 2^32 */
    uint32_t error_ns;
};

/* Returns whether ticks of this kind (enum probity_clock_kind) can be computed: 1 or 0. clock: the
 * result of probity_clock_choose() when the moments were taken. The moments are not copied. */
int probity_sched_moments_use(struct probity_sched_moments *moments,
                              const struct probity_clock_moment *items, size_t count,
                              uint32_t clock, uint32_t kind);

/* Converts a time to ticks. Fastest if times ascend. */
uint64_t probity_sched_moments_tick(struct probity_sched_moments *moments, uint64_t raw_ns);

/* Converts ticks to a time. */
uint64_t probity_sched_moments_raw(struct probity_sched_moments *moments, uint64_t tick);

#endif
