/* SPDX-License-Identifier: MIT
 *
 * peer.h: the function whose scope is measured. Each way of recording it has a file that defines
 * it; all do the same, almost empty, work. plain.c is compiled for instrumentation by the compiler.
 */
#ifndef PROBITY_BENCH_PEER_H
#define PROBITY_BENCH_PEER_H

#include <stdint.h>

uint64_t peer_scope(uint64_t value) __attribute__((noinline));

/* Between enter and leave: the compiler must not remove it. */
#define PEER_WORK(value) __asm__ volatile("" : "+r"(value) : : "memory")

#endif
