/* SPDX-License-Identifier: MIT
 *
 * journeys.c: where requests are.
 */
#include "analysis/journeys.h"

#include "probity_typed.h"

int probity_journeys_find(struct probity_open_ids *ids, const struct probity_event *event,
                          struct probity_open_id **ret_open)
{
    const struct probity_open_key key = {event->correlation, 0, event->trace, 0};

    *ret_open = NULL;
    if (!event->has_correlation || (event->role >= PROBITY_ROLE_LOCK_WAIT &&
                                    event->role <= PROBITY_ROLE_LOCK_RELEASE))
        return 0;
    struct probity_open_id *open = probity_open_ids_find(ids, &key);
    if (open == NULL) {
        struct probity_open_id *surplus = probity_open_ids_surplus(ids);
        if (surplus != NULL) {
            ids->forgotten++;
            probity_open_ids_remove(ids, surplus);
        }
        open = probity_open_ids_add(ids, &key);
    }
    *ret_open = open;
    return open != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

void probity_journeys_step(struct probity_open_ids *ids, const struct probity_event *event,
                           struct probity_open_id *open)
{
    if (event->role == PROBITY_ROLE_REQUEST_END)
        probity_open_ids_remove(ids, open);
    else
        probity_open_ids_touch(ids, open);
}
