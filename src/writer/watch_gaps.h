/* SPDX-License-Identifier: MIT
 *
 * watch_gaps.h: stretches of time without a gap in the hits of a probe, gathered chunk by chunk. A
 * gap in all threads is a time that no stretch covers. In the writer thread.
 */
#ifndef PROBITY_WRITER_WATCH_GAPS_H
#define PROBITY_WRITER_WATCH_GAPS_H

#include "writer/watch_state.h"

/* Call before a chunk is read. */
void probity_watch_gaps_begin(struct probity_watch *watch);

void probity_watch_gaps_hit(struct probity_watch *watch, uint32_t condition,
                            const struct probity_watch_stretch *hit);

/* Call when all hits older than the horizon have been read. report: called for each gap. */
void probity_watch_gaps_follow(struct probity_watch *watch, uint32_t condition,
                               void (*report)(struct probity_watch *watch, uint32_t condition,
                                              uint64_t end));

#endif
