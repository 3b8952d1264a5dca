/* SPDX-License-Identifier: MIT
 *
 * scopes.c: the stacks of open scopes. An enter costs one lookup in the thread's table of
 * functions, a leave one comparison with the innermost scope; the rest is repair.
 *
 *     thread: stack   | main | parse | token |           open, outermost first
 *             closed  . parse . parse . token . token    siblings of open scopes, oldest first
 *
 * `closed` is for deferred scopes: such a scope may have begun before scopes that have already
 * closed, which are then its children and not the enclosing scope's.
 */
#include "analysis/scopes.h"

#include <stdlib.h>

#include "analysis/scopes_cost.h"
#include "analysis/scopes_stack.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "base/hashtable.h"
#include "probity.h"

/* Small at first, because there may be many threads. */
enum { CLOSED_FIRST = 4, CLOSED_MAX = 64, STACK_FIRST = 1 };

/* A trace does not record when threads end. If there are more threads than this, those without open
 * scopes are dropped after a time without records. */
enum { THREADS_KEPT = 1024 };
#define IDLE_NS UINT64_C(10000000000)

int probity_scopes_want_costs(struct probity_scopes *scopes, const struct probity_reader *reader)
{
    return probity_scope_cost_open(&scopes->costs, reader);
}

/* ---- A thread's functions ----------------------------------------------------------------------
 */

/* Finds or adds a function. Returns NULL if out of memory. */
static struct function_use *find_use(struct scope_thread *thread, uint64_t key)
{
    uint64_t hash = probity_hash(key);
    struct function_use *use = probity_hashtable_at(&thread->uses, hash);

    while (use != NULL && use->key != key)
        use = (struct function_use *)use->link.next;
    if (__builtin_expect(use != NULL, 1))
        return use;
    use = calloc(1, sizeof *use);
    if (use == NULL || probity_hashtable_add(&thread->uses, use, hash) != 0) {
        free(use);
        return NULL;
    }
    use->key = key;
    return use;
}

static inline struct function_use *use_of(struct scope_thread *thread, uint64_t key,
                                          uint32_t number)
{
    struct function_use **recent = scopes_recent_of(thread, number);

    if (__builtin_expect(*recent == NULL || (*recent)->key != key, 0))
        *recent = find_use(thread, key);
    return *recent;
}

/* ---- Closed siblings ---------------------------------------------------------------------------
 */

int probity_scopes_make_place(struct scope_thread *thread)
{
    uint32_t capacity = thread->closed_capacity > 0 ? 2 * thread->closed_capacity : CLOSED_FIRST;
    struct closed_scope *closed =
        capacity <= CLOSED_MAX ? malloc(capacity * sizeof *closed) : NULL;

    if (closed == NULL) {
        thread->closed_first++;
        thread->closed_count -= thread->closed_count > 0;
        return thread->closed_capacity > 0;
    }
    for (uint32_t i = 0; i < thread->closed_count; i++)
        closed[i] = *scopes_closed_at(thread, i);
    free(thread->closed);
    thread->closed = closed;
    thread->closed_first = 0;
    thread->closed_capacity = capacity;
    return 1;
}

/* ---- Opening and closing -----------------------------------------------------------------------
 */

static int grow_stack(struct scope_thread *thread)
{
    uint32_t capacity = thread->capacity > 0 ? 2 * thread->capacity : STACK_FIRST;
    struct open_scope *stack = capacity > thread->capacity
                                   ? realloc(thread->stack, capacity * sizeof *stack)
                                   : NULL;

    if (stack == NULL)
        return PROBITY_ERROR_MEMORY;
    thread->stack = stack;
    thread->capacity = capacity;
    return 0;
}

static inline struct scope_begin begin_of(const struct probity_event *event)
{
    return (struct scope_begin){event->function, event->trace, event->id, event->tick,
                                event->wall_ns};
}

