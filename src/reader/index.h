/* SPDX-License-Identifier: MIT
 *
 * index.h: the index of a closed trace (doc/trace-format.md, "Index"): marks at which reading may
 * start, with the state of all threads there, so that a time range is read without the part before
 * it. All input is untrusted: an index that does not match its trace is ignored.
 */
#ifndef PROBITY_READER_INDEX_H
#define PROBITY_READER_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "reader/range.h"

enum {
    PROBITY_INDEX_MAJOR = 1,
    PROBITY_INDEX_MINOR = 5, /* an index with a lower version is not used */
    PROBITY_INDEX_HEADER_BYTES = 16,
    PROBITY_INDEX_PLACE_BYTES = 24,
    PROBITY_INDEX_MARK_BYTES = 24,
    PROBITY_INDEX_SUM_BYTES = 104,
    PROBITY_INDEX_BEGAN_BYTES = 8,
    PROBITY_INDEX_WAITS_BYTES = 24,  /* precede the rest of the payload */
    PROBITY_INDEX_FACTS_BYTES = 40,
    PROBITY_INDEX_STATES_BYTES = 16, /* precede the entries */
    PROBITY_INDEX_STATES_ENTRY_BYTES = 24,
    PROBITY_INDEX_FILES_BYTES = 8, /* precede the rest of the payload */
    PROBITY_INDEX_RECORDS_BYTES = 8 /* precede the payload of a SYNC or END */
};

/* Types of blocks in addition to those of the trace file. */
enum probity_index_type {
    PROBITY_INDEX_PLACE = 33,    /* position of a PROFILE, SITES or COST block */
    PROBITY_INDEX_DECLARED = 34, /* a thread's declarations since the last mark; format: as DATA */
    PROBITY_INDEX_MARK = 35,     /* reading may start here; DATA before it: state of threads */
    PROBITY_INDEX_SUM = 36,      /* the last block, except for the following */
    PROBITY_INDEX_BEGAN = 37,    /* when the thread of the following first state began */
    PROBITY_INDEX_WAITS = 38,    /* state of locks and waits at the tick of a mark */
    PROBITY_INDEX_FACTS = 39,    /* what is missing from the waits of the whole trace */
    PROBITY_INDEX_STATES = 40,   /* positions of the blocks of TRACE.sched */
    PROBITY_INDEX_FILES = 41,    /* names of descriptors at the tick of the preceding WAITS */
    PROBITY_INDEX_FACTS_MORE = 42 /* FACTS, if there are STATES or FILES */
};

struct probity_index_mark {
    uint64_t offset, serial; /* those of the next block */
    uint64_t last_tick;      /* all earlier records are at or before it */
};

/* Bits that describe the contents. */
enum {
    PROBITY_INDEX_CONTENTS_KNOWN = 1,
    PROBITY_INDEX_HAS_WAITS = 2, /* hits of locks, conditions or threads, or functions of libc */
    PROBITY_INDEX_CALLS_MATCH = 4, /* calls need no repair, in any range */
    PROBITY_INDEX_NO_REQUESTS = 8 /* no request begins */
};

struct probity_index_sum {
    uint8_t session[16];
    uint64_t file_bytes, end_offset;
    uint64_t blocks, data_blocks, records, holes;
    uint64_t first_tick, last_tick, threads;
    uint64_t usable_tick; /* marks with a later last_tick must not be used */
    uint32_t end_checksum, contents;
};

void probity_index_header_put(uint8_t bytes[PROBITY_INDEX_HEADER_BYTES]);
void probity_index_mark_put(uint8_t payload[PROBITY_INDEX_MARK_BYTES],
                            const struct probity_index_mark *mark);
void probity_index_sum_put(uint8_t payload[PROBITY_INDEX_SUM_BYTES],
                           const struct probity_index_sum *sum);

/* One pass over an index. */
struct probity_index_cursor {
    int file;
    uint64_t offset, serial, size;
    uint8_t *bytes; /* the current block */
    size_t capacity;
};

struct probity_index_item {
    uint64_t offset;
    uint32_t type, payload_bytes;
    const uint8_t *payload; /* valid until the next call */
};

/* A thread's state at a mark, or declarations: a block of the index. */
struct probity_index_block {
    uint64_t offset, first_tick, last_tick;
    uint64_t began_tick; /* for a thread: its first record in the trace; 0: unknown */
    uint32_t bytes, thread, tid;
};

struct probity_index_blocks {
    struct probity_index_block *items;
    size_t count, capacity;
};

