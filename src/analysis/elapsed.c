/* SPDX-License-Identifier: MIT
 *
 * elapsed.c: what is rare about elapsed time: to have been inside before anybody knew.
 */
#include "analysis/elapsed.h"

void probity_elapsed_keep(struct probity_elapsed *elapsed)
{
    struct probity_elapsed_past *past = elapsed->past;
    uint32_t place = (past->first + past->count) % PROBITY_ELAPSED_PAST;

    if (past->count == PROBITY_ELAPSED_PAST) {
        past->lost_ns = past->items[past->first].to_ns;
        past->first = (past->first + 1) % PROBITY_ELAPSED_PAST;
        past->count--;
    }
    past->items[place].from_ns = elapsed->since_ns;
    past->items[place].to_ns = elapsed->last_ns;
    past->count++;
}

/* Stretches that the new one reaches become part of it, newest first. What lies before those that
 * are kept is left as it was: it may be too little, and never counts twice. */
void probity_elapsed_enter_back(struct probity_elapsed *elapsed, uint64_t from_ns)
{
    struct probity_elapsed_past *past = elapsed->past;
    uint64_t since_ns = from_ns;

    if (elapsed->inside > 0 && elapsed->since_ns < since_ns)
        since_ns = elapsed->since_ns;
    while (past != NULL && past->count > 0) {
        uint32_t newest = (past->first + past->count - 1) % PROBITY_ELAPSED_PAST;
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
