/* SPDX-License-Identifier: MIT
 *
 * elapsed.h: how long at least one of many was inside: a count of those inside and the time since
 * when it is not 0. Events come in time order; one that does not counts as if it came at the time
 * of the one ahead of it.
 *
 *     thread 1   ────####────────####──
 *     thread 2   ──────####────────────
 *     elapsed      ──######──────####      sum ÷ elapsed: how many were inside at a time
 *
 * A deferred scope turns out to have begun earlier: for those the newest of the past stretches are
 * kept, which it may join.
 */
#ifndef PROBITY_ANALYSIS_ELAPSED_H
#define PROBITY_ANALYSIS_ELAPSED_H

#include <stddef.h>
#include <stdint.h>

enum { PROBITY_ELAPSED_PAST = 64 };

struct probity_elapsed_past {
    struct {
        uint64_t from_ns, to_ns;
    } items[PROBITY_ELAPSED_PAST]; /* a ring */
    uint32_t first, count;
    uint64_t lost_ns; /* what ends not later than this is kept no more */
};

/* Zeroed: nobody was ever inside. */
struct probity_elapsed {
    uint32_t inside;
    uint64_t since_ns; /* where inside > 0 */
    uint64_t last_ns;  /* the newest leave */
    uint64_t sum_ns;   /* of all stretches that are over */
    struct probity_elapsed_past *past; /* malloc'ed by whoever expects deferred scopes, or NULL */
};

/* Keeps the stretch that is over now. */
void probity_elapsed_keep(struct probity_elapsed *elapsed);

/* Someone has been inside since from_ns, which may be past. */
void probity_elapsed_enter_back(struct probity_elapsed *elapsed, uint64_t from_ns);

static inline void probity_elapsed_enter(struct probity_elapsed *elapsed, uint64_t now_ns)
{
    if (elapsed->inside++ == 0)
        elapsed->since_ns = now_ns > elapsed->last_ns ? now_ns : elapsed->last_ns;
}

static inline void probity_elapsed_leave(struct probity_elapsed *elapsed, uint64_t now_ns)
{
    elapsed->last_ns = now_ns > elapsed->last_ns ? now_ns : elapsed->last_ns;
    if (--elapsed->inside > 0)
        return;
    if (elapsed->last_ns < elapsed->since_ns)
        elapsed->last_ns = elapsed->since_ns;
    elapsed->sum_ns += elapsed->last_ns - elapsed->since_ns;
    if (__builtin_expect(elapsed->past != NULL, 0))
        probity_elapsed_keep(elapsed);
}

#endif