__attribute__((noinline)) struct open_scope *
probity_scopes_push(struct probity_scopes *scopes, struct scope_thread *thread,
                    const struct probity_event *event)
{
    if (thread->depth == thread->capacity && grow_stack(thread) != 0)
        return NULL;
    struct function_use *use = use_of(thread, scopes_key_of(event->function, event->id), event->id);
    return use != NULL ? scopes_push_use(scopes, thread, use, begin_of(event),
                                         scopes->costs.count > 0) : NULL;
}

/* Not inlined, because every caller uses it for another function. */
static __attribute__((noinline)) const struct probity_scope *
end_top(struct probity_scopes *scopes, struct scope_thread *thread, enum probity_scope_end how)
{
    return scopes_end_top(scopes, thread, how, scopes->costs.count > 0);
}

static inline void close_top(struct probity_scopes *scopes, uint32_t slot,
                             enum probity_scope_end how,
                             const struct probity_scopes_listener *listener,
                             const struct probity_event *event)
{
    const struct probity_scope *scope = end_top(scopes, scopes->threads[slot], how);

    if (listener->closed != NULL)
        listener->closed(listener->context, scope, how, slot, event);
}

/* Closes the scopes that a jump skipped. They lasted at least until the previous record. How much
 * longer is unknown, so the remaining time counts for the scope that was jumped to. */
static void unwind_to(struct probity_scopes *scopes, struct scope_thread *thread, uint32_t depth,
                      const struct probity_scopes_listener *listener,
                      const struct probity_event *event)
{
    struct probity_scope_time now = thread->now;

    thread->now = thread->before;
    while (thread->depth > depth) {
        scopes->repairs.unwound += thread->stack[thread->depth - 1].is_pending;
        close_top(scopes, event->thread_slot, PROBITY_SCOPE_UNWOUND, listener, event);
    }
    thread->now = now;
}

static __attribute__((noinline)) int
enter(struct probity_scopes *scopes, struct scope_thread *thread,
      const struct probity_scopes_listener *listener, const struct probity_event *event)
{
    struct function_use *use =
        scopes_recent_use(thread, scopes_key_of(event->function, event->id), event->id);
    struct open_scope *open =
        __builtin_expect(thread->depth < thread->capacity && use != NULL, 1)
            ? scopes_push_use(scopes, thread, use, begin_of(event), scopes->costs.count > 0)
            : probity_scopes_push(scopes, thread, event);

    if (__builtin_expect(open == NULL, 0))
        return PROBITY_ERROR_MEMORY;
    if (listener->opened != NULL)
        listener->opened(listener->context, &open->scope, event);
    return 0;
}

static inline enum probity_scope_end end_of(const struct probity_event *leave)
{
    return __builtin_expect(leave->is_raised, 0) ? PROBITY_SCOPE_RAISED : PROBITY_SCOPE_LEFT;
}

/* Leaves a scope other than the innermost one. */
static __attribute__((noinline)) int
leave_other(struct probity_scopes *scopes, struct scope_thread *thread, uint64_t key,
            const struct probity_scopes_listener *listener, const struct probity_event *event)
{
    struct function_use *use = use_of(thread, key, event->id);
    uint32_t depth = thread->depth;

    if (use == NULL)
        return PROBITY_ERROR_MEMORY;
    if (use->active == 0) {
        scopes->repairs.orphans += (uint64_t)scopes_is_in_range(scopes, event->wall_ns);
        return 0;
    }
    while (thread->stack[depth - 1].use != use)
        depth--;
    unwind_to(scopes, thread, depth, listener, event);
    close_top(scopes, event->thread_slot, end_of(event), listener, event);
    return 0;
}

static __attribute__((noinline)) int
leave(struct probity_scopes *scopes, struct scope_thread *thread,
      const struct probity_scopes_listener *listener, const struct probity_event *event)
{
    uint64_t key = scopes_key_of(event->function, event->id);

    if (__builtin_expect(
            thread->depth == 0 || thread->stack[thread->depth - 1].use->key != key, 0))
        return leave_other(scopes, thread, key, listener, event);
    close_top(scopes, event->thread_slot, end_of(event), listener, event);
    return 0;
}

/* ---- Deferred scopes ---------------------------------------------------------------------------
 */

