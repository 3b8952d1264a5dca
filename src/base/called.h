/* SPDX-License-Identifier: MIT
 *
 * called.h: the functions that libprobity-calls, if it is in the program, provides for libprobity,
 * and the parser of its setting. The two libraries may be of different builds: any change to a
 * function here requires a new name.
 */
#ifndef PROBITY_BASE_CALLED_H
#define PROBITY_BASE_CALLED_H

#include <stdint.h>

/* Families of calls (doc/calls.md), as bits. */
enum {
    PROBITY_CALLS_LOCKS = 1,
    PROBITY_CALLS_IO = 2,
    PROBITY_CALLS_MEMORY = 4,
    PROBITY_CALLS_THREADS = 8,
    PROBITY_CALLS_SLEEP = 16,
    PROBITY_CALLS_ALL = 31,
    PROBITY_CALLS_WAITS = 32 /* with LOCKS: calls for free locks are only counted */
};

/* Reads a list such as "locks=waits,io": names of families, or "all". Returns 1, or 0 if it is
 * invalid. */
int probity_called_parse(const char *text, uint32_t *ret_families);

/* Call when a recording has begun in this process. The recording's lock is held, so this only sets
 * a flag. */
void probity_calls_recording(void) __attribute__((weak, visibility("default")));

/* Call these when a recording of these families (as in PROBITY_CALLS) has begun on request from
 * outside, and when it has ended. Returns 0, or -1 if the list is invalid. In the writer thread,
 * with no lock held. */
int probity_calls_wake(const char *families) __attribute__((weak, visibility("default")));
void probity_calls_sleep(void) __attribute__((weak, visibility("default")));

/* Call if hits of this site cost more than the budget allows: from now on, calls for free locks of
 * its kind, or all allocations and frees, are only counted. Returns 1; 2 if they are already only
 * counted; 0 if hits of this site cannot be counted. PROBITY_CALLS_ALL_SITES: a recording begins,
 * and all are recorded again. In the writer thread, or in the thread that begins the recording. */
#define PROBITY_CALLS_ALL_SITES UINT32_MAX
int probity_calls_count_hits(uint32_t site) __attribute__((weak, visibility("default")));

/* Returns the cost in ns, to the program's threads, of calls that were only counted since the last
 * call of this function. *ret_record_256: cost of a record by libprobity-calls, in 1/256 ns; 0:
 * none was timed. Measured in the program (src/calls/cost.h). rate: that of ticks (base/ticks.h).
 * In the thread that evaluates the budget. */
uint64_t probity_calls_cost(uint64_t rate, uint64_t *ret_record_256)
    __attribute__((weak, visibility("default")));

/* Call in the thread that is about to end this process's recording; it may still record. */
void probity_calls_ending(void) __attribute__((weak, visibility("default")));

#endif
