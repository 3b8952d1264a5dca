/* SPDX-License-Identifier: MIT
 *
 * lttng.c: a scope as two tracepoints of LTTng-UST.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"

#include "peer.h"

uint64_t peer_scope(uint64_t value)
{
    lttng_ust_tracepoint(peer, enter);
    PEER_WORK(value);
    lttng_ust_tracepoint(peer, leave);
    return value;
}
