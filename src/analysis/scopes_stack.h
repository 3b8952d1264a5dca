/* SPDX-License-Identifier: MIT
 *
 * scopes_stack.h: the stacks of open scopes, and the steps of most enters and leaves, used by
 * scopes.c and by scopes_run.h, which takes several events at once.
 */
#ifndef PROBITY_ANALYSIS_SCOPES_STACK_H
#define PROBITY_ANALYSIS_SCOPES_STACK_H

#include "analysis/scopes.h"
#include "analysis/scopes_cost.h"
#include "base/hashtable.h"

enum { RECENT_USES = 16 };

/* A function in a thread. Open scopes point here, so its address is stable. */
struct function_use {
    struct probity_link link;
    uint64_t key;
    uint32_t active; /* how often it is on the stack */
    uint32_t latest; /* depth + 1 of its innermost activation, or 0 */
    void *of_function[PROBITY_SCOPES_OF_COUNT];
};

struct open_scope {
    struct probity_scope scope;
    struct function_use *use;
    struct probity_scope_time paused_at; /* valid if is_paused */
    uint32_t outer; /* value of use->latest without this activation */
    uint32_t floor; /* depth of the outermost scope whose total includes this one's time */
    uint32_t is_pending; /* began in the range */
};

struct closed_scope {
    uint32_t depth;
    int is_counted; /* whether it is part of the caller's times */
    uint64_t enter_tick, enter_wall_ns, enter_cpu_ns, leave_cpu_ns;
    struct probity_scope_time elapsed, total;
};

struct scope_thread {
    struct open_scope *stack;
    uint32_t depth, capacity;
    struct probity_scope_time now; /* times of the latest record; CPU time never decreases */
    struct probity_scope_time before; /* times of the previous record */
    struct probity_hashtable uses;
    struct function_use *recent[RECENT_USES]; /* cache of the latest lookups, by function number */
    struct closed_scope *closed; /* a ring */
    uint32_t closed_first, closed_count, closed_capacity; /* capacity: a power of two, or 0 */
    uint64_t last_tick; /* of the latest record, if costs are enabled */
};

struct probity_scopes {
    struct scope_thread **threads; /* by slot; NULL: not seen yet */
    uint32_t thread_count;
    size_t live_count, sweep_count; /* number not NULL; number at which idle ones are dropped */
    struct probity_scopes_repairs repairs;
    uint64_t from_ns, range_ns; /* the range is [from_ns, from_ns + range_ns) */
    uint64_t pending;
    uint8_t is_off[PROBITY_READER_TRACES_MAX + 1]; /* by trace: profiling of the process is off */
    struct probity_scopes_costs costs;
};

/* Slow paths, in scopes.c. */

/* Opens a scope of any function. NULL if out of memory. */
struct open_scope *probity_scopes_push(struct probity_scopes *scopes, struct scope_thread *thread,
                                       const struct probity_event *event);

/* Makes room for one more closed scope. If the ring is full and cannot grow, because of its limit
 * or lack of memory, drops its oldest entry. Returns 0 if the ring has no entries at all. */
int probity_scopes_make_place(struct scope_thread *thread);

/* Copies each member separately: one load of both would stall until both earlier stores are
 * complete. */
static inline void scopes_copy_time(struct probity_scope_time *to,
                                    const struct probity_scope_time *from)
{
    to->wall_ns = from->wall_ns;
    to->cpu_ns = from->cpu_ns;
}

static inline int scopes_is_in_range(const struct probity_scopes *scopes, uint64_t wall_ns)
{
    return wall_ns - scopes->from_ns < scopes->range_ns;
}

/* Returns a key. A function without a declaration is identified by its number; no address has the
 * highest bit set. */
static inline uint64_t scopes_key_of(const struct probity_function *function, uint32_t number)
{
    return function != NULL ? (uint64_t)(uintptr_t)function : UINT64_C(1) << 63 | number;
}

/* Returns the cache entry of a function. A function has two sites, and sites that are declared
 * together have successive numbers, so the index omits the lowest bit. */
static inline struct function_use **scopes_recent_of(struct scope_thread *thread, uint32_t number)
{
    return &thread->recent[number / 2 % RECENT_USES];
}

static inline struct closed_scope *scopes_closed_at(struct scope_thread *thread, uint32_t index)
{
    return &thread->closed[(thread->closed_first + index) & (thread->closed_capacity - 1)];
}

/* Drops the callees of the closing scope, which no later scope can adopt. Keeps all siblings,
 * because only a checkpoint shows that a function is deferred. */
static inline void scopes_keep_closed(struct scope_thread *thread,
                                      const struct probity_scope *scope, int is_counted)
{
    while (thread->closed_count > 0 &&
           scopes_closed_at(thread, thread->closed_count - 1)->depth > scope->depth)
        thread->closed_count--;
    if (__builtin_expect(thread->closed_count == thread->closed_capacity, 0) &&
        !probity_scopes_make_place(thread))
        return;
    thread->closed_count++;
    struct closed_scope *closed = scopes_closed_at(thread, thread->closed_count - 1);
    closed->depth = scope->depth;
    closed->is_counted = is_counted;
    closed->enter_tick = scope->enter_tick;
    closed->enter_wall_ns = scope->enter_wall_ns;
    closed->enter_cpu_ns = scope->enter_cpu_ns;
    closed->leave_cpu_ns = thread->now.cpu_ns;
    scopes_copy_time(&closed->elapsed, &scope->elapsed);
    scopes_copy_time(&closed->total, &scope->total);
}

