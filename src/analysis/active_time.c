/* SPDX-License-Identifier: MIT
 *
 * active_time.c: handles the rare case in which an enter is reported late.
 */
#include "analysis/active_time.h"

void probity_active_time_keep(struct probity_active_time *elapsed)
{
    struct probity_active_time_past *past = elapsed->past;
    uint32_t place = (past->first + past->count) % PROBITY_ACTIVE_TIME_PAST;

    if (past->count == PROBITY_ACTIVE_TIME_PAST) {
        past->lost_ns = past->items[past->first].to_ns;
        past->first = (past->first + 1) % PROBITY_ACTIVE_TIME_PAST;
        past->count--;
    }
    past->items[place].from_ns = elapsed->since_ns;
    past->items[place].to_ns = elapsed->last_ns;
    past->count++;
}

/* Merges the new interval with past ones that it overlaps, newest first. Discarded intervals do not
 * change: the sum may be too small, but nothing is counted twice. */
void probity_active_time_enter_back(struct probity_active_time *elapsed, uint64_t from_ns)
{
    struct probity_active_time_past *past = elapsed->past;
    uint64_t since_ns = from_ns;

    if (elapsed->inside > 0 && elapsed->since_ns < since_ns)
        since_ns = elapsed->since_ns;
    while (past != NULL && past->count > 0) {
        uint32_t newest = (past->first + past->count - 1) % PROBITY_ACTIVE_TIME_PAST;
        if (past->items[newest].to_ns <= since_ns)
            break;
        elapsed->sum_ns -= past->items[newest].to_ns - past->items[newest].from_ns;
        if (past->items[newest].from_ns < since_ns)
            since_ns = past->items[newest].from_ns;
        past->count--;
    }
    uint64_t least_ns = past != NULL ? past->lost_ns : elapsed->last_ns;
    if (elapsed->inside > 0 && past == NULL)
        least_ns = elapsed->since_ns;
    elapsed->since_ns = since_ns > least_ns ? since_ns : least_ns;
    elapsed->inside++;
}
