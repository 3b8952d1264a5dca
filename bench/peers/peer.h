/* SPDX-License-Identifier: MIT
 *
 * peer.h: the function whose scope is measured. One file for each way to record it defines it; all
 * do the same work, which is as good as none. What the compiler instruments is compiled from
 * plain.c.
 */
#ifndef PROBITY_BENCH_PEER_H
#define PROBITY_BENCH_PEER_H

#include <stdint.h>

uint64_t peer_scope(uint64_t value) __attribute__((noinline));

/* Between the enter and the leave: the compiler must take it for work. */
#define PEER_WORK(value) __asm__ volatile("" : "+r"(value) : : "memory")

#endif
