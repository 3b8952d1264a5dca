/* SPDX-License-Identifier: MIT
 *
 * drain.h: the consuming half of the spool: the words of one chunk become one DATA block. The
 * writing thread, `recover` and the reader of a live or dead spool all come through here, so that a
 * record reads the same however it was saved. No I/O; takes any bytes.
 */
#ifndef PROBITY_SPOOL_DRAIN_H
#define PROBITY_SPOOL_DRAIN_H

#include "format/block.h"
#include "format/stream.h"
#include "spool/layout.h"

/* A chunk as seen by a consumer: a copy of its header's fields, and its words. */
struct probity_drain_input {
    const uint64_t *words; /* may be stored to by the owner meanwhile: each is loaded once */
    uint32_t end;          /* words to look at, at most */
    uint32_t first;        /* words before are in the trace already: walked for time, not put out */
    uint32_t thread, tid;
    uint64_t chunk;        /* serial */
    uint64_t base_tick, cpu_ns, rate;
    int cpu_known;
    int is_late;      /* marks the block so */
    int stop_at_hole; /* 1: a hole ends the drain (open chunk); 0: holes are skipped and counted */
};

struct probity_drain_output {
    uint32_t end;     /* first word not covered */
    uint32_t records; /* 0: there is no block */
    uint32_t holes;   /* zero words and pending records in front of end */
    size_t block_bytes;
    uint64_t last_tick;
};

enum { PROBITY_DRAIN_RECORD_BYTES = 51 }; /* the most that one word can become */

/* Room that a block of `words` words may take. */
static inline size_t probity_drain_room(uint32_t words)
{
    return PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES +
           (size_t)words * PROBITY_DRAIN_RECORD_BYTES + 128;
}

/* Working memory for words that are out of order; one per consumer. */
struct probity_drain_scratch {
    struct probity_drain_entry *entries; /* PROBITY_CHUNK_WORDS_MAX of them, or the chunk's words */
    uint32_t capacity;
};

struct probity_drain_entry {
    uint64_t tick;
    uint64_t off;   /* ticks off the CPU since base, modulo 2^64 */
    uint64_t code;  /* hit: stream code; event: 0 */
    uint32_t word, words; /* event: its head, and how many */
};

/* Packs a sealed DATA block (serial as given) into block, which has probity_drain_room(end - first)
 * bytes. */
void probity_drain_chunk(const struct probity_drain_input *input,
                         struct probity_drain_scratch *scratch, uint64_t block_serial,
                         uint8_t *block, struct probity_drain_output *ret_output);

#endif
