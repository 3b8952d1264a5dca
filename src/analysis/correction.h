/* SPDX-License-Identifier: MIT
 *
 * correction.h: the cost of recording, and times corrected for it. A cost is a range, from the
 * least to the most that the run measured at its start and its end, in an empty loop and amid other
 * work: the midpoint is subtracted, and half of the width is the error. In addition a time may be
 * wrong by how early the clock was read. Pure arithmetic, in 1/256 ns.
 */
#ifndef PROBITY_ANALYSIS_CORRECTION_H
#define PROBITY_ANALYSIS_CORRECTION_H

#include <stdint.h>

#include "reader/reader.h"

/* Parts of a time. The OWN part of a scope is in its self time, the rest in its caller's. */
enum probity_cost_part {
    PROBITY_PART_HIT,
    PROBITY_PART_SCOPE_OWN,
    PROBITY_PART_SCOPE_CALLER,
    PROBITY_PART_VALUES_OWN, /* of a scope with values */
    PROBITY_PART_VALUES_CALLER,
    PROBITY_PART_MESSAGE,
    PROBITY_PART_PROFILED_OWN, /* in profile mode */
    PROBITY_PART_PROFILED_CALLER,
    PROBITY_PART_HOOKED_OWN, /* of a call by the hooks that a compiler inserts */
    PROBITY_PART_HOOKED_CALLER,
    PROBITY_PARTS
};

/* In 1/256 ns. Both 0: unknown. */
struct probity_cost_range {
    uint64_t least, most;
};

struct probity_costs {
    int is_known;
    struct probity_cost_range part[PROBITY_PARTS];
    /* How far before the end of preceding instructions the clock may be read, in 1/256 ns: for
     * integer arithmetic and memory in the L1 cache; and for slower arithmetic. 0 if it cannot be
     * read early, or if that was not measured. */
    uint64_t early, early_slow;
    int is_ordered; /* it cannot be read early */
    /* A record may have read the CPU clock if it is at least gap_ticks after its thread's previous
     * one. Reading takes `reading` and is in the time after the record. UINT64_MAX without CPU
     * time. */
    uint64_t gap_ticks, reading;
};

/* Overhead included in a time of many calls. rare: may or may not be included, and is not
 * subtracted. Early clock readings change a time by up to `early` at its beginning and end, and by
 * `early_inside` at those of excluded calls. */
struct probity_cost_sum {
    uint64_t least, most, rare, early, early_inside;
};

static inline void probity_cost_add(struct probity_cost_sum *sum,
                                    const struct probity_cost_range *range)
{
    sum->least += range->least;
    sum->most += range->most;
}

static inline void probity_cost_join(struct probity_cost_sum *to,
                                     const struct probity_cost_sum *from)
{
    to->least += from->least;
    to->most += from->most;
    to->rare += from->rare;
    to->early += from->early;
    to->early_inside += from->early_inside;
}

/* For a time that includes another one: early readings at the bounds of the inner one have no
 * effect. */
static inline void probity_cost_include(struct probity_cost_sum *to,
                                        const struct probity_cost_sum *from)
{
    to->least += from->least;
    to->most += from->most;
    to->rare += from->rare;
}

/* A time without the overhead of recording. */
struct probity_corrected {
    uint64_t ns;       /* never below 0 */
    uint64_t error_ns; /* plus or minus */
    int is_below;      /* ns is less than error_ns: the time is only known to be below most_ns */
    uint64_t most_ns;  /* sum of ns and error_ns, limited to 1 ns above the original time */
};
struct probity_corrected probity_correct(uint64_t ns, const struct probity_cost_sum *sum);

/* "hit", "scope_own" ...; as in JSON. */
const char *probity_cost_part_name(enum probity_cost_part part);

/* The cost of a call by the hooks that a compiler inserts, in the part that `plain` is of a scope:
 * PROBITY_PART_SCOPE_OWN or PROBITY_PART_SCOPE_CALLER. Where it was not measured, an estimate. */
struct probity_cost_range probity_cost_hooked(const struct probity_costs *costs,
                                              enum probity_cost_part plain);

/* Computes the costs of recording from a trace. */
void probity_costs_of(const struct probity_trace_facts *facts, struct probity_costs *ret_costs);

#endif
