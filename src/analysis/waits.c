/* SPDX-License-Identifier: MIT
 *
 * waits.c: follows each thread from the beginning of a wait to its end. While a wait for a lock is
 * open, keeps the activity of all threads.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/waits.h"
#include "analysis/waits_open.h"
#include "analysis/waits_parts.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "probity_typed.h"

/* Writers omit shorter times off the CPU (doc/trace-format.md); less than this is a rounding
 * error. */
enum { WAITED_LEAST_NS = 100 };

/* ---- Threads -----------------------------------------------------------------------------------
 */

static int learn_tid(struct probity_waits *waits, const struct probity_event *event)
{
    uint64_t key = (uint64_t)event->trace << 32 | event->tid, hash = probity_hash(key);
    struct thread_id *item = probity_hashtable_at(&waits->tids, hash);

    while (item != NULL && item->key != key)
        item = (struct thread_id *)item->link.next;
    if (item == NULL) {
        item = calloc(1, sizeof *item);
        if (item == NULL || probity_hashtable_add(&waits->tids, item, hash) != 0) {
            free(item);
            return PROBITY_ERROR_MEMORY;
        }
        item->key = key;
    }
    if (event->thread_slot > item->slot) /* the latest thread with this thread id */
        item->slot = event->thread_slot;
    return 0;
}

static struct wait_thread *thread_at(struct probity_waits *waits,
                                     const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;

    if (slot >= waits->thread_count) {
        void *grown = probity_array_grow(waits->threads, sizeof *waits->threads, slot,
                                         &waits->thread_count);
        if (grown == NULL)
            return NULL;
        waits->threads = grown;
    }
    if (waits->threads[slot] == NULL) {
        struct wait_thread *thread = calloc(1, sizeof *thread);
        if (thread == NULL || learn_tid(waits, event) != 0) {
            free(thread);
            return NULL;
        }
        thread->wait.slot = slot;
        thread->trace = event->trace;
        thread->tid = event->tid;
        thread->number = event->thread;
        waits->threads[slot] = thread;
    }
    return waits->threads[slot];
}

static struct probity_past_doing doing_of(const struct probity_waits *waits, uint32_t slot)
{
    struct probity_past_doing doing = {NULL, NULL};

    for (uint32_t depth = probity_scopes_depth(waits->scopes, slot); depth > 0; depth--) {
        const struct probity_scope *scope = probity_scopes_at(waits->scopes, slot, depth - 1);
        if (!waits_class_of(scope)->is_call) {
            doing.function = scope->function;
            break;
        }
        if (doing.call == NULL)
            doing.call = scope->function;
    }
    return doing;
}

/* ---- Open waits --------------------------------------------------------------------------------
 */

/* Returns the time from which the past is needed. Earlier holders are tracked for locks only. */
static uint64_t needed_ns(const struct probity_waits *waits)
{
    uint64_t oldest_ns = waits->oldest_wait != NULL ? waits->oldest_wait->from_ns : waits->now_ns;

    return waits->need_ns < oldest_ns ? waits->need_ns : oldest_ns;
}

/* Drops a wait whose end is not in the trace. */
static void abandon(struct probity_waits *waits, struct wait_thread *thread)
{
    if (thread->wait.object == NULL)
        return;
    waits_open_end(waits, &thread->wait);
    waits->facts.lost++;
}

static enum probity_wait_kind kind_of(const struct wait_object *object, uint32_t role)
{
    if (role == PROBITY_ROLE_CONDITION_WAIT)
        return PROBITY_WAIT_CONDITION;
    return strcmp(object->public.name, "semaphore") == 0 ? PROBITY_WAIT_SEMAPHORE
                                                         : PROBITY_WAIT_LOCK;
}

static int is_read_lock(const struct probity_event *event)
{
    static const char name[] = "rwlock-read:";

    return event->name != NULL && event->name_bytes >= sizeof name - 1 &&
           memcmp(event->name, name, sizeof name - 1) == 0;
}