/* Moves scopes that have closed since `open` was entered from its caller to `open`. Returns the
 * first of them and the scope before it; each may be NULL. */
static const struct closed_scope *adopt(struct scope_thread *thread, struct open_scope *open,
                                        const struct closed_scope **ret_before)
{
    struct open_scope *caller = open->scope.depth > 0 ? open - 1 : NULL;
    struct closed_scope *first = NULL, *before = NULL;

    for (uint32_t i = thread->closed_count; i > 0 && before == NULL; i--) {
        struct closed_scope *closed = scopes_closed_at(thread, i - 1);
        if (closed->depth != open->scope.depth)
            break;
        if (closed->enter_tick < open->scope.enter_tick) {
            before = closed;
            continue;
        }
        first = closed;
        probity_scope_time_add(&open->scope.children, closed->elapsed);
        probity_scope_time_add(&open->scope.total, closed->total);
        if (closed->is_counted) {
            caller->scope.children =
                probity_scope_time_less(caller->scope.children, closed->elapsed);
            caller->scope.total = probity_scope_time_less(caller->scope.total, closed->total);
        }
        closed->is_counted = 1;
        closed->depth++; /* is one level deeper, like its caller */
    }
    *ret_before = before;
    return first;
}

/* Estimates the CPU time at the enter, which was not recorded: that of the next record minus the
 * wall time in between, but no less than that of the previous record. */
static void date_back(struct scope_thread *thread, struct open_scope *open, uint64_t wall_ns)
{
    const struct closed_scope *before, *first = adopt(thread, open, &before);
    struct probity_scope_time next = thread->now;
    uint64_t least = open->scope.depth > 0 ? open[-1].scope.enter_cpu_ns : 0;

    if (first != NULL)
        next = (struct probity_scope_time){first->enter_wall_ns, first->enter_cpu_ns};
    if (before != NULL && before->leave_cpu_ns > least)
        least = before->leave_cpu_ns;
    uint64_t ns = next.wall_ns > wall_ns ? next.wall_ns - wall_ns : 0;
    uint64_t cpu_ns = next.cpu_ns > ns ? next.cpu_ns - ns : 0;
    cpu_ns = cpu_ns > least ? cpu_ns : least;
    open->scope.enter_wall_ns = wall_ns;
    open->scope.enter_cpu_ns = cpu_ns < next.cpu_ns ? cpu_ns : next.cpu_ns;
}

static int open_deferred(struct probity_scopes *scopes, struct scope_thread *thread,
                         const struct probity_scopes_listener *listener,
                         const struct probity_event *event)
{
    uint32_t depth = thread->depth;

    /* Scopes that began later and are still open were called by this scope. Since it is running
     * again, they have ended. */
    while (depth > 0 && thread->stack[depth - 1].scope.enter_tick > event->entered_tick)
        depth--;
    unwind_to(scopes, thread, depth, listener, event);
    struct open_scope *open = probity_scopes_push(scopes, thread, event);
    if (open == NULL)
        return PROBITY_ERROR_MEMORY;
    open->scope.enter_tick = event->entered_tick;
    date_back(thread, open, event->entered_wall_ns);
    /* It is unknown which earlier records belong to this scope and which to its caller. The outer
     * callers are updated when these two are left. */
    for (uint32_t i = depth > 0 ? depth - 1 : 0; i <= depth; i++)
        thread->stack[i].scope.is_costed = 0;
    if (listener->opened != NULL)
        listener->opened(listener->context, &open->scope, event);
    return 0;
}

/* ---- Events ------------------------------------------------------------------------------------
 */

static void pause_scope(struct probity_scopes *scopes, struct scope_thread *thread,
                        const struct probity_event *event)
{
    struct open_scope *open = thread->depth > 0 ? &thread->stack[thread->depth - 1] : NULL;

    if (open == NULL || open->scope.is_paused) {
        scopes->repairs.pauses_unmatched += (uint64_t)scopes_is_in_range(scopes, event->wall_ns);
        return;
    }
    open->scope.is_paused = 1;
    open->paused_at = thread->now;
}

