/* SPDX-License-Identifier: MIT
 *
 * rest.h: what a trace without END still has in its spool: the words that are not in the file yet.
 *
 * Of a live spool the words are copied first and the file is measured afterwards, so that each
 * record is in one of the two at least; blocks in the file then take away from the rest what they
 * cover, so that none is in both.
 */
#ifndef PROBITY_READER_REST_H
#define PROBITY_READER_REST_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "spool/attach.h"
#include "spool/drain.h"

/* Words of a chunk, from `first` to chunk.end. Several of one chunk where blocks lie between. */
struct probity_rest_chunk {
    struct probity_attach_chunk chunk;
    uint64_t *copy; /* of a live chunk's words; NULL: they stay in the mapping */
    uint32_t first; /* words before are in the file */
};

struct probity_rest {
    struct probity_attach attach;
    int is_attached, is_alive, is_closed;
    struct probity_rest_chunk *chunks; /* serials ascend, and words */
    size_t count, capacity;
    struct probity_spool_header header; /* a copy */
    struct probity_anchor anchors[PROBITY_SPOOL_ANCHORS];
    size_t anchor_count;
    uint64_t rate;
    struct probity_drain_scratch scratch;
    uint8_t *block; /* room for one packed chunk */
};

/* Takes the spool's view. Returns 0, or an error of probity_attach_open or PROBITY_ERROR_MEMORY;
 * *ret_rest then needs no release. */
int probity_rest_take(const char *path, const struct probity_info *info,
                      struct probity_rest *ret_rest);

/* As above, of a spool that is attached and dead already; on success the attachment is the rest's.
 */
int probity_rest_adopt(const struct probity_attach *attach, const struct probity_info *info,
                       struct probity_rest *ret_rest);

/* Whether the rest still has words that a block of the file covers: 1 or 0. */
int probity_rest_overlaps(const struct probity_rest *rest, const struct probity_data *data);

/* Takes away from the rest what a valid block of the file covers. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_rest_cover(struct probity_rest *rest, const struct probity_data *data);

/* Packs what is left of chunk number index into rest->block: a sealed DATA block, or none (records
 * 0). */
void probity_rest_pack(struct probity_rest *rest, size_t index, uint64_t block_serial,
                       struct probity_drain_output *ret_output);

void probity_rest_release(struct probity_rest *rest);

#endif
