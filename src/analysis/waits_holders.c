/* SPDX-License-Identifier: MIT
 *
 * waits_holders.c: determines which threads held an object during a wait for it.
 */
#include <stdlib.h>

#include "analysis/waits_parts.h"
#include "base/array_grow.h"
#include "base/hash.h"
#include "probity.h"

uint32_t waits_slot_of(const struct probity_waits *waits, uint32_t trace, uint64_t tid)
{
    uint64_t key = (uint64_t)trace << 32 | (uint32_t)tid;
    const struct thread_id *item = probity_hashtable_at(&waits->tids, probity_hash(key));

    while (item != NULL && item->key != key)
        item = (const struct thread_id *)item->link.next;
    return item != NULL ? item->slot : PROBITY_WAITS_NO_THREAD;
}

static int add_holder(struct probity_waits *waits, struct probity_wait *wait,
                      const struct probity_wait_holder *holder)
{
    struct probity_wait_holder *holders = probity_array_room(
        waits->holders, sizeof *holders, wait->holder_count, &waits->holder_capacity);

    if (holders == NULL)
        return PROBITY_ERROR_MEMORY;
    waits->holders = holders;
    holders[wait->holder_count++] = *holder;
    wait->holders = holders;
    return 0;
}

/* Whether a hold can block the waiter. Readers do not block readers, and no thread blocks itself.
 * For a semaphore, only the hold of the thread that wakes the waiter matters, because that thread
 * returns the unit. */
static int is_in_the_way(const struct open_wait *open, const struct object_held *held)
{
    if (held->slot == open->slot || (open->is_shared && held->is_shared))
        return 0;
    return open->kind != PROBITY_WAIT_SEMAPHORE ||
           (held->slot == open->waker_slot && held->to_ns <= open->waker_ns);
}

/* Adds the holds that ended during the wait, in order of their ends. */
static int add_past(struct probity_waits *waits, const struct open_wait *open,
                    struct probity_wait *wait)
{
    const struct wait_object *object = open->object;
    uint32_t first = object->past_count;
    int error = 0;

    while (first > 0 &&
           object->past[(object->past_first + first - 1) & (object->past_capacity - 1)].to_ns >=
               open->from_ns)
        first--;
    for (uint32_t i = first; error == 0 && i < object->past_count; i++) {
        const struct object_held *held =
            &object->past[(object->past_first + i) & (object->past_capacity - 1)];
        if (!is_in_the_way(open, held))
            continue;
        const struct probity_wait_holder holder = {
            held->slot, 0, held->from_ns > open->from_ns ? held->from_ns : open->from_ns,
            held->to_ns, 1, held->place};
        wait->culprit = (int)wait->holder_count;
        error = add_holder(waits, wait, &holder);
    }
    wait->is_holder_forgotten = object->past_lost_ns > open->from_ns;
    return error;
}

/* Adds the current holds. If the wait has succeeded, threads that still hold the object did not
 * block it. */
static int add_present(struct probity_waits *waits, const struct open_wait *open,
                       struct probity_wait *wait)
{
    const struct wait_object *object = open->object;
    int error = 0;

    if (!wait->is_open && wait->error == 0)
        return 0;
    for (size_t i = 0; error == 0 && i < object->hold_count; i++) {
        const struct object_hold *hold = &object->holds[i];
        const struct object_held held = {.slot = hold->slot, .tid = hold->tid,
                                         .is_shared = hold->is_shared};
        if (hold->is_doubtful || hold->epoch != waits->threads[hold->slot]->epoch ||
            open->kind == PROBITY_WAIT_SEMAPHORE || !is_in_the_way(open, &held))
            continue;
        const struct probity_wait_holder holder = {
            hold->slot, 0, hold->from_ns > open->from_ns ? hold->from_ns : open->from_ns,
            wait->to_ns, 0, hold->place};
        error = add_holder(waits, wait, &holder);
    }
    return error;
}

/* Adds the thread that held the lock when the wait began, according to the lock itself. */
static int add_named(struct probity_waits *waits, const struct open_wait *open,
                     struct probity_wait *wait)
{
    struct probity_wait_holder named = {
        waits_slot_of(waits, open->object->public.trace, open->correlation),
        (uint32_t)open->correlation, open->from_ns, open->from_ns, 0, {0, 0}};
    struct probity_wait_holder *first = NULL;

    for (size_t i = 0; i < wait->holder_count; i++) {
        struct probity_wait_holder *holder = &waits->holders[i];
        if (first == NULL || holder->from_ns < first->from_ns)
            first = holder;
    }
    if (named.thread_slot == open->slot)
        return 0;
    if (first == NULL) {
        wait->culprit = (int)wait->holder_count;
        return add_holder(waits, wait, &named);
    }
    /* The hold of the named thread was recorded after the wait began, or not at all. */
    if (first->thread_slot == named.thread_slot)
        first->from_ns = open->from_ns;
    return 0;
}

/* Adds the latest holder: no recorded hold overlaps the wait, but the first attempt to take the
 * lock failed. A release is recorded before it takes effect, so the latest holder still had the
 * lock. Waits without a correlation id may be for a free lock. */
static int add_latest(struct probity_waits *waits, const struct open_wait *open,
                      struct probity_wait *wait)
{
    const struct probity_wait_holder latest = {open->object->released_slot, 0, open->from_ns,
                                               open->from_ns, 1, open->object->released_place};

    if (latest.thread_slot == PROBITY_WAITS_NO_THREAD || latest.thread_slot == open->slot)
        return 0;
    wait->culprit = 0;
    return add_holder(waits, wait, &latest);
}

int waits_find_holders(struct probity_waits *waits, const struct open_wait *open,
                       struct probity_wait *wait)
{
    if (open->kind == PROBITY_WAIT_CONDITION)
        return 0;
    int error = add_past(waits, open, wait);
    if (error == 0)
        error = add_present(waits, open, wait);
    if (error == 0 && open->has_correlation && open->correlation != 0 &&
        open->kind == PROBITY_WAIT_LOCK)
        error = add_named(waits, open, wait);
    if (error == 0 && wait->holder_count == 0 && open->has_correlation &&
        open->correlation == 0 && open->kind == PROBITY_WAIT_LOCK && !wait->is_open)
        error = add_latest(waits, open, wait);
    return error;
}