static void resume_scope(struct probity_scopes *scopes, struct scope_thread *thread,
                         const struct probity_event *event)
{
    struct open_scope *open = thread->depth > 0 ? &thread->stack[thread->depth - 1] : NULL;

    if (open == NULL || !open->scope.is_paused) {
        scopes->repairs.resumes_unmatched += (uint64_t)scopes_is_in_range(scopes, event->wall_ns);
        return;
    }
    open->scope.is_paused = 0;
    probity_scope_time_add(&open->scope.paused,
                           probity_scope_time_less(thread->now, open->paused_at));
}

/* Interpolates the wall time of a tick between a scope's enter and now. */
static uint64_t wall_between(const struct probity_scope *scope, const struct probity_event *now,
                             uint64_t tick)
{
    uint64_t ticks = now->tick - scope->enter_tick, ns = now->wall_ns - scope->enter_wall_ns;

    if (now->tick <= scope->enter_tick || now->wall_ns <= scope->enter_wall_ns)
        return scope->enter_wall_ns;
    tick = tick < scope->enter_tick ? scope->enter_tick : tick;
    tick = tick > now->tick ? now->tick : tick;
    return scope->enter_wall_ns +
           (uint64_t)((double)(tick - scope->enter_tick) / (double)ticks * (double)ns);
}

/* Undoes the adoption of calls made in a pause before the checkpoint: they do not count towards the
 * remaining time.
 */
static void disown(struct scope_thread *thread, struct open_scope *open, uint64_t from, uint64_t to)
{
    for (uint32_t i = thread->closed_count; i > 0; i--) {
        struct closed_scope *closed = scopes_closed_at(thread, i - 1);
        if (closed->depth <= open->scope.depth)
            return;
        if (closed->depth > open->scope.depth + 1 || !closed->is_counted ||
            closed->enter_tick < from || closed->enter_tick >= to)
            continue;
        open->scope.children = probity_scope_time_less(open->scope.children, closed->elapsed);
        open->scope.total = probity_scope_time_less(open->scope.total, closed->total);
        closed->is_counted = 0;
    }
}

/* Adds the pauses that a deferred scope had before it was opened. */
static void take_pauses_before(struct scope_thread *thread, const struct probity_event *event)
{
    struct open_scope *open = thread->depth > 0 ? &thread->stack[thread->depth - 1] : NULL;
    struct probity_scope_time paused = {0, 0}, all;

    if (open == NULL)
        return;
    const struct probity_scope_time enter = {open->scope.enter_wall_ns, open->scope.enter_cpu_ns};
    all = probity_scope_time_less(thread->now, enter);
    for (size_t at = 0; at + 24 <= event->payload_bytes; at += 24) {
        uint64_t from = probity_get_u64(event->payload + at);
        uint64_t to = probity_get_u64(event->payload + at + 8);
        uint64_t cpu_ns = probity_get_u64(event->payload + at + 16);
        uint64_t from_ns = wall_between(&open->scope, event, from);
        uint64_t to_ns = wall_between(&open->scope, event, to);
        paused.wall_ns += to_ns > from_ns ? to_ns - from_ns : 0;
        paused.cpu_ns += cpu_ns < all.cpu_ns ? cpu_ns : all.cpu_ns;
        disown(thread, open, from, to);
    }
    probity_scope_time_add(
        &open->scope.paused,
        (struct probity_scope_time){paused.wall_ns < all.wall_ns ? paused.wall_ns : all.wall_ns,
                                    paused.cpu_ns < all.cpu_ns ? paused.cpu_ns : all.cpu_ns});
}

static void take_unwound(struct probity_scopes *scopes, struct scope_thread *thread,
                         const struct probity_scopes_listener *listener,
                         const struct probity_event *event)
{
    uint32_t count = event->payload_bytes >= 4 ? probity_get_u32(event->payload) : 0;

    unwind_to(scopes, thread, count < thread->depth ? thread->depth - count : 0, listener, event);
}

