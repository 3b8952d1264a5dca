/* SPDX-License-Identifier: MIT
 *
 * request_flow.c: tracks the position of each request.
 */
#include "analysis/request_flow.h"

#include "probity_typed.h"

int probity_request_flow_find(struct probity_inflight *ids, const struct probity_event *event,
                              struct probity_inflight_item **ret_open)
{
    const struct probity_inflight_key key = {event->correlation, 0, event->trace, 0};

    *ret_open = NULL;
    if (!event->has_correlation || !probity_role_is_of_work(event->role))
        return 0;
    struct probity_inflight_item *open = probity_inflight_find(ids, &key);
    if (open == NULL) {
        struct probity_inflight_item *surplus = probity_inflight_surplus(ids);
        if (surplus != NULL) {
            ids->forgotten++;
            probity_inflight_remove(ids, surplus);
        }
        open = probity_inflight_add(ids, &key);
    }
    *ret_open = open;
    return open != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

void probity_request_flow_step(struct probity_inflight *ids, const struct probity_event *event,
                               struct probity_inflight_item *open)
{
    if (event->role == PROBITY_ROLE_REQUEST_END)
        probity_inflight_remove(ids, open);
    else
        probity_inflight_touch(ids, open);
}
