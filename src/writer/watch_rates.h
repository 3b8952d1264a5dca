/* SPDX-License-Identifier: MIT
 *
 * watch_rates.h: hits of probes, counted by period. Hits are read chunk by chunk, so several
 * periods are counted at a time, and each is evaluated once all of its hits have been read. In the
 * writer thread.
 */
#ifndef PROBITY_WRITER_WATCH_RATES_H
#define PROBITY_WRITER_WATCH_RATES_H

#include "writer/watch_state.h"

/* A period, or the part of it that has passed. */
struct probity_watch_period {
    uint64_t begin, end, hits;
};

/* Returns whether a rate or value meets the condition. */
int probity_watch_is_beyond(const struct probity_condition *condition, int64_t number);

/* Call when the condition begins, at the horizon. */
void probity_watch_rates_begin(struct probity_watch *watch, uint32_t condition);

/* Call before the hit is stored as the latest one. */
void probity_watch_rates_hit(struct probity_watch *watch, uint32_t condition, uint64_t tick);

/* Call when all hits older than the horizon have been read. report: called for a period that meets
 * the condition, unless the previous period did. */
void probity_watch_rates_judge(struct probity_watch *watch, uint32_t condition,
                               void (*report)(struct probity_watch *watch, uint32_t condition,
                                              const struct probity_watch_period *period));

#endif