/* The data of an enter. */
struct scope_begin {
    const struct probity_function *function;
    uint32_t trace, number;
    uint64_t tick, wall_ns;
};

/* Opens a scope. The stack must have room. has_costs: whether costs are enabled. Loops over runs
 * inline this function and scopes_end_top(). */
static inline __attribute__((always_inline)) struct open_scope *
scopes_push_use(struct probity_scopes *scopes, struct scope_thread *thread,
                struct function_use *use, struct scope_begin begin, int has_costs)
{
    struct open_scope *open = &thread->stack[thread->depth];
    struct probity_scope *scope = &open->scope;
    const struct probity_scope_time none = {0, 0};
    open->use = use;
    /* Assigned separately: compilers clear a whole structure with a slow loop. */
    scope->function = begin.function;
    scope->trace = begin.trace;
    scope->number = begin.number;
    scope->depth = thread->depth;
    /* A scope called in a pause is not part of the callers' totals. */
    open->floor = thread->depth == 0             ? 0
                  : open[-1].scope.is_paused ? thread->depth
                                             : open[-1].floor;
    open->outer = use->latest;
    scope->recursion =
        open->outer > open->floor ? thread->stack[open->outer - 1].scope.recursion + 1 : 0;
    use->latest = thread->depth + 1;
    scope->enter_tick = begin.tick;
    scope->enter_wall_ns = begin.wall_ns;
    scope->enter_cpu_ns = thread->now.cpu_ns;
    scopes_copy_time(&scope->elapsed, &none);
    scopes_copy_time(&scope->children, &none);
    scopes_copy_time(&scope->paused, &none);
    scopes_copy_time(&scope->total, &none);
    scope->is_paused = 0;
    scope->is_untimed = scopes->is_off[begin.trace];
    if (__builtin_expect(has_costs, 0))
        probity_scope_cost_begin(&scopes->costs, scope);
    scope->user = NULL;
    scope->of_function = use->of_function;
    open->is_pending = (uint32_t)scopes_is_in_range(scopes, begin.wall_ns);
    scopes->pending += open->is_pending;
    use->active++;
    thread->depth++;
    return open;
}

/* Adds the time of a scope to its caller. A scope called in a pause of its caller is not subtracted
 * from the caller's self time, which already excludes the whole pause. */
static inline void scopes_add_to_caller(struct open_scope *caller,
                                        const struct probity_scope *scope)
{
    probity_scope_time_add(&caller->scope.children, scope->elapsed);
    probity_scope_time_add(&caller->scope.total, scope->total);
}

/* Ends the innermost scope. Returns it, valid until the next enter. */
static inline __attribute__((always_inline)) const struct probity_scope *
scopes_end_top(struct probity_scopes *scopes, struct scope_thread *thread,
               enum probity_scope_end how, int has_costs)
{
    struct open_scope *open = &thread->stack[thread->depth - 1];
    struct open_scope *caller = thread->depth > 1 ? open - 1 : NULL;
    struct probity_scope *scope = &open->scope;
    struct probity_scope_time enter = {scope->enter_wall_ns, scope->enter_cpu_ns};

    scope->elapsed = probity_scope_time_less(thread->now, enter);
    if (scope->is_paused)
        probity_scope_time_add(&scope->paused,
                               probity_scope_time_less(thread->now, open->paused_at));
    probity_scope_time_add(&scope->total, probity_scope_self(scope));
    int is_counted = caller != NULL && !caller->scope.is_paused;
    if (is_counted)
        scopes_add_to_caller(caller, scope);
    if (__builtin_expect(has_costs, 0))
        probity_scope_cost_end(&scopes->costs, scope, how, is_counted ? &caller->scope : NULL);
    scopes_keep_closed(thread, scope, is_counted);
    open->use->active--;
    open->use->latest = open->outer;
    scopes->pending -= open->is_pending;
    thread->depth--;
    return scope;
}

/* Returns the use of a function that the thread has used recently, or NULL. */
static inline struct function_use *scopes_recent_use(struct scope_thread *thread, uint64_t key,
                                                     uint32_t number)
{
    struct function_use *use = *scopes_recent_of(thread, number);

    return __builtin_expect(use != NULL && use->key == key, 1) ? use : NULL;
}

/* Takes the times of a record. Other events do not read the CPU clock, so after a sleep their CPU
 * time is too high. */
static inline void scopes_take_time(struct scope_thread *thread, uint64_t wall_ns, uint64_t cpu_ns,
                                    int is_cpu_known)
{
    scopes_copy_time(&thread->before, &thread->now);
    thread->now.wall_ns = wall_ns;
    if (is_cpu_known && cpu_ns > thread->now.cpu_ns)
        thread->now.cpu_ns = cpu_ns;
}

#endif
