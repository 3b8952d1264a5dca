/* SPDX-License-Identifier: MIT
 *
 * active_time.h: elapsed time: how long at least one of several threads was inside a function.
 * Keeps the number of threads inside and the time since which it is not 0. Events must be in time
 * order; an earlier one is treated as simultaneous with its predecessor.
 *
 *     thread 1   ────####────────####──
 *     thread 2   ──────####────────────
 *     elapsed      ──######──────####      sum ÷ elapsed: average number inside
 *
 * A deferred scope is reported after it began: the latest past intervals are kept so that it can be
 * merged with them.
 */
#ifndef PROBITY_ANALYSIS_ACTIVE_TIME_H
#define PROBITY_ANALYSIS_ACTIVE_TIME_H

#include <stddef.h>
#include <stdint.h>

enum { PROBITY_ACTIVE_TIME_PAST = 64 };

struct probity_active_time_past {
    struct {
        uint64_t from_ns, to_ns;
    } items[PROBITY_ACTIVE_TIME_PAST]; /* a ring */
    uint32_t first, count;
    uint64_t lost_ns; /* intervals that ended by then were discarded */
};

/* All zero: no thread has been inside yet. */
struct probity_active_time {
    uint32_t inside;
    uint64_t since_ns; /* valid if inside > 0 */
    uint64_t last_ns;  /* the latest leave */
    uint64_t sum_ns;   /* sum of the intervals that have ended */
    /* malloc'ed if the caller expects deferred scopes, else NULL */
    struct probity_active_time_past *past;
};

/* Adds the interval that just ended to the past ones. */
void probity_active_time_keep(struct probity_active_time *elapsed);

/* Counts one more thread inside, since from_ns, which may be in the past. */
void probity_active_time_enter_back(struct probity_active_time *elapsed, uint64_t from_ns);

static inline void probity_active_time_enter(struct probity_active_time *elapsed, uint64_t now_ns)
{
    if (elapsed->inside++ == 0)
        elapsed->since_ns = now_ns > elapsed->last_ns ? now_ns : elapsed->last_ns;
}

static inline void probity_active_time_leave(struct probity_active_time *elapsed, uint64_t now_ns)
{
    elapsed->last_ns = now_ns > elapsed->last_ns ? now_ns : elapsed->last_ns;
    if (--elapsed->inside > 0)
        return;
    if (elapsed->last_ns < elapsed->since_ns)
        elapsed->last_ns = elapsed->since_ns;
    elapsed->sum_ns += elapsed->last_ns - elapsed->since_ns;
    if (__builtin_expect(elapsed->past != NULL, 0))
        probity_active_time_keep(elapsed);
}

#endif
