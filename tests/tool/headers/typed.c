/* SPDX-License-Identifier: MIT */
/* For checks of the headers: every macro of probity_typed.h. */
#include "probity_typed.h"
extern void user_typed(unsigned short id, long number, const char *pointer);
void user_typed(unsigned short id, long number, const char *pointer)
{
    if (id)
        PROBITY_PROBE_WITH(id, number);
    else
        PROBITY_PROBE_NAMED_WITH("named", pointer);
    PROBITY_PROBE_ROLE(7, PROBITY_ROLE_QUEUE_GET, pointer, &number);
    PROBITY_LOCK_WAIT("lock", pointer);
    PROBITY_LOCK_HOLD("lock", pointer);
    PROBITY_LOCK_RELEASE("lock", pointer);
    PROBITY_QUEUE_PUT("queue", pointer, number);
    PROBITY_QUEUE_GET("queue", pointer, id);
    PROBITY_REQUEST_BEGIN("request", id);
    PROBITY_REQUEST_END("request", id);
    PROBITY_SEND("message", number);
    PROBITY_RECEIVE("message", pointer);
    (void)number;
    (void)pointer;
}
