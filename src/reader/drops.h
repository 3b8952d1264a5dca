/* SPDX-License-Identifier: MIT
 *
 * drops.h: when records were dropped: between two SYNCs of which the later one counts more of them.
 * Neighbours are put together, so that memory is bounded.
 */
#ifndef PROBITY_READER_DROPS_H
#define PROBITY_READER_DROPS_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

enum { PROBITY_DROPS_MAX = 1024 };

/* Zeroed: none. */
struct probity_drops {
    struct probity_trace_drop *items; /* in the order of time, with time between them */
    size_t count, capacity;
    uint64_t dropped; /* so far */
    uint64_t seen_ns; /* CLOCK_REALTIME: when it was so many; 0: not known */
};

/* Begins with none at the beginning of the recording; what was known is forgotten. */
void probity_drops_begin(struct probity_drops *drops, uint64_t realtime_ns);

/* At this time there are so many. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_drops_see(struct probity_drops *drops, uint64_t realtime_ns,
                      const struct probity_totals *totals);

void probity_drops_release(struct probity_drops *drops);

#endif