static int begin_wait(struct probity_waits *waits, struct wait_thread *thread,
                      const struct probity_event *event)
{
    struct open_wait *wait = &thread->wait;

    abandon(waits, thread);
    struct wait_object *object = waits_object_at(waits, event);
    if (object == NULL)
        return PROBITY_ERROR_MEMORY;
    *wait = (struct open_wait){
        .kind = kind_of(object, event->role), .slot = event->thread_slot,
        .depth = probity_scopes_depth(waits->scopes, event->thread_slot),
        .from_ns = waits->now_ns, .correlation = event->correlation,
        .has_correlation = event->has_correlation, .is_shared = is_read_lock(event),
        .waker_slot = PROBITY_WAITS_NO_THREAD,
        .doing = probity_past_now(&waits->past, event->thread_slot),
        .place = waits_place_of(event)};
    thread->first_wake.at_ns = 0;
    waits_open_begin(waits, object, wait);
    return 0;
}

/* Sets the waker of a wait that ended without a record that explains it. */
static void take_unrecorded_waker(const struct wait_thread *thread, struct probity_wait *wait)
{
    const struct thread_wake *wake = &thread->latest_wake;

    if (wait->holder_count > 0 || wait->waker_slot != PROBITY_WAITS_NO_THREAD ||
        wake->at_ns <= wait->from_ns || wake->at_ns > wait->to_ns ||
        (wait->kind == PROBITY_WAIT_CONDITION && thread->first_wake.at_ns != wake->at_ns))
        return;
    wait->waker_slot = wake->slot;
    wait->waker_ns = wake->at_ns;
    wait->waker_doing = wake->doing;
}

/* Describes a wait that ends now, or is assumed to end now. */
static int describe(struct probity_waits *waits, struct open_wait *open, int error, int is_open,
                    struct probity_wait *ret_wait)
{
    const struct wait_thread *thread = waits->threads[open->slot];

    *ret_wait = (struct probity_wait){
        .kind = open->kind, .thread_slot = open->slot, .from_ns = open->from_ns,
        .to_ns = waits->now_ns, .waited_ns = waits->now_ns - open->from_ns, .doing = open->doing,
        .place = open->place, .error = error, .is_open = is_open,
        .object = &open->object->public, .culprit = -1,
        .mutex = open->kind == PROBITY_WAIT_CONDITION && open->has_correlation ? open->correlation
                                                                               : 0,
        .waker_slot = PROBITY_WAITS_NO_THREAD};
    if (!is_open && error == 0 && open->kind != PROBITY_WAIT_LOCK) {
        waits_object_find_waker(open->object, open, &thread->first_wake);
        waits->facts.ambiguous += open->is_ambiguous != 0;
    }
    if (open->waker_slot != PROBITY_WAITS_NO_THREAD && !open->is_ambiguous && error == 0) {
        ret_wait->waker_slot = open->waker_slot;
        ret_wait->waker_ns = open->waker_ns;
        ret_wait->waker_doing = open->waker_doing;
        ret_wait->waker_place = open->waker_place;
    }
    int failed = waits_find_holders(waits, open, ret_wait);
    if (failed == 0 && !is_open && error == 0 && !open->is_ambiguous)
        take_unrecorded_waker(thread, ret_wait);
    return failed;
}

static int end_wait(struct probity_waits *waits, struct wait_thread *thread, int error_number,
                    int is_open)
{
    struct probity_wait wait;
    int error = describe(waits, &thread->wait, error_number, is_open, &wait);

    if (error == 0) {
        waits->facts.waits++;
        error = waits->take(waits->context, &wait, is_open ? NULL : waits->event);
    }
    thread->ended_ns = waits->now_ns;
    thread->ended_tick = waits->event != NULL ? waits->event->tick : 0;
    waits_open_end(waits, &thread->wait);
    return error;
}

/* Whether the thread waits for this object. If it was waiting for another one, that wait is over,
 * since only a signal handler can run during a wait, and it may not take locks. */
