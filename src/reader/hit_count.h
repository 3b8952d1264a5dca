/* SPDX-License-Identifier: MIT
 *
 * hit_count.h: hits and names of the threads of one trace, counted block by block. A block without
 * events contains only hits, so its header is enough; other blocks are decoded. If the trace
 * declares functions, whose enters and leaves look like hits, all blocks must be decoded and
 * counted again, because a block may precede the one with the declaration.
 */
#ifndef PROBITY_READER_HIT_COUNT_H
#define PROBITY_READER_HIT_COUNT_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "reader/functions.h"
#include "reader/mode.h"
#include "reader/reader.h"

struct probity_hit_count {
    struct probity_thread_facts *threads; /* by slot */
    size_t count;
    uint32_t capacity;
    uint64_t hits, enters;         /* enters: those of scopes */
    uint64_t switched_sites; /* sites that were switched off */
    uint64_t counted_functions, removed_functions, counted_hits; /* for PROBITY_BUDGET */
    uint8_t *decided; /* by site: bits of enum probity_budget_what seen so far; NULL: none */
    struct probity_budget_event budget; /* the last event about the whole program; what 0: none */
    struct probity_mode_changes modes;
    uint64_t first_tick, last_tick; /* those of hits, enters and leaves; 0 if none */
    int has_span;
    int is_again; /* second pass: the functions are known */
    struct probity_names names; /* names of functions only */
    struct probity_functions functions;
};

/* Adds a block of the thread with this slot; payload must be complete. Returns 0 or
 * PROBITY_ERROR_MEMORY.
 */
int probity_hit_count_add(struct probity_hit_count *tally, uint32_t slot,
                          const struct probity_data *data, const uint8_t *payload, size_t bytes);

/* If all blocks must be added again because functions were declared, resets everything except the
 * functions and returns 1; else returns 0. */
int probity_hit_count_again(struct probity_hit_count *tally);

void probity_hit_count_release(struct probity_hit_count *tally);

#endif
