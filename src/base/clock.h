/* SPDX-License-Identifier: MIT
 *
 * clock.h: the clocks behind a record. Ticks come from the CPU's counter, or where that is
 * forbidden or unsteady, from CLOCK_MONOTONIC in ns. Signal handlers may call all of it; errno
 * stays.
 */
#ifndef PROBITY_BASE_CLOCK_H
#define PROBITY_BASE_CLOCK_H

#include <stdint.h>

/* One moment on all clocks; known to ± width_ns / 2. */
struct probity_clock_moment {
    uint64_t ticks, raw_ns, monotonic_ns, realtime_ns;
    uint32_t width_ns;
};

/* With the kind in one number: clocks are read by system calls, because libc would use the counter,
 * which is forbidden. */
enum { PROBITY_CLOCK_BY_CALL = 0x100 };

/* An enum probity_clock_kind: the CPU's counter where it is usable and not refused by the caller;
 * perhaps with PROBITY_CLOCK_BY_CALL. */
uint32_t probity_clock_choose(int refuse_counter);

/* Whether ticks of this kind are the CPU's counter: 1 or 0. */
int probity_clock_is_counter(uint32_t kind);

uint64_t probity_clock_ticks(uint32_t kind);

/* The best of `tries` readings: the one with the narrowest bracket of ticks. rate may be 0 (width
 * then is in ticks). */
void probity_clock_moment(uint32_t kind, uint64_t rate, int tries,
                          struct probity_clock_moment *ret_moment);

/* ns per tick × 2^32 between two moments, by CLOCK_MONOTONIC_RAW; 0 where they are too close. */
uint64_t probity_clock_rate(const struct probity_clock_moment *first,
                            const struct probity_clock_moment *last);

/* CPU time of the calling thread, ns, and a tick at which it was so. */
struct probity_clock_cpu {
    uint64_t tick, cpu_ns;
};

/* Copies a reading by one load and one store: a signal handler that reads the clock too, between
 * any two instructions, finds and leaves both halves of one reading. */
static inline void probity_clock_cpu_copy(struct probity_clock_cpu *to,
                                          const struct probity_clock_cpu *from)
{
#if defined(__x86_64__)
    __asm__ volatile("movups %1, %%xmm0\n\tmovups %%xmm0, %0" : "=m"(*to) : "m"(*from) : "xmm0");
#elif defined(__aarch64__)
    uint64_t tick, cpu_ns;
    __asm__ volatile("ldp %0, %1, %2" : "=&r"(tick), "=&r"(cpu_ns) : "Q"(*from));
    __asm__ volatile("stp %1, %2, %0" : "=Q"(*to) : "r"(tick), "r"(cpu_ns));
#else
    *to = *from;
#endif
}

/* Reads once more when the bracket took bracket_ticks_max or longer: the thread was switched out in
 * it. */
void probity_clock_cpu(uint32_t kind, uint64_t bracket_ticks_max,
                       struct probity_clock_cpu *ret_cpu);

#endif