static int is_waiting_for(struct probity_waits *waits, struct wait_thread *thread,
                          const struct probity_event *event)
{
    const struct open_wait *wait = &thread->wait;

    if (wait->object == NULL)
        return 0;
    if (wait->object->public.id == event->object)
        return 1;
    if (wait->kind != PROBITY_WAIT_CONDITION || wait->correlation != event->object)
        abandon(waits, thread);
    return 0;
}

/* ---- Roles -------------------------------------------------------------------------------------
 */

static int error_of(const struct probity_event *event)
{
    return event->has_correlation && event->correlation <= INT32_MAX ? (int)event->correlation : 0;
}

static int take_hold(struct probity_waits *waits, struct wait_thread *thread,
                     const struct probity_event *event)
{
    int error = 0;

    if (is_waiting_for(waits, thread, event) && thread->wait.kind != PROBITY_WAIT_CONDITION)
        error = end_wait(waits, thread, 0, 0);
    struct wait_object *object = error == 0 ? waits_object_at(waits, event) : NULL;
    if (object == NULL)
        return error != 0 ? error : PROBITY_ERROR_MEMORY;
    return waits_object_hold(waits, object, thread, is_read_lock(event));
}

static int take_release(struct probity_waits *waits, struct wait_thread *thread,
                        const struct probity_event *event)
{
    struct wait_object *object = waits_object_at(waits, event);

    if (object == NULL)
        return PROBITY_ERROR_MEMORY;
    int is_counted = kind_of(object, event->role) == PROBITY_WAIT_SEMAPHORE;
    if (!is_counted) /* a signal handler may post a semaphore */
        (void)is_waiting_for(waits, thread, event);
    int error = waits_object_release(waits, object, thread, is_counted);
    if (error == 0 && is_counted)
        error = waits_object_notify(waits, object, event->thread_slot, 1);
    return error;
}

static int take_end(struct probity_waits *waits, struct wait_thread *thread,
                    const struct probity_event *event)
{
    int is_condition = event->role == PROBITY_ROLE_WOKEN;

    if (!is_waiting_for(waits, thread, event) ||
        (thread->wait.kind == PROBITY_WAIT_CONDITION) != is_condition)
        return 0;
    int error_number = error_of(event);
    return end_wait(waits, thread, error_number == 0 && !is_condition ? -1 : error_number, 0);
}

static int take_notify(struct probity_waits *waits, const struct probity_event *event)
{
    struct wait_object *object = waits_object_at(waits, event);
    int is_all = event->role == PROBITY_ROLE_THREAD_END || !event->has_correlation;

    if (object == NULL)
        return PROBITY_ERROR_MEMORY;
    return waits_object_notify(waits, object, event->thread_slot,
                               is_all ? UINT64_MAX : event->correlation);
}

static int take_change(struct probity_waits *waits, const struct probity_event *event)
{
    struct wait_object *object = waits_object_at(waits, event);

    if (object == NULL)
        return PROBITY_ERROR_MEMORY;
    waits_object_reset(waits, object);
    object->public.place = event->has_place ? event->place : 0;
    object->public.place_tick = event->tick;
    object->public.is_place_made = event->has_place;
    if (event->role == PROBITY_ROLE_LOCK_GONE && object->waiter_count == 0)
        waits_object_remove(waits, object);
    return 0;
}

static int put_role(struct probity_waits *waits, struct wait_thread *thread,
                    const struct probity_event *event)
{
    if (!event->has_object)
        return 0;
    switch (event->role) {
    case PROBITY_ROLE_LOCK_WAIT:
    case PROBITY_ROLE_CONDITION_WAIT: return begin_wait(waits, thread, event);
    case PROBITY_ROLE_LOCK_HOLD: return take_hold(waits, thread, event);
    case PROBITY_ROLE_LOCK_RELEASE: return take_release(waits, thread, event);
    case PROBITY_ROLE_GIVEN_UP:
    case PROBITY_ROLE_WOKEN: return take_end(waits, thread, event);
    case PROBITY_ROLE_NOTIFY:
    case PROBITY_ROLE_THREAD_END: return take_notify(waits, event);
    case PROBITY_ROLE_LOCK_MADE:
    case PROBITY_ROLE_LOCK_GONE: return take_change(waits, event);
    default: return 0;
    }
}

