/* SPDX-License-Identifier: MIT
 *
 * cpu.h: the seam to the processor. What differs between CPUs stands in cpu.c and in the record
 * path of probity.h, nowhere else.
 */
#ifndef PROBITY_BASE_CPU_H
#define PROBITY_BASE_CPU_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32C without initial and final XOR. Uses the CPU's instruction where it has one. */
uint32_t probity_cpu_crc32c(uint32_t crc, const uint8_t *bytes, size_t count);

/* Whether reading the counter kills this thread (PR_SET_TSC): then libc's clocks, which read it
 * too, do as well. */
int probity_cpu_counter_is_forbidden(void);

/* Whether user code may read the CPU's counter and it runs at one rate on all cores: 1 or 0. */
int probity_cpu_counter_is_usable(void);

/* The enum probity_clock_kind of that counter (doc/trace-format.md). */
uint32_t probity_cpu_counter_kind(void);

/* The counter. Only where it is usable. */
uint64_t probity_cpu_counter(void);

/* Adds, so that a signal handler that adds to the same number in between loses nothing: one
 * instruction. Not atomic for other threads that add. */
static inline void probity_cpu_add(uint64_t *at, uint64_t value)
{
#if defined(__x86_64__)
    __asm__("addq %1, %0" : "+m"(*at) : "er"(value) : "cc");
#else
    __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
#endif
}

#endif
