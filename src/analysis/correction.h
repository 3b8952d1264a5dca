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
};

/* "hit", "scope_own" ...; as JSON knows them. */
const char *probity_cost_part_name(enum probity_cost_part part);

/* What a trace says that recording cost. */
void probity_costs_of(const struct probity_trace_facts *facts, struct probity_costs *ret_costs);

#endif