/* ---- Calls to the C library --------------------------------------------------------------------
 */

/* Ends a call. It was a wait if the thread was off the CPU in it, and it includes no other wait. */
static void end_call(struct probity_waits *waits, const struct probity_scope *scope,
                     enum probity_scope_end how, uint32_t thread_slot,
                     const struct probity_event *event)
{
    struct probity_wait wait = {.culprit = -1, .waker_slot = PROBITY_WAITS_NO_THREAD,
                                .kind = waits_class_of(scope)->kind,
                                .thread_slot = thread_slot, .scope = scope,
                                .from_ns = scope->enter_wall_ns,
                                .to_ns = scope->enter_wall_ns + scope->elapsed.wall_ns,
                                .is_open = how == PROBITY_SCOPE_OPEN};
    const struct wait_thread *thread = waits->threads[thread_slot];

    if (thread->ended_ns > wait.from_ns || thread->wait.object != NULL)
        return;
    wait.waited_ns = scope->elapsed.wall_ns;
    if (event != NULL && event->cpu_known)
        wait.waited_ns -= scope->elapsed.cpu_ns < wait.waited_ns ? scope->elapsed.cpu_ns
                                                                 : wait.waited_ns;
    if (wait.waited_ns < WAITED_LEAST_NS)
        return;
    wait.doing = probity_past_now(&waits->past, thread_slot);
    wait.doing.call = scope->function;
    take_unrecorded_waker(thread, &wait);
    waits->facts.waits++;
    waits->error = waits->take(waits->context, &wait, event);
}

static void on_closed(void *context, const struct probity_scope *scope, enum probity_scope_end how,
                      uint32_t thread_slot, const struct probity_event *event)
{
    struct probity_waits *waits = context;

    if (how != PROBITY_SCOPE_UNWOUND && waits->error == 0 && waits_class_of(scope)->may_wait)
        end_call(waits, scope, how, thread_slot, event);
}

/* ---- Events ------------------------------------------------------------------------------------
 */

/* Drops open waits and holds: records are missing, so it is unknown whether a wait has ended or a
 * lock was released. */
static void lose(struct probity_waits *waits, struct wait_thread *thread)
{
    abandon(waits, thread);
    thread->epoch++;
    probity_past_lose(&waits->past, thread->wait.slot);
}

/* Ends holds of free locks of a kind. From here on these locks are only counted, so it is unknown
 * whether one that was taken before is still held. */
static void lose_holds(struct probity_waits *waits, const struct probity_event *event)
{
    struct probity_budget_event budget;

    if (probity_budget_event_get(event->payload, event->payload_bytes, &budget) != 0 ||
        budget.what != PROBITY_BUDGET_WHAT_HITS)
        return;
    for (uint32_t slot = 0; slot < waits->thread_count; slot++) {
        if (waits->threads[slot] != NULL && waits->threads[slot]->trace == event->trace)
            waits->threads[slot]->epoch++;
    }
}

/* Takes a switch of sites: hits of all threads may be missing before this time, or after it. */
static void lose_all(struct probity_waits *waits, uint32_t trace)
{
    for (uint32_t slot = 0; slot < waits->thread_count; slot++) {
        if (waits->threads[slot] != NULL && waits->threads[slot]->trace == trace)
            lose(waits, waits->threads[slot]);
    }
}

static int put_point(struct probity_waits *waits, const struct probity_event *event)
{
    const struct probity_past_point point = {waits->now_ns, event->cpu_ns,
                                             doing_of(waits, event->thread_slot),
                                             event->cpu_known};

    return probity_past_put(&waits->past, event->thread_slot, &point, needed_ns(waits));
}

