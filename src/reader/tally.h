/* SPDX-License-Identifier: MIT
 *
 * tally.h: hits and names of the threads of one trace, counted block by block. Blocks without
 * events hold nothing but hits, so their header is enough; the others are decoded. Where the trace
 * turns out to declare functions, whose enters and leaves look like hits, the blocks must be
 * counted once more, all of them decoded: a block may come before the one with the declaration.
 */
#ifndef PROBITY_READER_TALLY_H
#define PROBITY_READER_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "reader/functions.h"
#include "reader/reader.h"

struct probity_tally {
    struct probity_thread_facts *threads; /* by slot */
    size_t count, capacity;
    uint64_t hits, enters;         /* enters: of scopes */
    uint64_t first_tick, last_tick; /* of hits, enters and leaves; 0 without any */
    int has_span;
    int is_again; /* the functions are known */
    struct probity_names names; /* of functions only */
    struct probity_functions functions;
};

/* Adds a block of the thread with this slot; payload is whole. Returns 0 or PROBITY_ERROR_MEMORY.
 */
int probity_tally_add(struct probity_tally *tally, uint32_t slot, const struct probity_data *data,
                      const uint8_t *payload, size_t bytes);

/* Whether all blocks must be added again, because functions were declared: 1 or 0. If so, starts
 * anew, but for the functions. */
int probity_tally_again(struct probity_tally *tally);

void probity_tally_release(struct probity_tally *tally);

#endif
