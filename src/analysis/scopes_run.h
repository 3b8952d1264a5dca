/* SPDX-License-Identifier: MIT
 *
 * scopes_run.h: takes a run of events (reader/run.h) as probity_scopes_put() takes single events,
 * without a call for each: the compiler makes one loop of this code, the steps of the stack, and
 * what an analysis does with a scope.
 */
#ifndef PROBITY_ANALYSIS_SCOPES_RUN_H
#define PROBITY_ANALYSIS_SCOPES_RUN_H

#include "analysis/scopes_stack.h"
#include "reader/run.h"

/* What an analysis does; each function but `put` is inlined. */
struct probity_scopes_run_steps {
    struct probity_scopes_listener listener;
    /* The same as that of the listener; `at` is the index of the event in the run. */
    void (*opened)(void *context, struct probity_scope *scope, const struct probity_run *run,
                   size_t at);
    /* Called when a scope was left. NULL: calls the listener, with NULL in place of the event. */
    void (*left)(void *context, const struct probity_scope *scope, const struct probity_run *run,
                 size_t at);
    /* Puts any event; returns 0 or an error. NULL: probity_scopes_put() with the listener. */
    int (*put)(void *context, const struct probity_event *event);
};

/* The thread of a run, and a copy of what does not change during the run. */
struct scopes_run {
    struct probity_scopes *scopes;
    struct scope_thread *thread; /* NULL: not seen yet */
    const struct probity_run_event *events;
    const struct probity_run_code *codes;
    uint32_t trace, slot;
    int is_cpu_known;
    int has_costs; /* whether scopes have costs */
};

static inline void scopes_run_find_thread(struct scopes_run *now)
{
    const struct probity_scopes *scopes = now->scopes;

    now->thread = now->slot < scopes->thread_count ? scopes->threads[now->slot] : NULL;
}

/* Takes an enter of a function that the thread has entered recently. Returns its scope, or NULL if
 * it is another event. */
static inline __attribute__((always_inline)) struct probity_scope *
scopes_run_enter(const struct scopes_run *now, size_t at)
{
    struct scope_thread *thread = now->thread;
    const struct probity_run_event *event = &now->events[at];
    const struct probity_run_code *code = &now->codes[event->head.number];
    uint64_t key = scopes_key_of(code->function, code->id);
    struct function_use *use = scopes_recent_use(thread, key, code->id);

    if (__builtin_expect(use == NULL || thread->depth == thread->capacity, 0))
        return NULL;
    const struct scope_begin begin = {code->function, now->trace, code->id, event->tick,
                                      event->wall_ns};
    scopes_take_time(thread, event->wall_ns, event->cpu_ns, now->is_cpu_known);
    return &scopes_push_use(now->scopes, thread, use, begin, now->has_costs)->scope;
}

/* Takes a leave of the innermost scope. Returns that scope, or NULL if it is another event. */
static inline __attribute__((always_inline)) const struct probity_scope *
scopes_run_leave(const struct scopes_run *now, size_t at)
{
    struct scope_thread *thread = now->thread;
    const struct probity_run_event *event = &now->events[at];
    const struct probity_run_code *code = &now->codes[event->head.number];

    if (__builtin_expect(thread->depth == 0 || thread->stack[thread->depth - 1].use->key !=
                                                   scopes_key_of(code->function, code->id), 0))
        return NULL;
    scopes_take_time(thread, event->wall_ns, event->cpu_ns, now->is_cpu_known);
    return scopes_end_top(now->scopes, thread, PROBITY_SCOPE_LEFT, now->has_costs);
}

/* Charges an enter or leave, without values, to the scope that is innermost afterwards. */
static inline void scopes_run_charge(const struct scopes_run *now, size_t at)
{
    struct scope_thread *thread = now->thread;
    uint64_t tick = now->events[at].tick;
    uint64_t gap = thread->last_tick != 0 ? tick - thread->last_tick : 0;

    thread->last_tick = tick;
    if (thread->depth > 0 && !thread->stack[thread->depth - 1].scope.is_paused)
        probity_scope_cost_gap(&now->scopes->costs, &thread->stack[thread->depth - 1].scope,
                               now->trace, gap);
}

static inline void scopes_run_left(const struct scopes_run *now,
                                   const struct probity_scopes_run_steps steps,
                                   const struct probity_scope *scope,
                                   const struct probity_run *run, size_t at)
{
    if (steps.left != NULL)
        steps.left(steps.listener.context, scope, run, at);
    else
        steps.listener.closed(steps.listener.context, scope, PROBITY_SCOPE_LEFT, now->slot, NULL);
}

/* The listener is passed by value, so that callers with a constant one need not take its
 * address. */
static __attribute__((noinline)) int
scopes_run_put_event(struct probity_scopes *scopes, const struct probity_event *event,
                     const struct probity_scopes_listener listener)
{
    return probity_scopes_put(scopes, event, &listener);
}

/* Takes a run. has_costs is constant, so that a loop without costs has no steps for them. */
static inline __attribute__((always_inline)) int
scopes_run_put(struct probity_scopes *scopes, const struct probity_run *run,
               const struct probity_scopes_run_steps steps, int has_costs)
{
    struct scopes_run now = {.scopes = scopes, .events = run->events, .codes = run->codes,
                             .trace = run->event->trace, .slot = run->event->thread_slot,
                             .is_cpu_known = run->event->cpu_known, .has_costs = has_costs};
    size_t count = run->count;
    int error = 0;

    scopes_run_find_thread(&now);
    for (size_t i = 0; error == 0 && i < count; i++) {
        uint16_t kind = now.codes[now.events[i].head.number].kind;
        const struct probity_scope *left;
        struct probity_scope *opened;
        if (kind == PROBITY_EVENT_LEAVE && now.thread != NULL &&
            (left = scopes_run_leave(&now, i)) != NULL) {
            scopes_run_left(&now, steps, left, run, i);
        } else if (kind == PROBITY_EVENT_ENTER && now.thread != NULL &&
                   (opened = scopes_run_enter(&now, i)) != NULL) {
            steps.opened(steps.listener.context, opened, run, i);
        } else {
            const struct probity_event *event = probity_run_event_at(run, i);
            error = steps.put != NULL ? steps.put(steps.listener.context, event)
                                      : scopes_run_put_event(scopes, event, steps.listener);
            scopes_run_find_thread(&now);
            continue;
        }
        if (has_costs)
            scopes_run_charge(&now, i);
    }
    return error;
}

/* Takes a run. Returns 0 or an error. */
static inline __attribute__((always_inline)) int
probity_scopes_put_run(struct probity_scopes *scopes, const struct probity_run *run,
                       const struct probity_scopes_run_steps steps)
{
    return __builtin_expect(scopes->costs.count > 0, 0) ? scopes_run_put(scopes, run, steps, 1)
                                                         : scopes_run_put(scopes, run, steps, 0);
}

#endif