/* Takes a thread state. Preempted threads also become runnable, but without a waker. */
static void take_state(struct probity_waits *waits, struct wait_thread *thread,
                       const struct probity_event *event)
{
    struct probity_state_event state;

    if (probity_state_event_get(event->payload, event->payload_bytes, &state) != 0)
        return;
    int is_wake = state.state == PROBITY_STATE_RUNNABLE &&
                  (state.waker != 0 || thread->state == PROBITY_STATE_BLOCKED);
    thread->state = state.state;
    if (!is_wake)
        return;
    struct thread_wake wake = {.at_ns = event->wall_ns, .tick = event->tick,
                               .slot = PROBITY_WAITS_NO_THREAD};
    if (state.waker != 0 && state.waker != thread->tid)
        wake.slot = waits_slot_of(waits, thread->trace, state.waker);
    if (wake.slot != PROBITY_WAITS_NO_THREAD)
        wake.doing = probity_past_now(&waits->past, wake.slot);
    thread->latest_wake = wake;
    if (thread->first_wake.at_ns == 0)
        thread->first_wake = wake;
}

int probity_waits_put(struct probity_waits *waits, const struct probity_event *event)
{
    const struct probity_scopes_listener listener = {NULL, on_closed, waits};
    struct wait_thread *thread = thread_at(waits, event);

    if (thread == NULL)
        return PROBITY_ERROR_MEMORY;
    int is_resuming = __builtin_expect(waits->resumed_left > 0, 0) &&
                      waits_is_resuming(waits, event->trace);
    if (is_resuming && (waits->error = waits_follow_to_state(waits, event)) != 0)
        return waits->error;
    is_resuming = is_resuming && waits_is_resuming(waits, event->trace);
    if (event->kind == PROBITY_EVENT_THREAD_STATE) { /* not a record: ends or extends nothing */
        if (!is_resuming)
            take_state(waits, thread, event);
        return 0;
    }
    waits->now_ns = event->wall_ns > waits->now_ns ? event->wall_ns : waits->now_ns;
    waits->event = event;
    if (event->kind == PROBITY_EVENT_LOST)
        lose(waits, thread);
    if (event->kind == PROBITY_EVENT_BUDGET)
        lose_holds(waits, event);
    if (event->kind == PROBITY_EVENT_SITES_SWITCHED)
        lose_all(waits, event->trace);
    int error = probity_scopes_put(waits->scopes, event, &listener);
    if (error == 0)
        error = waits->error;
    if (error == 0 && (probity_event_is_record(event->kind) || event->kind == PROBITY_EVENT_LOST))
        error = put_point(waits, event);
    /* The function in which the thread waited has returned. */
    if (thread->wait.object != NULL &&
        probity_scopes_depth(waits->scopes, event->thread_slot) < thread->wait.depth)
        abandon(waits, thread);
    if (error == 0 && event->kind == PROBITY_EVENT_HIT && event->role != 0 && !is_resuming)
        error = put_role(waits, thread, event);
    waits->event = NULL;
    return error;
}

int probity_waits_finish(struct probity_waits *waits)
{
    const struct probity_scopes_listener listener = {NULL, on_closed, waits};
    int error = waits_take_states(waits);

    for (uint32_t slot = 0; error == 0 && slot < waits->thread_count; slot++) {
        if (waits->threads[slot] != NULL && waits->threads[slot]->wait.object != NULL)
            error = end_wait(waits, waits->threads[slot], 0, 1);
    }
    probity_scopes_finish(waits->scopes, &listener);
    return error != 0 ? error : waits->error;
}

/* ---- Interface ---------------------------------------------------------------------------------
 */

int probity_waits_open_wait(struct probity_waits *waits, uint32_t thread_slot, uint64_t before_ns,
                            struct probity_wait *ret_wait)
{
    struct wait_thread *thread =
        thread_slot < waits->thread_count ? waits->threads[thread_slot] : NULL;

    return thread != NULL && thread->wait.object != NULL && thread->wait.from_ns < before_ns &&
           describe(waits, &thread->wait, 0, 1, ret_wait) == 0;
}

