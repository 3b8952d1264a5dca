/* SPDX-License-Identifier: MIT
 *
 * tally.h: hits and names of the threads of one trace, counted block by block. Blocks without
 * events hold nothing but hits, so their header is enough; the others are decoded.
 */
#ifndef PROBITY_READER_TALLY_H
#define PROBITY_READER_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "reader/reader.h"

struct probity_tally {
    struct probity_thread_facts *threads; /* by slot */
    size_t count, capacity;
    uint64_t hits, first_tick, last_tick; /* ticks: of hits */
};

/* Adds a block of the thread with this slot; payload is whole. Returns 0 or PROBITY_ERROR_MEMORY.
 */
int probity_tally_add(struct probity_tally *tally, uint32_t slot, const struct probity_data *data,
                      const uint8_t *payload, size_t bytes);

void probity_tally_release(struct probity_tally *tally);

#endif
