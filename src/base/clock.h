/* SPDX-License-Identifier: MIT
 *
 * clock.h: the clocks used for records. Ticks come from the CPU's counter or, if that is forbidden
 * or unsteady, from CLOCK_MONOTONIC in ns. Everything here is async-signal-safe and preserves
 * errno.
 */
#ifndef PROBITY_BASE_CLOCK_H
#define PROBITY_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/cpu.h"

/* One moment on all clocks, accurate to ± width_ns / 2. */
struct probity_clock_moment {
    uint64_t ticks, raw_ns, monotonic_ns, realtime_ns;
    uint32_t width_ns;
};

/* Flags combined with the kind. BY_CALL: clocks are read with system calls, because libc would use
 * the forbidden counter, or clock_gettime() is not libc's. ORDERED: reading the counter waits for
 * all preceding instructions, which rules out the inline record path. */
enum { PROBITY_CLOCK_BY_CALL = 0x100, PROBITY_CLOCK_ORDERED = 0x200, PROBITY_CLOCK_KIND = 0xff };

/* Returns an enum probity_clock_kind: the CPU's counter if it is usable and refuse_counter is 0.
 * May add PROBITY_CLOCK_BY_CALL, and _ORDERED if requested. */
uint32_t probity_clock_choose(int refuse_counter, int is_ordered);

/* Whether ticks of this kind come from the CPU's counter: 1 or 0. */
int probity_clock_is_counter(uint32_t kind);

/* Whether the inline record path supports this kind: the unordered counter, which may be read
 * before preceding instructions finish. libc's clocks are ordered. */
int probity_clock_is_inline(uint32_t kind);

uint64_t probity_clock_ticks(uint32_t kind);

/* Reads a kernel clock in ns, with the method that the kind requires. Returns 0 if it cannot be
 * read. */
uint64_t probity_clock_read(uint32_t kind, clockid_t clock);

/* Keeps the best of `tries` readings: that with the narrowest bracket of ticks. rate may be 0; the
 * width is then in ticks. */
void probity_clock_moment(uint32_t kind, uint64_t rate, int tries,
                          struct probity_clock_moment *ret_moment);

/* Returns the rate between two moments, in ns per tick × 2^32, by CLOCK_MONOTONIC_RAW; 0 if they
 * are too close. */
uint64_t probity_clock_rate(const struct probity_clock_moment *first,
                            const struct probity_clock_moment *last);

/* CPU time of the calling thread in ns, and the tick at which it was read. */
struct probity_clock_cpu {
    uint64_t tick, cpu_ns;
};

/* Copies a reading with one load and one store, so that a signal handler that also reads the clock,
 * between any two instructions, never sees or leaves halves of two readings. */
static inline void probity_clock_cpu_copy(struct probity_clock_cpu *to,
                                          const struct probity_clock_cpu *from)
{
    probity_cpu_copy_pair(to, from);
}

/* Whether the system provides a thread's CPU time: 1 or 0. Not in a signal handler. */
int probity_clock_has_cpu(void);

/* Largest relative error of CPU times, in millionths, if the system counts cycles, whose rate
 * probity_clock_has_cpu() has measured; 0: it reports times. A system that counts cycles defines
 * this before this header is included. */
#ifndef PROBITY_CLOCK_CPU_ERROR
#define PROBITY_CLOCK_CPU_ERROR() UINT32_C(0)
#endif

/* Reads the CPU clock. Repeats this if the bracket took bracket_ticks_max or longer, since the
 * thread was then preempted within it. Returns the duration of the bracket. */
uint64_t probity_clock_cpu(uint32_t kind, uint64_t bracket_ticks_max,
                           struct probity_clock_cpu *ret_cpu);

#endif
