/* SPDX-License-Identifier: MIT
 *
 * plain.c: a scope without macros: bare, and instrumented by the compiler.
 */
#include "peer.h"

uint64_t peer_scope(uint64_t value)
{
    PEER_WORK(value);
    return value;
}
