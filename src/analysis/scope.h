/* SPDX-License-Identifier: MIT
 *
 * scope.h: one scope, open or closed, with its times and how it ended. For the stacks of scopes,
 * see scopes.h; for the recording overhead in their times, scopes_cost.h.
 */
#ifndef PROBITY_ANALYSIS_SCOPE_H
#define PROBITY_ANALYSIS_SCOPE_H

#include <stdint.h>

#include "analysis/correction.h"
#include "reader/reader.h"

/* Wall and CPU time in ns. CPU time is 0 if unknown. */
struct probity_scope_time {
    uint64_t wall_ns, cpu_ns;
};

static inline void probity_scope_time_add(struct probity_scope_time *to,
                                          struct probity_scope_time time)
{
    to->wall_ns += time.wall_ns;
    to->cpu_ns += time.cpu_ns;
}

/* Subtracts times; the result is never below 0. */
static inline struct probity_scope_time probity_scope_time_less(struct probity_scope_time a,
                                                                struct probity_scope_time b)
{
    return (struct probity_scope_time){a.wall_ns > b.wall_ns ? a.wall_ns - b.wall_ns : 0,
                                       a.cpu_ns > b.cpu_ns ? a.cpu_ns - b.cpu_ns : 0};
}

/* Wall and CPU time in ns. CPU time is 0 if unknown. */
struct probity_scope {
    const struct probity_function *function; /* NULL if its declaration was lost */
    uint32_t trace, number;                  /* number of its enter site */
    uint32_t depth;                          /* 0: outermost of the thread */
    uint32_t recursion; /* number of enclosing activations of the same function whose total includes
                         * the time of this one; those that called it while paused are not
                         * counted */
    uint64_t enter_tick, enter_wall_ns, enter_cpu_ns;
    struct probity_scope_time elapsed, children, paused, total; /* complete once closed */
    int is_paused, is_untimed; /* untimed: entered with profiling off */
    /* Recording overhead in self and total time, if is_costed; complete once closed. */
    struct probity_cost_sum self_cost, total_cost;
    int is_costed, has_values;
    void *user;                /* for the listener; NULL at first */
    void **of_function; /* for the listener, an array of elements for each function and thread;
                         * NULL at first, and again after a long time without open scopes */
};

/* Returns the self time: elapsed time minus children and pauses. */
static inline struct probity_scope_time probity_scope_self(const struct probity_scope *scope)
{
    return probity_scope_time_less(probity_scope_time_less(scope->elapsed, scope->children),
                                   scope->paused);
}

enum probity_scope_end {
    PROBITY_SCOPE_LEFT = 1,    /* by its leave */
    PROBITY_SCOPE_UNWOUND = 2, /* by longjmp, or its leave is missing */
    PROBITY_SCOPE_OPEN = 3,    /* not closed: the thread's records end within the scope */
    PROBITY_SCOPE_RAISED = 4   /* by an exception, as its leave states */
};

/* Whether the end of the scope was recorded rather than inferred. */
static inline int probity_scope_end_is_recorded(enum probity_scope_end how)
{
    return how == PROBITY_SCOPE_LEFT || how == PROBITY_SCOPE_RAISED;
}

#endif