/* The state of locks and waits at a mark. */
struct probity_index_waits {
    uint64_t offset;               /* position of its block in the index */
    uint64_t tick, now_ns, oldest_ns; /* now: the latest time; oldest: the begin of the first open
                                       * wait for a lock or semaphore, or UINT64_MAX */
    uint32_t payload_bytes;
    uint32_t files_bytes;  /* size of the payload of the FILES block; 0: none */
    uint64_t files_offset; /* position of that block */
};

/* A block of the index, by its payload. */
struct probity_index_extent {
    uint64_t offset;
    uint32_t payload_bytes;
};

/* For a trace that is read without index: all zero, but file -1. */
struct probity_index {
    int file;
    struct probity_index_sum sum;
    struct probity_index_blocks threads;  /* each thread once; after the choice of a mark: its state
                                           * there, or bytes 0 if it has none yet */
    struct probity_index_blocks declared; /* all declarations, in order of the trace */
    struct probity_index_mark mark;       /* the chosen mark; offset 0: the beginning */
    uint64_t mark_place;                  /* position of its block in the index */
    struct probity_index_waits *waits;    /* in order of ticks */
    size_t waits_count, waits_capacity;
    const struct probity_index_waits *chosen_waits; /* NULL: none */
    int has_facts;                        /* the waits are complete only if this is set */
    uint64_t objects_most;                /* maximum at a time */
    uint64_t lost, orphans, ambiguous, holds_forgotten; /* from FACTS */
    uint8_t *waits_payload;               /* of the chosen state, after its choice */
    uint8_t *files_payload;               /* the same; NULL: no descriptor has a name */
    struct probity_index_extent *states;  /* STATES blocks */
    size_t states_count, states_capacity;
    uint64_t before_tick; /* tick for which the mark was chosen */
};

/* Starts a pass. Returns 0, PROBITY_ERROR_DAMAGED (also for a version that is not used), READ or
 * MEMORY. */
int probity_index_start(struct probity_index_cursor *cursor, int file);

/* Returns 1 with a complete block, 0 at the end, or an error: DAMAGED, READ or MEMORY. */
int probity_index_next(struct probity_index_cursor *cursor, struct probity_index_item *ret_item);
void probity_index_stop(struct probity_index_cursor *cursor);

/* Takes ownership of the descriptor of an index if the index is complete and belongs to the trace
 * of this session in `trace`, and lists its threads and declarations. Otherwise closes it. Returns
 * 1, 0 if it does not belong to the trace, or an error. */
int probity_index_open(struct probity_index *index, int file, const struct probity_range *trace,
                       const uint8_t session[16], uint64_t trace_bytes);

/* Chooses the last mark before which all records are earlier than a tick, and finds the states
 * there. Returns 0 or an error. */
int probity_index_choose(struct probity_index *index, uint64_t before_tick);

/* Chooses the mark of the last state of locks and waits before a tick, and reads that state. If
 * is_past_needed, that state is before all waits for locks that are open at that tick. If there is
 * no such state, chooses the beginning. Returns 1; 0 if the index has no states; or an error. */
int probity_index_choose_waits(struct probity_index *index, uint64_t before_tick,
                               int is_past_needed);

/* Reads a payload of the index again, malloc'ed. Returns 0 or an error. */
int probity_index_read(const struct probity_index *index, const struct probity_index_extent *extent,
                       uint8_t **ret_payload);

void probity_index_release(struct probity_index *index);

/* Gets the fields of a PLACE block. Returns 0 or PROBITY_ERROR_DAMAGED. */
int probity_index_place_get(const struct probity_index_item *item, uint64_t *ret_offset,
                            uint32_t *ret_bytes);

/* ---- In index_build.c, only in the tool --------------------------------------------------------
 */

enum { PROBITY_INDEX_EVERY_BYTES = 1 << 20 };

/* The marks of an index that was built. All zero: none. */
struct probity_index_marks {
    struct probity_index_mark *items; /* the caller frees it */
    size_t count, capacity;
    uint64_t serial; /* serial of the next block in the index */
    struct probity_index_sum sum;
};

struct probity_index_options {
    struct probity_index_marks *marks; /* filled in, unless NULL */
    int without_waits;    /* 1: fails with DAMAGED if the trace has waits */
    uint64_t every_bytes; /* distance between marks; 0: PROBITY_INDEX_EVERY_BYTES */
    void (*progress)(void *context, uint64_t done, uint64_t total); /* may be NULL */
    void *progress_context;
};

/* Builds the index of the closed trace in `trace`, and writes it to `file`. Returns 0;
 * PROBITY_ERROR_DAMAGED if the trace cannot be indexed because it is not closed, is damaged, or has
 * late blocks or deferred scopes; or READ, WRITE, MEMORY, FORMAT, VERSION. */
int probity_index_build(const struct probity_range *trace, int file,
                        const struct probity_index_options *options);

#endif