static void release_thread(struct scope_thread *thread)
{
    struct function_use *use;

    while ((use = probity_hashtable_take(&thread->uses)) != NULL)
        free(use);
    free(thread->closed);
    free(thread->stack);
    free(thread);
}

static void sweep_threads(struct probity_scopes *scopes, uint64_t now_ns)
{
    for (uint32_t slot = 0; slot < scopes->thread_count; slot++) {
        struct scope_thread *thread = scopes->threads[slot];
        if (thread == NULL || thread->depth > 0 || now_ns < thread->now.wall_ns ||
            now_ns - thread->now.wall_ns < IDLE_NS)
            continue;
        release_thread(thread);
        scopes->threads[slot] = NULL;
        scopes->live_count--;
    }
    scopes->sweep_count = 2 * scopes->live_count;
    if (scopes->sweep_count < THREADS_KEPT)
        scopes->sweep_count = THREADS_KEPT;
}

static struct scope_thread *add_thread(struct probity_scopes *scopes,
                                       const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;

    if (slot >= scopes->thread_count) {
        void *grown = probity_array_grow(scopes->threads, sizeof *scopes->threads, slot,
                                         &scopes->thread_count);
        if (grown == NULL)
            return NULL;
        scopes->threads = grown;
    }
    if (scopes->live_count >= scopes->sweep_count)
        sweep_threads(scopes, event->wall_ns);
    scopes->threads[slot] = calloc(1, sizeof **scopes->threads);
    scopes->live_count += scopes->threads[slot] != NULL;
    return scopes->threads[slot];
}

static __attribute__((noinline)) int
put_rare(struct probity_scopes *scopes, struct scope_thread *thread,
         const struct probity_scopes_listener *listener, const struct probity_event *event)
{
    switch (event->kind) {
    case PROBITY_EVENT_CHECKPOINT:
        return event->entered_tick != 0 ? open_deferred(scopes, thread, listener, event) : 0;
    case PROBITY_EVENT_PAUSE: pause_scope(scopes, thread, event); return 0;
    case PROBITY_EVENT_RESUME: resume_scope(scopes, thread, event); return 0;
    case PROBITY_EVENT_PROFILING:
        if (event->payload_bytes > 0)
            scopes->is_off[event->trace] = event->payload[0] == 0;
        return 0;
    case PROBITY_EVENT_PAUSED_BEFORE: take_pauses_before(thread, event); return 0;
    case PROBITY_EVENT_UNWOUND: take_unwound(scopes, thread, listener, event); return 0;
    /* It is unknown which of the open scopes ended in the meantime. */
    case PROBITY_EVENT_LOST: unwind_to(scopes, thread, 0, listener, event); return 0;
    default: return 0;
    }
}

static inline int put_plain(struct probity_scopes *scopes, struct scope_thread *thread,
                            const struct probity_scopes_listener *listener,
                            const struct probity_event *event)
{
    if (event->kind == PROBITY_EVENT_ENTER)
        return enter(scopes, thread, listener, event);
    if (event->kind == PROBITY_EVENT_LEAVE)
        return leave(scopes, thread, listener, event);
    return put_rare(scopes, thread, listener, event);
}

/* Charges costs. The cost of a record, and of a CPU clock reading that may follow, is charged to
 * the scope that is innermost afterwards; that of a leave's values to the scope that it ends. */
static __attribute__((noinline)) int
put_costed(struct probity_scopes *scopes, struct scope_thread *thread,
           const struct probity_scopes_listener *listener, const struct probity_event *event)
{
    uint64_t gap = thread->last_tick != 0 ? event->tick - thread->last_tick : 0;
    struct open_scope *top = thread->depth > 0 ? &thread->stack[thread->depth - 1] : NULL;

    thread->last_tick = event->tick;
    if (event->kind == PROBITY_EVENT_LEAVE && top != NULL)
        probity_scope_cost_values(&scopes->costs, &top->scope, event);
    int error = put_plain(scopes, thread, listener, event);
    top = thread->depth > 0 ? &thread->stack[thread->depth - 1] : NULL;
    if (error == 0 && top != NULL && !top->scope.is_paused)
        probity_scope_cost_record(&scopes->costs, &top->scope, event, gap);
    return error;
}

