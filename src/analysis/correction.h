/* SPDX-License-Identifier: MIT
 *
 * correction.h: the cost of recording, and times corrected for it. A cost is a range, from the
 * least to the most that the run measured at its start and end, in an empty loop and among other
 * work. The midpoint is subtracted, and the error is half the width plus the midpoint. A time may
 * also be wrong by how early the clock was read. Pure arithmetic, in 1/256 ns.
 */
#ifndef PROBITY_ANALYSIS_CORRECTION_H
#define PROBITY_ANALYSIS_CORRECTION_H

#include <stdint.h>

#include "reader/reader.h"

/* Parts of a record's cost. The OWN part of a scope's cost is in its self time, the rest in its
 * caller's. */
enum probity_cost_part {
    PROBITY_PART_HIT,
    PROBITY_PART_SCOPE_OWN,
    PROBITY_PART_SCOPE_CALLER,
    PROBITY_PART_VALUES_OWN, /* for a scope with values */
    PROBITY_PART_VALUES_CALLER,
    PROBITY_PART_MESSAGE,
    PROBITY_PART_PROFILED_OWN, /* in profile mode */
    PROBITY_PART_PROFILED_CALLER,
    PROBITY_PART_HOOKED_OWN, /* for a call recorded by compilers' hooks */
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
    /* In 1/256 ns: how long before the end of preceding instructions the clock may be read, for
     * integer arithmetic and memory in the L1 cache, and for slower arithmetic. 0 if never, or if
     * not measured. */
    uint64_t early, early_slow;
    int is_ordered; /* the clock is never read early */
    /* A record at least gap_ticks after its thread's previous one may have read the CPU clock,
     * which takes `reading`, a part of the time after the record. UINT64_MAX without CPU time. */
    uint64_t gap_ticks, reading;
};

/* The overhead included in the sum of the times of many calls. rare: overhead that may be included,
 * and is not subtracted. Early clock readings move the beginning and end of a time by up to
 * `early`, and those of excluded calls by `early_inside`. */
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

/* Adds the overhead of a time that is part of another one: early readings at its own bounds do not
 * affect the other. */
static inline void probity_cost_include(struct probity_cost_sum *to,
                                        const struct probity_cost_sum *from)
{
    to->least += from->least;
    to->most += from->most;
    to->rare += from->rare;
}

/* A time without recording overhead. */
struct probity_corrected {
    uint64_t ns;       /* never below 0 */
    uint64_t error_ns; /* in either direction */
    int is_below;      /* smaller than its error: only the upper bound, most_ns, is certain */
    uint64_t most_ns;  /* the original time + 1 ns, since the error exceeds what is subtracted */
};
struct probity_corrected probity_correct(uint64_t ns, const struct probity_cost_sum *sum);

/* Returns "hit", "scope_own" ..., as in JSON. */
const char *probity_cost_part_name(enum probity_cost_part part);

/* Returns the part of the cost of a call recorded by compilers' hooks that corresponds to `plain`,
 * which is PROBITY_PART_SCOPE_OWN or PROBITY_PART_SCOPE_CALLER. An estimate if it was not
 * measured. */
struct probity_cost_range probity_cost_hooked(const struct probity_costs *costs,
                                              enum probity_cost_part plain);

/* Determines the costs of recording from a trace. */
void probity_costs_of(const struct probity_trace_facts *facts, struct probity_costs *ret_costs);

#endif
