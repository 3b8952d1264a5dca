/* SPDX-License-Identifier: MIT
 *
 * why_waits.c: the waits of candidate calls, by target.
 */
#include <stdlib.h>
#include <string.h>

#include "answers/why/why_internal.h"
#include "base/hash.h"
#include "probity.h"

/* Returns NULL, with *ret_error 0, if there are too many. */
static const struct probity_why_target *target_at(struct probity_why *why,
                                                  const struct probity_wait_name *name,
                                                  int *ret_error)
{
    uint64_t hash = probity_hash_text(name->object ^ (uint64_t)name->what, name->text);
    struct probity_why_target *target = probity_hashtable_at(&why->targets, hash);

    while (target != NULL && (target->link.hash != hash || target->object != name->object ||
                              target->what != name->what || strcmp(target->name, name->text) != 0))
        target = (struct probity_why_target *)target->link.next;
    if (target != NULL || why->targets.items >= PROBITY_WHY_TARGETS_MAX)
        return target;
    target = calloc(1, sizeof *target);
    if (target == NULL || (target->name = strdup(name->text)) == NULL ||
        probity_hashtable_add(&why->targets, target, hash) != 0) {
        if (target != NULL)
            free(target->name);
        free(target);
        *ret_error = PROBITY_ERROR_MEMORY;
        return NULL;
    }
    target->what = name->what;
    target->object = name->object;
    return target;
}

static enum probity_why_part part_of(enum probity_wait_kind kind)
{
    static const enum probity_why_part parts[PROBITY_WAIT_KINDS] = {
        [PROBITY_WAIT_LOCK] = PROBITY_WHY_LOCK, [PROBITY_WAIT_SEMAPHORE] = PROBITY_WHY_LOCK,
        [PROBITY_WAIT_CONDITION] = PROBITY_WHY_CONDITION, [PROBITY_WAIT_IO] = PROBITY_WHY_IO,
        [PROBITY_WAIT_SLEEP] = PROBITY_WHY_SLEEP, [PROBITY_WAIT_THREADS] = PROBITY_WHY_PROCESS};

    return parts[kind];
}

/* Returns the unit's entry for a target. The last entry is for all targets that have none. */
static struct probity_why_wait *entry_of(struct why_unit *unit,
                                         const struct probity_why_target *target,
                                         enum probity_why_part part)
{
    size_t i = 0;

    while (i < unit->wait_count && i < PROBITY_WHY_WAITS_MAX &&
           (unit->waits[i].target != target || unit->waits[i].part != part))
        i++;
    if (i == unit->wait_count) {
        unit->wait_count++;
        unit->waits[i].target = i < PROBITY_WHY_WAITS_MAX ? target : NULL;
        unit->waits[i].part = part;
    }
    return &unit->waits[i];
}

static void set_culprit(struct probity_why_wait *entry, const struct probity_wait *wait)
{
    entry->doing = wait->doing;
    entry->culprit_slot = wait->waker_slot;
    entry->culprit_tid = 0;
    entry->culprit_doing = wait->waker_doing;
    if (wait->culprit < 0)
        return;
    const struct probity_wait_holder *holder = &wait->holders[wait->culprit];
    entry->culprit_slot = holder->thread_slot;
    entry->culprit_tid = holder->tid;
    entry->culprit_doing = (struct probity_past_doing){NULL, NULL};
}

/* Parts of a wait, by the states of its thread. */
struct wait_states {
    uint64_t runnable_ns, blocked_ns, unknown_ns;
    int are_known;
};

static void add_wait(struct why_unit *unit, const struct probity_wait *wait,
                     const struct probity_why_target *target, const struct wait_states *states)
{
    enum probity_why_part part = part_of(wait->kind);
    uint64_t whole_ns = wait->to_ns - (wait->from_ns > unit->from_ns ? wait->from_ns
                                                                     : unit->from_ns);
    uint64_t ns = wait->waited_ns < whole_ns ? wait->waited_ns : whole_ns;

    if (states->are_known) {
        uint64_t apart = states->runnable_ns;
        ns = ns > apart ? ns - apart : 0;
        unit->blocked_ns += states->blocked_ns;
        unit->unknown_ns += states->unknown_ns;
    }
    if (ns == 0)
        return;
    struct probity_why_wait *entry = entry_of(unit, target, part);
    unit->parts[part] += ns;
    entry->ns += ns;
    entry->count++;
    if (ns < entry->longest_ns)
        return;
    entry->longest_ns = ns;
    set_culprit(entry, wait);
}

static struct wait_states states_of(const struct probity_why *why,
                                    const struct why_thread *thread,
                                    const struct probity_wait *wait)
{
    struct probity_thread_split now;

    if (thread->marked_ns != wait->from_ns ||
        !probity_thread_states_has(why->states, wait->thread_slot))
        return (struct wait_states){0};
    probity_thread_states_at(why->states, wait->thread_slot, wait->to_ns, &now);
    const struct probity_thread_split in = probity_thread_split_less(&now, &thread->marked);
    return (struct wait_states){in.ns[PROBITY_STATE_RUNNABLE], in.ns[PROBITY_STATE_BLOCKED],
                                in.ns[PROBITY_STATE_UNKNOWN], 1};
}

int why_take_wait(void *context, const struct probity_wait *wait,
                  const struct probity_wait_name *name)
{
    struct probity_why *why = context;
    struct why_thread *thread =
        wait->thread_slot < why->thread_count ? &why->threads[wait->thread_slot] : NULL;
    int error = 0;

    if (thread == NULL || thread->count == 0 || wait->is_open)
        return 0;
    const struct probity_why_target *target = target_at(why, name, &error);
    const struct wait_states states = states_of(why, thread, wait);
    for (size_t i = 0; i < thread->count; i++) {
        if (thread->units[i]->from_ns < wait->to_ns)
            add_wait(thread->units[i], wait, target, &states);
    }
    return error;
}
