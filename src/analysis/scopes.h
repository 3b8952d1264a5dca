/* SPDX-License-Identifier: MIT
 *
 * scopes.h: events to scopes: a stack for each thread, times without those of callees and pauses,
 * and the repair of what longjmp, a kill or a dropped record left open (doc/trace-format.md,
 * "Scopes"). Depends on libc and the reader only: the library uses it too. Memory: threads with
 * open scopes or recent records, times the depth of their stacks. Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_SCOPES_H
#define PROBITY_ANALYSIS_SCOPES_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/correction.h"
#include "reader/reader.h"

/* Wall and CPU time, ns. CPU stays 0 where it is not known. */
struct probity_scope_time {
    uint64_t wall_ns, cpu_ns;
};

static inline void probity_scope_time_add(struct probity_scope_time *to,
                                          struct probity_scope_time time)
{
    to->wall_ns += time.wall_ns;
    to->cpu_ns += time.cpu_ns;
}

/* One activation of a function. */
struct probity_scope {
    const struct probity_function *function; /* NULL: its declaration is lost */
    uint32_t trace, number;                  /* site number of its enter */
    uint32_t depth;                          /* 0: outermost of its thread */
    uint32_t recursion; /* how often the same function is on the stack below this activation */
    uint64_t enter_tick, enter_wall_ns, enter_cpu_ns;
    struct probity_scope_time elapsed, children, paused, total; /* complete when it is closed */
    int is_paused, is_untimed; /* untimed: entered while profiling was off */
    /* What recording has added to self and total time; likewise. Where is_costed. */
    struct probity_cost_sum self_cost, total_cost;
    int is_costed, has_values;
    void *user;                /* the listener's; NULL when opened */
    void **of_function; /* the listener's, one for each function and thread; NULL at first, and
                         * again where the thread was without open scopes for long */
};

/* Self time: elapsed less children less paused, never below 0. */
struct probity_scope_time probity_scope_self(const struct probity_scope *scope);

enum probity_scope_end {
    PROBITY_SCOPE_LEFT = 1,    /* by its leave */
    PROBITY_SCOPE_UNWOUND = 2, /* longjmp, or a leave that is missing */
    PROBITY_SCOPE_OPEN = 3     /* the thread's records end inside it */
};

struct probity_scopes_repairs {
    uint64_t unwound, orphans, open, pauses_unmatched, resumes_unmatched;
};

/* Whom probity_scopes_put() tells; each may be NULL. Pointers are valid during the call.
 * `event` is the one that caused it; NULL in probity_scopes_finish(). */
struct probity_scopes_listener {
    /* A scope began (its parameters are the event's values, unless the event is a CHECKPOINT). */
    void (*opened)(void *context, struct probity_scope *scope, const struct probity_event *event);
    /* A scope ended: innermost first. The return value is the event's values where `how` is
     * LEFT. tid and pid say whose it was. */
    void (*closed)(void *context, const struct probity_scope *scope, enum probity_scope_end how,
                   uint32_t thread_slot, const struct probity_event *event);
    void *context;
};

struct probity_scopes;

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_scopes_open(struct probity_scopes **ret_scopes);

/* From here on scopes tell what recording has added to their times, where their trace knows. Before
 * the first event. Returns 0 or PROBITY_ERROR_MEMORY. In src/analysis/scopes_cost.c. */
int probity_scopes_want_costs(struct probity_scopes *scopes, const struct probity_reader *reader);

/* Takes the next event in time order (of any kind; those that are not about scopes only move the
 * time up to which open scopes of their thread are known to have gone on). Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_scopes_put(struct probity_scopes *scopes, const struct probity_event *event,
                       const struct probity_scopes_listener *listener);

/* Closes what is open, each thread at its last record. */
void probity_scopes_finish(struct probity_scopes *scopes,
                           const struct probity_scopes_listener *listener);

/* The innermost open scope of a thread, NULL without. Valid until the next call. */
const struct probity_scope *probity_scopes_top(const struct probity_scopes *scopes,
                                               uint32_t thread_slot);

/* An open scope of a thread by its depth, NULL without; also while a listener is told, which may
 * look at the callers of its scope and change their `user`. Valid until the next call. */
struct probity_scope *probity_scopes_at(const struct probity_scopes *scopes, uint32_t thread_slot,
                                        uint32_t depth);

/* How many scopes of a thread are open. */
uint32_t probity_scopes_depth(const struct probity_scopes *scopes, uint32_t thread_slot);

const struct probity_scopes_repairs *probity_scopes_repairs(const struct probity_scopes *scopes);

void probity_scopes_close(struct probity_scopes *scopes);

#endif
