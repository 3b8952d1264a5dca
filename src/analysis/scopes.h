/* SPDX-License-Identifier: MIT
 *
 * scopes.h: turns events into scopes: a stack for each thread, times without those of callees and
 * pauses, and repairs of scopes left open by longjmp, a kill or a dropped record
 * (doc/trace-format.md, "Scopes"). Depends only on libc and the reader, because the library uses
 * it, too. Memory: threads with open scopes or recent records, times the depth of their stacks.
 * Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_SCOPES_H
#define PROBITY_ANALYSIS_SCOPES_H

#include <stddef.h>
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

/* Wall and CPU time in ns. CPU time is 0 if unknown. */
struct probity_scope {
    const struct probity_function *function; /* NULL if its declaration was lost */
    uint32_t trace, number;                  /* number of its enter site */
    uint32_t depth;                          /* 0: the thread's outermost */
    uint32_t recursion; /* number of enclosing activations of the same function whose total includes
                           this one's time; those in whose pause it was called are not counted */
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

/* Elements of of_function: the first one, except for analyses whose scopes may be shared with one
 * that uses it. */
enum { PROBITY_SCOPES_OF_TREE = 1, PROBITY_SCOPES_OF_COUNT = 2 };

/* Never below 0. */
static inline struct probity_scope_time probity_scope_time_less(struct probity_scope_time a,
                                                                struct probity_scope_time b)
{
    return (struct probity_scope_time){a.wall_ns > b.wall_ns ? a.wall_ns - b.wall_ns : 0,
                                       a.cpu_ns > b.cpu_ns ? a.cpu_ns - b.cpu_ns : 0};
}

/* Self time: elapsed time minus children and pauses. */
static inline struct probity_scope_time probity_scope_self(const struct probity_scope *scope)
{
    return probity_scope_time_less(probity_scope_time_less(scope->elapsed, scope->children),
                                   scope->paused);
}

enum probity_scope_end {
    PROBITY_SCOPE_LEFT = 1,    /* by its leave */
    PROBITY_SCOPE_UNWOUND = 2, /* by longjmp, or its leave is missing */
    PROBITY_SCOPE_OPEN = 3,    /* not closed: the thread's records end inside it */
    PROBITY_SCOPE_RAISED = 4   /* by an exception, according to its leave */
};

/* Whether the scope's end was recorded rather than inferred. */
static inline int probity_scope_end_is_recorded(enum probity_scope_end how)
{
    return how == PROBITY_SCOPE_LEFT || how == PROBITY_SCOPE_RAISED;
}

struct probity_scopes_repairs {
    uint64_t unwound, orphans, open, pauses_unmatched, resumes_unmatched;
};

static inline void probity_scopes_repairs_add(struct probity_scopes_repairs *to,
                                              const struct probity_scopes_repairs *from)
{
    to->unwound += from->unwound;
    to->orphans += from->orphans;
    to->open += from->open;
    to->pauses_unmatched += from->pauses_unmatched;
    to->resumes_unmatched += from->resumes_unmatched;
}

/* Callbacks of probity_scopes_put(), each of which may be NULL. Pointers are valid during the call.
 * `event` is the one that caused it; NULL in probity_scopes_finish(). */
struct probity_scopes_listener {
    /* A scope began. The event's values are its parameters, unless it is a CHECKPOINT. */
    void (*opened)(void *context, struct probity_scope *scope, const struct probity_event *event);
    /* A scope ended, the innermost first. If `how` is LEFT, the event's values are the return
     * value. thread_slot identifies the thread. */
    void (*closed)(void *context, const struct probity_scope *scope, enum probity_scope_end how,
                   uint32_t thread_slot, const struct probity_event *event);
    void *context;
};

struct probity_scopes;

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_scopes_open(struct probity_scopes **ret_scopes);

/* Call before the first event to compute recording overhead in the times of scopes, for traces that
 * contain its cost. Returns 0 or PROBITY_ERROR_MEMORY. In src/analysis/scopes_cost.c. */
int probity_scopes_want_costs(struct probity_scopes *scopes, const struct probity_reader *reader);

/* Call before the first event to count repairs of scopes that begin in [from_ns, to_ns) of
 * CLOCK_REALTIME only, and orphans and unmatched pauses in that range. to_ns 0: no end. */
void probity_scopes_set_range(struct probity_scopes *scopes, uint64_t from_ns, uint64_t to_ns);

/* Number of open scopes that began in the range. */
uint64_t probity_scopes_pending(const struct probity_scopes *scopes);

/* Takes the next event of any kind in time order. Events unrelated to scopes only show that the
 * open scopes of their thread lasted at least until then. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_scopes_put(struct probity_scopes *scopes, const struct probity_event *event,
                       const struct probity_scopes_listener *listener);

/* Closes all open scopes, at the last record of their thread. */
void probity_scopes_finish(struct probity_scopes *scopes,
                           const struct probity_scopes_listener *listener);

/* A thread's innermost open scope, or NULL. Valid until the next call. */
const struct probity_scope *probity_scopes_top(const struct probity_scopes *scopes,
                                               uint32_t thread_slot);

/* A thread's open scope at this depth, or NULL. Callbacks may use it to find their scope's callers
 * and change their `user`. Valid until the next call. */
struct probity_scope *probity_scopes_at(const struct probity_scopes *scopes, uint32_t thread_slot,
                                        uint32_t depth);

/* A thread's number of open scopes. */
uint32_t probity_scopes_depth(const struct probity_scopes *scopes, uint32_t thread_slot);

const struct probity_scopes_repairs *probity_scopes_repairs(const struct probity_scopes *scopes);

void probity_scopes_close(struct probity_scopes *scopes);

#endif
