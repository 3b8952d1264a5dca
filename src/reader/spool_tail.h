/* SPDX-License-Identifier: MIT
 *
 * spool_tail.h: the tail of a trace without END: the words in its spool that are not in the file
 * yet.
 *
 * The words of a live spool are copied before the size of the file is read, so that each record is
 * in at least one of the two. Words that are also in blocks of the file are then removed from the
 * tail, so that none is in both.
 */
#ifndef PROBITY_READER_SPOOL_TAIL_H
#define PROBITY_READER_SPOOL_TAIL_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "spool/attach.h"
#include "spool/drain.h"

/* Words of a chunk, from `first` to chunk.end. A chunk has several entries if there are blocks in
 * between. */
struct probity_spool_tail_chunk {
    struct probity_attach_chunk chunk;
    uint64_t *copy; /* copy of a live chunk's words; NULL: they are used in place */
    uint64_t index; /* index in the spool */
    uint32_t first; /* earlier words are in the file */
};

struct probity_spool_tail {
    struct probity_attach attach;
    int is_attached, is_alive, is_closed;
    struct probity_spool_tail_chunk *chunks; /* sorted by serial, then by word */
    size_t count, capacity;
    struct probity_spool_header header; /* copy of the spool's header */
    struct probity_anchor anchors[PROBITY_SPOOL_ANCHORS];
    size_t anchor_count;
    uint64_t rate, newest; /* newest: serial of the latest chunk taken */
    int stop_at_hole; /* 1: words after a hole are not packed */
    struct probity_drain_scratch scratch;
    uint8_t *block; /* has room for one packed chunk */
};

/* Creates a query for the spool of an open trace. directory: that of the trace, or -1. The pointers
 * in the query point into info. Returns 0, or PROBITY_ERROR_READ with errno set. */
int probity_spool_tail_query(int trace_file, int directory, const struct probity_info *info,
                             struct probity_attach_query *ret_query);

/* Takes a snapshot of the spool. Returns 0, or an error of probity_attach_find() or
 * PROBITY_ERROR_MEMORY; then *ret_rest needs no release. */
int probity_spool_tail_take(const struct probity_attach_query *query,
                            const struct probity_info *info, struct probity_spool_tail *ret_rest);

/* The same for a spool that is already attached, whose program has ended. On success the tail owns
 * the attachment.
 */
int probity_spool_tail_adopt(const struct probity_attach *attach, const struct probity_info *info,
                             struct probity_spool_tail *ret_rest);

/* Whether the tail has words that are also in a block of the file: 1 or 0. */
int probity_spool_tail_overlaps(const struct probity_spool_tail *rest,
                                const struct probity_data *data);

/* Removes the words in a valid block of the file from the tail. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_spool_tail_cover(struct probity_spool_tail *rest, const struct probity_data *data);

/* Packs the words of list entry `index` into rest->block as a sealed DATA block, or into none
 * (records 0). */
void probity_spool_tail_pack(struct probity_spool_tail *rest, size_t index, uint64_t block_serial,
                             struct probity_drain_output *ret_output);

void probity_spool_tail_release(struct probity_spool_tail *rest);

#endif
