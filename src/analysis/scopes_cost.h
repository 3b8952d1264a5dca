/* SPDX-License-Identifier: MIT
 *
 * scopes_cost.h: what recording adds to the times of scopes, while scopes.c takes them together:
 * each record is charged to the scope whose time it is in.
 */
#ifndef PROBITY_ANALYSIS_SCOPES_COST_H
#define PROBITY_ANALYSIS_SCOPES_COST_H

#include "analysis/scopes.h"

struct probity_scopes_costs {
    struct probity_costs *of_trace;
    size_t count; /* 0: not wanted */
};

struct probity_scopes_costs *probity_scopes_costs(struct probity_scopes *scopes);

void probity_scope_cost_begin(const struct probity_scopes_costs *costs,
                              struct probity_scope *scope);

/* The scope has ended; caller NULL: its time is in nobody's. */
void probity_scope_cost_end(const struct probity_scopes_costs *costs, struct probity_scope *scope,
                            enum probity_scope_end how, struct probity_scope *caller);

/* The enter or leave of a scope may have values. */
void probity_scope_cost_values(const struct probity_scopes_costs *costs,
                               struct probity_scope *scope, const struct probity_event *event);

/* A record `gap` ticks behind its thread's last, when `top` is the innermost scope behind it. */
void probity_scope_cost_record(const struct probity_scopes_costs *costs, struct probity_scope *top,
                               const struct probity_event *event, uint64_t gap);

#endif
