/* SPDX-License-Identifier: MIT
 *
 * plain.c: the scope without a word about it: bare, and instrumented by the compiler.
 */
#include "peer.h"

uint64_t peer_scope(uint64_t value)
{
    PEER_WORK(value);
    return value;
}
