/* SPDX-License-Identifier: MIT
 *
 * peer.h: the function whose scope is measured. For each way to record it, a file defines the
 * function with the same, almost empty, work. The compiler instruments plain.c.
 */
#ifndef PROBITY_BENCH_PEER_H
#define PROBITY_BENCH_PEER_H

#include <stdint.h>

uint64_t peer_scope(uint64_t value) __attribute__((noinline));

/* Work between enter and leave that the compiler must not remove. */
#define PEER_WORK(value) __asm__ volatile("" : "+r"(value) : : "memory")

#endif
