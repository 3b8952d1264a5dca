/* SPDX-License-Identifier: MIT
 *
 * probity.c: a scope as FnTrace.h records it.
 */
#define FN_INSTRUMENT
#include "FnTrace.h"

#include "peer.h"

uint64_t peer_scope(uint64_t value)
{
    FN_FUNC(uint64_t, FN_1);
    PEER_WORK(value);
    return value;
}
