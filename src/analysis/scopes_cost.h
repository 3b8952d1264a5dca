/* SPDX-License-Identifier: MIT
 *
 * scopes_cost.h: sums up, for scopes.c, the overhead in the times of scopes: each record is charged
 * to the scope whose time includes it.
 */
#ifndef PROBITY_ANALYSIS_SCOPES_COST_H
#define PROBITY_ANALYSIS_SCOPES_COST_H

#include "analysis/scope.h"

struct probity_scopes_costs {
    struct probity_costs *of_trace;
    size_t count; /* 0: disabled */
};

/* Enables costs for the traces of the reader. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_scope_cost_open(struct probity_scopes_costs *costs,
                            const struct probity_reader *reader);

void probity_scope_cost_begin(const struct probity_scopes_costs *costs,
                              struct probity_scope *scope);

/* Ends a scope. caller NULL: no other scope includes its time. */
void probity_scope_cost_end(const struct probity_scopes_costs *costs, struct probity_scope *scope,
                            enum probity_scope_end how, struct probity_scope *caller);

/* Call for each enter and leave, because they may have values. */
void probity_scope_cost_values(const struct probity_scopes_costs *costs,
                               struct probity_scope *scope, const struct probity_event *event);

/* Charges a reading of the CPU clock if the thread's previous record was at least `gap_ticks`
 * ago. */
static inline void probity_scope_cost_gap(const struct probity_scopes_costs *costs,
                                          struct probity_scope *top, uint32_t trace, uint64_t gap)
{
    if (trace < costs->count && gap >= costs->of_trace[trace].gap_ticks)
        top->self_cost.rare += costs->of_trace[trace].reading;
}

/* Charges a record that came `gap` ticks after the thread's previous one. top: the innermost scope
 * afterwards. */
void probity_scope_cost_record(const struct probity_scopes_costs *costs, struct probity_scope *top,
                               const struct probity_event *event, uint64_t gap);

#endif
