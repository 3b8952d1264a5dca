/* SPDX-License-Identifier: MIT
 *
 * messages.c: computes the numbers that identify messages between traces. Runs only in the tool;
 * stateless.
 */
#include "analysis/messages.h"

#include <string.h>

#include "probity_typed.h"

int probity_is_message(const struct probity_event *event)
{
    return event->has_correlation &&
           (event->role == PROBITY_ROLE_SEND || event->role == PROBITY_ROLE_RECEIVE);
}

size_t probity_message_name_bytes(const struct probity_event *event)
{
    const char *colon = event->name != NULL ? memrchr(event->name, ':', event->name_bytes) : NULL;

    if (event->name == NULL)
        return 0;
    return colon != NULL ? (size_t)(colon - event->name) : event->name_bytes;
}

uint64_t probity_message_flow(const struct probity_event *event)
{
    uint64_t flow = event->correlation;
    size_t bytes = probity_message_name_bytes(event);

    if (event->has_object)
        flow += event->object * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < bytes; i++)
        flow = (flow ^ (unsigned char)event->name[i]) * UINT64_C(0x100000001b3);
    return flow ^ UINT64_C(0xa0761d6478bd642f);
}
