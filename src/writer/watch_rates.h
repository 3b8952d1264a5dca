/* SPDX-License-Identifier: MIT
 *
 * watch_rates.h: hits of probes, counted by period. They come chunk by chunk, so several periods
 * are counted at a time, and each is judged once all of its hits have come. In the writer
 * thread.
 */
#ifndef PROBITY_WRITER_WATCH_RATES_H
#define PROBITY_WRITER_WATCH_RATES_H

#include "writer/watch.h"

/* A period, or as much of it as has passed. */
struct probity_watch_period {
    uint64_t begin, end, hits;
};

/* The condition begins at the horizon. */
void probity_watch_rates_begin(struct probity_watch *watch, uint32_t condition);

/* To be called before the hit is noted as the latest. */
void probity_watch_rates_hit(struct probity_watch *watch, uint32_t condition, uint64_t tick);

/* All hits that are older than the horizon have come. report: called for a period that meets the
 * condition, unless the one before did. */
void probity_watch_rates_judge(struct probity_watch *watch, uint32_t condition,
                               void (*report)(struct probity_watch *watch, uint32_t condition,
                                              const struct probity_watch_period *period));

#endif
