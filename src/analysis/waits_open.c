/* SPDX-License-Identifier: MIT
 *
 * waits_open.c: what threads currently wait for: objects, in order of the beginning of the waits,
 * or calls to the C library.
 */
#include "analysis/waits_open.h"

#include <string.h>

const struct waits_class *waits_class_find(const struct probity_function *function)
{
    static const struct waits_class families[] = {
        {"libc/io", 1, 1, PROBITY_WAIT_IO},
        {"libc/sleep", 1, 1, PROBITY_WAIT_SLEEP},
        {"libc/threads", 1, 1, PROBITY_WAIT_THREADS}};
    static const struct waits_class other_call = {.is_call = 1}, own = {.is_call = 0};

    if (function == NULL || strncmp(function->recorded_file, "libc/", 5) != 0)
        return &own;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strcmp(function->recorded_file, families[i].file) == 0)
            return &families[i];
    }
    return &other_call;
}

uint64_t waits_oldest_call_ns(const struct probity_waits *waits, const struct wait_thread *thread)
{
    struct probity_past_point latest;

    if (thread->wait.object != NULL ||
        !probity_past_latest(&waits->past, thread->wait.slot, &latest))
        return UINT64_MAX;
    for (uint32_t depth = 0; depth < probity_scopes_depth(waits->scopes, thread->wait.slot);
         depth++) {
        const struct probity_scope *scope =
            probity_scopes_at(waits->scopes, thread->wait.slot, depth);
        if (waits_class_of(scope)->may_wait &&
            thread->ended_ns <= scope->enter_wall_ns && latest.is_cpu_known &&
            latest.cpu_ns != scope->enter_cpu_ns)
            return scope->enter_wall_ns;
    }
    return UINT64_MAX;
}

/* Waits begin in order, except for those of a saved state. */
static void link_wait(struct probity_waits *waits, struct open_wait *wait)
{
    wait->older = waits->newest_wait;
    wait->newer = NULL;
    while (wait->older != NULL && wait->older->from_ns > wait->from_ns) {
        wait->newer = wait->older;
        wait->older = wait->older->older;
    }
    *(wait->older != NULL ? &wait->older->newer : &waits->oldest_wait) = wait;
    *(wait->newer != NULL ? &wait->newer->older : &waits->newest_wait) = wait;
}

static void unlink_wait(struct probity_waits *waits, struct open_wait *wait)
{
    *(wait->older != NULL ? &wait->older->newer : &waits->oldest_wait) = wait->newer;
    *(wait->newer != NULL ? &wait->newer->older : &waits->newest_wait) = wait->older;
}

void waits_open_begin(struct probity_waits *waits, struct wait_object *object,
                      struct open_wait *wait)
{
    uint32_t waker_slot = wait->waker_slot;

    waits->pending += (uint64_t)waits_is_in_range(waits, wait);
    waits_object_add_waiter(object, wait);
    object->unassigned -= waker_slot != PROBITY_WAITS_NO_THREAD;
    if (wait->kind != PROBITY_WAIT_CONDITION)
        link_wait(waits, wait);
}

void waits_open_end(struct probity_waits *waits, struct open_wait *wait)
{
    waits->pending -= (uint64_t)waits_is_in_range(waits, wait);
    if (wait->kind != PROBITY_WAIT_CONDITION)
        unlink_wait(waits, wait);
    waits_object_remove_waiter(wait->object, wait);
}