/* Returns the beginning of a thread's open wait, or of the innermost call. */
static uint64_t begin_of_wait(const struct probity_waits *waits, uint32_t slot)
{
    const struct wait_thread *thread = waits->threads[slot];
    uint32_t depth = probity_scopes_depth(waits->scopes, slot);

    if (thread != NULL && thread->wait.object != NULL)
        return thread->wait.from_ns;
    if (thread == NULL || depth == 0)
        return UINT64_MAX;
    const struct probity_scope *scope = probity_scopes_at(waits->scopes, slot, depth - 1);
    return waits_class_of(scope)->is_call ? scope->enter_wall_ns : UINT64_MAX;
}

uint64_t probity_waits_oldest_ns(const struct probity_waits *waits)
{
    uint64_t oldest_ns = waits->need_ns;

    for (uint32_t slot = 0; slot < waits->thread_count; slot++) {
        uint64_t begin_ns = begin_of_wait(waits, slot);
        oldest_ns = begin_ns < oldest_ns ? begin_ns : oldest_ns;
    }
    return oldest_ns;
}

void probity_waits_set_range(struct probity_waits *waits, uint64_t from_ns, uint64_t to_ns)
{
    waits->from_ns = from_ns;
    waits->to_ns = to_ns;
    probity_scopes_set_range(waits->scopes, from_ns, to_ns);
}

uint64_t probity_waits_pending(const struct probity_waits *waits)
{
    return waits->pending;
}

int probity_waits_is_pending(const struct probity_waits *waits, uint32_t thread_slot)
{
    const struct wait_thread *thread =
        thread_slot < waits->thread_count ? waits->threads[thread_slot] : NULL;

    return thread != NULL && thread->wait.object != NULL && waits_is_in_range(waits, &thread->wait);
}

void probity_waits_need(struct probity_waits *waits, uint64_t ns)
{
    waits->need_ns = ns;
}

const struct probity_past *probity_waits_past(const struct probity_waits *waits)
{
    return &waits->past;
}

uint64_t probity_waits_now(const struct probity_waits *waits)
{
    return waits->now_ns;
}

const struct probity_scopes *probity_waits_scopes(const struct probity_waits *waits)
{
    return waits->scopes;
}

uint32_t probity_waits_thread(const struct probity_waits *waits, uint32_t thread_slot, uint32_t tid)
{
    return tid != 0 ? waits_slot_of(waits, waits->threads[thread_slot]->trace, tid)
                    : PROBITY_WAITS_NO_THREAD;
}

struct probity_waits_facts probity_waits_facts(const struct probity_waits *waits)
{
    struct probity_waits_facts facts = waits->facts;

    facts.points_forgotten = waits->past.forgotten;
    if (waits->has_totals) {
        facts.lost = waits->totals.lost;
        facts.orphans = waits->totals.orphans;
        facts.ambiguous = waits->totals.ambiguous;
        facts.holds_forgotten = waits->totals.holds_forgotten;
    }
    return facts;
}

int probity_waits_open(probity_waits_take *take, void *context, struct probity_waits **ret_waits)
{
    struct probity_waits *waits = calloc(1, sizeof *waits);

    if (waits == NULL || probity_scopes_open(&waits->scopes) != 0) {
        free(waits);
        return PROBITY_ERROR_MEMORY;
    }
    waits->take = take;
    waits->context = context;
    waits->need_ns = UINT64_MAX;
    *ret_waits = waits;
    return 0;
}

static void release_items(struct probity_hashtable *table)
{
    for (void *item; (item = probity_hashtable_take(table)) != NULL;)
        free(item);
}

void probity_waits_close(struct probity_waits *waits)
{
    for (uint32_t slot = 0; slot < waits->thread_count; slot++)
        free(waits->threads[slot]);
    free(waits->threads);
    waits_objects_release(waits);
    release_items(&waits->tids);
    release_items(&waits->names);
    probity_past_release(&waits->past);
    waits_drop_states(waits);
    probity_scopes_close(waits->scopes);
    free(waits->holders);
    free(waits);
}
