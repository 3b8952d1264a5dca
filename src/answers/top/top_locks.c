/* SPDX-License-Identifier: MIT
 *
 * top_locks.c: names each wait in the same way as `probity waits`.
 */
#include "answers/top/top_locks.h"

#include <inttypes.h>
#include <stdio.h>

#include "probity_typed.h"

static int take_wait(void *context, const struct probity_wait *wait,
                     const struct probity_event *event)
{
    struct probity_top_locks *locks = context;
    char text[PROBITY_WAIT_NAME_BYTES + 32];

    (void)event;
    if (wait->is_open || (wait->kind != PROBITY_WAIT_LOCK && wait->kind != PROBITY_WAIT_SEMAPHORE))
        return 0;
    struct probity_wait_name name =
        probity_wait_names_of(&locks->names, wait->object->trace, wait);
    snprintf(text, sizeof text, "%s 0x%" PRIx64, name.text, name.object);
    return locks->take(locks->context, text, wait->from_ns, wait->to_ns);
}

static int is_of_lock(const struct probity_event *event)
{
    return event->kind == PROBITY_EVENT_HIT &&
           ((event->role >= PROBITY_ROLE_LOCK_WAIT && event->role <= PROBITY_ROLE_LOCK_RELEASE) ||
            event->role == PROBITY_ROLE_LOCK_MADE);
}

static int is_frequent(const struct probity_event *event)
{
    return event->kind == PROBITY_EVENT_HIT || event->kind == PROBITY_EVENT_ENTER ||
           event->kind == PROBITY_EVENT_LEAVE;
}

int probity_top_locks_put(struct probity_top_locks *locks, const struct probity_event *event)
{
    int error = 0;

    if (locks->waits == NULL && is_of_lock(event))
        error = probity_waits_open(take_wait, locks, &locks->waits);
    if (error == 0 && (locks->waits != NULL || !is_frequent(event)))
        error = probity_mappings_put(&locks->names.mappings, event);
    return error == 0 && locks->waits != NULL ? probity_waits_put(locks->waits, event) : error;
}

void probity_top_locks_release(struct probity_top_locks *locks)
{
    if (locks->waits != NULL)
        probity_waits_close(locks->waits);
    probity_wait_names_release(&locks->names);
}