static inline int put_of(struct probity_scopes *scopes, struct scope_thread *thread,
                         const struct probity_event *event,
                         const struct probity_scopes_listener *listener)
{
    scopes_take_time(thread, event->wall_ns, event->cpu_ns,
                     event->cpu_known && probity_event_is_record(event->kind));
    if (__builtin_expect(scopes->costs.count > 0, 0))
        return put_costed(scopes, thread, listener, event);
    return put_plain(scopes, thread, listener, event);
}

/* Takes the first event of a thread. */
static __attribute__((noinline)) int
put_first(struct probity_scopes *scopes, const struct probity_event *event,
          const struct probity_scopes_listener *listener)
{
    struct scope_thread *thread = add_thread(scopes, event);

    return thread != NULL ? put_of(scopes, thread, event, listener) : PROBITY_ERROR_MEMORY;
}

/* Unusual cases are tail calls, so that no register need be saved for them. */
int probity_scopes_put(struct probity_scopes *scopes, const struct probity_event *event,
                       const struct probity_scopes_listener *listener)
{
    uint32_t slot = event->thread_slot;
    struct scope_thread *thread = slot < scopes->thread_count ? scopes->threads[slot] : NULL;

    return __builtin_expect(thread != NULL, 1) ? put_of(scopes, thread, event, listener)
                                               : put_first(scopes, event, listener);
}

int probity_scopes_open(struct probity_scopes **ret_scopes)
{
    struct probity_scopes *scopes = calloc(1, sizeof *scopes);

    if (scopes == NULL)
        return PROBITY_ERROR_MEMORY;
    scopes->range_ns = UINT64_MAX;
    *ret_scopes = scopes;
    return 0;
}

void probity_scopes_set_range(struct probity_scopes *scopes, uint64_t from_ns, uint64_t to_ns)
{
    scopes->from_ns = from_ns;
    scopes->range_ns = (to_ns != 0 ? to_ns : UINT64_MAX) - from_ns;
}

uint64_t probity_scopes_pending(const struct probity_scopes *scopes)
{
    return scopes->pending;
}

void probity_scopes_finish(struct probity_scopes *scopes,
                           const struct probity_scopes_listener *listener)
{
    for (uint32_t slot = 0; slot < scopes->thread_count; slot++) {
        struct scope_thread *thread = scopes->threads[slot];
        while (thread != NULL && thread->depth > 0) {
            scopes->repairs.open += thread->stack[thread->depth - 1].is_pending;
            close_top(scopes, slot, PROBITY_SCOPE_OPEN, listener, NULL);
        }
    }
}

const struct probity_scope *probity_scopes_top(const struct probity_scopes *scopes,
                                               uint32_t thread_slot)
{
    uint32_t depth = probity_scopes_depth(scopes, thread_slot);

    return depth > 0 ? &scopes->threads[thread_slot]->stack[depth - 1].scope : NULL;
}

struct probity_scope *probity_scopes_at(const struct probity_scopes *scopes, uint32_t thread_slot,
                                        uint32_t depth)
{
    const struct scope_thread *thread =
        thread_slot < scopes->thread_count ? scopes->threads[thread_slot] : NULL;

    return thread != NULL && depth < thread->depth ? &thread->stack[depth].scope : NULL;
}

uint32_t probity_scopes_depth(const struct probity_scopes *scopes, uint32_t thread_slot)
{
    return thread_slot < scopes->thread_count && scopes->threads[thread_slot] != NULL
               ? scopes->threads[thread_slot]->depth
               : 0;
}

const struct probity_scopes_repairs *probity_scopes_repairs(const struct probity_scopes *scopes)
{
    return &scopes->repairs;
}

void probity_scopes_close(struct probity_scopes *scopes)
{
    for (uint32_t slot = 0; slot < scopes->thread_count; slot++) {
        if (scopes->threads[slot] != NULL)
            release_thread(scopes->threads[slot]);
    }
    free(scopes->costs.of_trace);
    free(scopes->threads);
    free(scopes);
}
