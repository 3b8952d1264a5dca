/* SPDX-License-Identifier: MIT
 *
 * thread_past.h: the recent past of each thread: a ring of points, one per record, each with the
 * innermost scope that was open from then on. Analyses that look back (what did the holder of a
 * lock do during a wait, what did a request wait for?) specify how far; older points are
 * overwritten.
 *
 *     points     p0      p1   p2              p3
 *     stretch    |--main--|-f--|---main--------|        wall and CPU time of each
 *
 * Memory: PROBITY_PAST_POINTS_MAX points in all threads together. Beyond that the oldest points of
 * a thread are overwritten even if they are needed, and counted.
 */
#ifndef PROBITY_ANALYSIS_THREAD_PAST_H
#define PROBITY_ANALYSIS_THREAD_PAST_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

/* 80 MiB. */
enum { PROBITY_PAST_POINTS_MAX = 1 << 21 };

/* The innermost open scopes of a thread. Calls to the C library have files "libc/...". */
struct probity_past_doing {
    const struct probity_function *function; /* function of the program; NULL: none is open */
    const struct probity_function *call;     /* the function's call to the C library, or NULL */
};

struct probity_past_point {
    uint64_t wall_ns, cpu_ns;
    struct probity_past_doing doing; /* from here on */
    int is_cpu_known;
};

/* The activity of a thread between two times. */
struct probity_past_stretch {
    uint64_t from_ns, to_ns;
    uint64_t cpu_ns; /* used in the stretch, at most its length; for a part, in proportion */
    struct probity_past_doing doing;
    int is_cpu_known;
};

/* All zero: empty. */
struct probity_past {
    struct past_ring *rings; /* by slot */
    uint32_t ring_count;
    uint64_t points;    /* allocated */
    uint64_t forgotten; /* points that were overwritten although they were still needed */
};

/* Adds a point, which must not be earlier than the thread's latest one. needed_ns: points that only
 * concern earlier times may be overwritten. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_past_put(struct probity_past *past, uint32_t thread_slot,
                     const struct probity_past_point *point, uint64_t needed_ns);

/* Finds the activity of a thread until to_ns: the latest stretch that begins before it, cut at
 * from_ns and to_ns. After the latest point only the CPU time has changed, which is unknown.
 * Returns 1, or 0 if nothing is known about the time just before to_ns. from_ns < to_ns. */
int probity_past_before(const struct probity_past *past, uint32_t thread_slot, uint64_t from_ns,
                        uint64_t to_ns, struct probity_past_stretch *ret_stretch);

/* Call this if records of the thread since its latest point were dropped: its past since then is
 * unknown. */
void probity_past_lose(struct probity_past *past, uint32_t thread_slot);

/* Finds a thread's latest point. Returns 1, or 0 if there is none. */
int probity_past_latest(const struct probity_past *past, uint32_t thread_slot,
                        struct probity_past_point *ret_point);

/* Returns the activity of a thread since its latest point; empty for a thread without points. */
struct probity_past_doing probity_past_now(const struct probity_past *past, uint32_t thread_slot);

void probity_past_release(struct probity_past *past);

#endif
