/* SPDX-License-Identifier: MIT
 *
 * drain.h: the consumer's side of the spool: turns the words of one chunk into one DATA block. Used
 * by the writer thread, by `recover`, and by the reader of a live or dead spool, so that a record
 * is decoded in the same way however it was saved. No I/O; accepts any bytes.
 */
#ifndef PROBITY_SPOOL_DRAIN_H
#define PROBITY_SPOOL_DRAIN_H

#include "format/block.h"
#include "format/stream.h"
#include "spool/layout.h"

/* A chunk for a consumer: a copy of its header's fields, and its words. */
struct probity_drain_input {
    const uint64_t *words; /* the owner may store to them concurrently: each is loaded once */
    uint32_t end;          /* maximum number of words to scan */
    uint32_t first;        /* first word to output; earlier ones are read only for their times */
    uint32_t thread, tid;
    uint64_t chunk;        /* serial */
    uint64_t base_tick, cpu_ns, rate;
    int cpu_known;
    int is_late;      /* mark the block as late */
    int stop_at_hole; /* 1: a hole ends the drain (open chunk); 0: holes are skipped and counted */
};

struct probity_drain_output {
    uint32_t end;     /* first word not consumed */
    uint32_t records; /* 0: no block was made */
    uint32_t holes;   /* zero words and pending records before end */
    size_t block_bytes;
    uint64_t last_tick;
};

enum { PROBITY_DRAIN_RECORD_BYTES = 51 }; /* the maximum size of one encoded word */

/* Returns the maximum size of a block of `words` words. */
static inline size_t probity_drain_room(uint32_t words)
{
    return PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES +
           (size_t)words * PROBITY_DRAIN_RECORD_BYTES + 128;
}

/* Working memory for records out of order; one per consumer. */
struct probity_drain_scratch {
    struct probity_drain_entry *entries; /* PROBITY_CHUNK_WORDS_MAX, or the chunk's words */
    uint32_t capacity;
};

struct probity_drain_entry {
    uint64_t tick;
    uint64_t off;   /* ticks off the CPU since base, modulo 2^64 */
    uint64_t code;  /* hit: stream code; event: 0 */
    uint32_t word, words; /* event: index of its head, and count */
};

/* Packs a sealed DATA block, with the given serial, into block, which has probity_drain_room(end -
 * first) bytes. */
void probity_drain_chunk(const struct probity_drain_input *input,
                         struct probity_drain_scratch *scratch, uint64_t block_serial,
                         uint8_t *block, struct probity_drain_output *ret_output);

/* What the words of a full chunk contain, as determined without draining it. */
enum probity_drain_found {
    PROBITY_DRAIN_PLAIN,    /* records that declare nothing */
    PROBITY_DRAIN_DECLARES, /* some of them declare something */
    PROBITY_DRAIN_HOLE      /* a probe may still be in progress */
};
enum probity_drain_found probity_drain_look(const uint64_t *words, uint32_t end);

#endif
