/* SPDX-License-Identifier: MIT
 *
 * index_write.h: writes the blocks of an index. The writer assembles one block at a time in a
 * buffer. Functions return 0 or an error: MEMORY, WRITE, or DAMAGED if a block would be too long.
 */
#ifndef PROBITY_READER_INDEX_WRITE_H
#define PROBITY_READER_INDEX_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "format/stream.h"
#include "reader/index.h"
#include "reader/thread_stack.h"

enum { PROBITY_INDEX_BUFFER_BYTES = 64 << 10 };

struct probity_index_writer {
    int file;
    uint64_t serial;
    uint8_t *block; /* header, payload */
    size_t capacity, used; /* used: bytes in the buffer */
    uint64_t table[PROBITY_STREAM_TABLE];
    uint8_t buffer[PROBITY_INDEX_BUFFER_BYTES];
};

/* A thread's state at a mark. */
struct probity_index_state {
    struct probity_thread_stack stack;
    uint32_t thread, tid, number; /* number: in the index */
    int is_cpu_known;
    uint64_t last_tick;     /* tick of its latest hit or event of any kind */
    uint64_t record_tick;   /* the same for records only (probity_event_is_record()); 0: none */
    uint64_t seen_cpu_ns;   /* CPU time of its latest hit or scope: struct probity_thread_seen */
    uint64_t record_cpu_ns; /* CPU time of its latest record; not less */
};

/* Empties the file and writes its header. */
int probity_index_begin(struct probity_index_writer *writer);

/* Returns the payload of the current block, with room for at least `bytes`. NULL if out of
 * memory. */
uint8_t *probity_index_room(struct probity_index_writer *writer, size_t bytes);

int probity_index_emit(struct probity_index_writer *writer, uint16_t type, size_t payload_bytes);

/* Writes a block of records, which are packed one by one: start; reserve before each record;
 * emit. */
int probity_index_start_records(struct probity_index_writer *writer, uint64_t first_tick,
                                struct probity_packer *ret);
int probity_index_reserve(struct probity_index_writer *writer, struct probity_packer *packer,
                          size_t payload_bytes);
int probity_index_emit_records(struct probity_index_writer *writer, uint16_t type,
                               const struct probity_packer *packer, struct probity_data *data);

/* Writes the tick at which the thread of the following first state began. */
int probity_index_emit_began(struct probity_index_writer *writer, uint64_t first_tick);

int probity_index_emit_state(struct probity_index_writer *writer,
                             const struct probity_index_state *state);

/* Adds a mark to a list. NULL: does nothing. */
int probity_index_marks_add(struct probity_index_marks *marks,
                            const struct probity_index_mark *mark);

/* Records what the marks belong to, after the last block. NULL: does nothing. */
void probity_index_marks_end(struct probity_index_marks *marks,
                             const struct probity_index_writer *writer,
                             const struct probity_index_sum *sum);

int probity_index_flush(struct probity_index_writer *writer);

#endif
