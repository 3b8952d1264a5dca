/* SPDX-License-Identifier: MIT
 *
 * correction.h: what recording itself cost, and times without it. A cost is a range, from the least
 * to the most that the run has measured, at its start and its end, bare and amid work: the middle
 * is taken off, and half of its width is what that may be wrong by. Pure arithmetic, in 1/256 ns.
 */
#ifndef PROBITY_ANALYSIS_CORRECTION_H
#define PROBITY_ANALYSIS_CORRECTION_H

#include <stdint.h>

#include "reader/reader.h"

/* What may be in a time. A scope's own part shows in its self time, the rest in its caller's. */
enum probity_cost_part {
    PROBITY_PART_HIT,
    PROBITY_PART_SCOPE_OWN,
    PROBITY_PART_SCOPE_CALLER,
    PROBITY_PART_VALUES_OWN, /* of a scope with values */
    PROBITY_PART_VALUES_CALLER,
    PROBITY_PART_MESSAGE,
    PROBITY_PART_PROFILED_OWN, /* in profile mode */
    PROBITY_PART_PROFILED_CALLER,
    PROBITY_PARTS
};

/* In 1/256 ns. Both 0: not known. */
struct probity_cost_range {
    uint64_t least, most;
};

struct probity_costs {
    int is_known;
    struct probity_cost_range part[PROBITY_PARTS];
    /* A record that comes so many ticks behind its thread's last may have read the CPU clock, which
     * takes this long and is in the time behind it. UINT64_MAX without CPU time. */
    uint64_t gap_ticks, reading;
};

/* What is in a time of many calls. rare: may be in it or not, and is not taken off. */
struct probity_cost_sum {
    uint64_t least, most, rare;
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
}

/* A time without what recording added to it. */
struct probity_corrected {
    uint64_t ns;       /* never below 0 */
    uint64_t error_ns; /* it may be so much more or less */
    int is_below;      /* ns is less than error_ns: all that is known is that it is below most_ns */
    uint64_t most_ns;  /* both together, but within a ns of the time as it was, or less */
};
struct probity_corrected probity_correct(uint64_t ns, const struct probity_cost_sum *sum);

/* "hit", "scope_own" ...; as JSON knows them. */
const char *probity_cost_part_name(enum probity_cost_part part);

/* What a trace says that recording cost. */
void probity_costs_of(const struct probity_trace_facts *facts, struct probity_costs *ret_costs);

#endif
