/* SPDX-License-Identifier: MIT
 *
 * drops.h: intervals in which records were dropped: each is between two SYNCs, of which the second
 * has a higher count of drops. Neighbors are merged, so that memory is bounded.
 */
#ifndef PROBITY_READER_DROPS_H
#define PROBITY_READER_DROPS_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

enum { PROBITY_DROPS_MAX = 1024 };

/* All zero: none. */
struct probity_drops {
    struct probity_trace_drop *items; /* in time order, not adjacent */
    size_t count, capacity;
    uint64_t dropped; /* count so far */
    uint64_t seen_ns; /* CLOCK_REALTIME of that count; 0: unknown */
};

/* Starts with no drops at the beginning of the recording, discarding earlier state. */
void probity_drops_begin(struct probity_drops *drops, uint64_t realtime_ns);

/* Takes the number of drops up to this time. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_drops_see(struct probity_drops *drops, uint64_t realtime_ns,
                      const struct probity_totals *totals);

void probity_drops_release(struct probity_drops *drops);

#endif
