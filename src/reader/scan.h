/* SPDX-License-Identifier: MIT
 *
 * scan.h: iterates over the blocks of one trace file, skipping damage.
 */
#ifndef PROBITY_READER_SCAN_H
#define PROBITY_READER_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "reader/range.h"

enum probity_scan_kind {
    PROBITY_SCAN_BLOCK = 1,
    PROBITY_SCAN_DAMAGE = 2, /* bytes that are not a valid block were skipped */
    PROBITY_SCAN_CUT = 3     /* the last block is incomplete */
};

struct probity_scan_item {
    enum probity_scan_kind kind;
    uint64_t offset, bytes; /* those of the block, or of the skipped bytes */
    const char *why;        /* only for DAMAGE and CUT */
    struct probity_block_header header; /* only for BLOCK */
    const uint8_t *payload; /* valid until the next call; see below */
};

struct probity_scan {
    struct probity_range range;
    int verify;
    int error;      /* errno of the last failed read, 0 if the file was just too short */
    int ended;
    uint64_t size;  /* limit: nothing after this offset is read */
    uint64_t offset, serial; /* those of the next block */
    uint64_t budget; /* number of bytes that searches may still check */
    uint8_t *window;
    size_t window_capacity, window_bytes;
    uint64_t window_offset;
    uint8_t fixed[PROBITY_DATA_FIXED_BYTES];
};

/* Starts at the file's first block; the caller owns the file. With `verify`, each checksum is
 * verified and each payload is complete. Without it, a DATA block is accepted if a matching block
 * follows, and only PROBITY_DATA_FIXED_BYTES of its payload are available: it is verified when it
 * is opened. Returns 0, PROBITY_ERROR_FORMAT, PROBITY_ERROR_VERSION, PROBITY_ERROR_READ,
 * PROBITY_ERROR_MEMORY. */
int probity_scan_init(struct probity_scan *scan, int file, uint64_t size, int verify);

/* The same for a part of the file. */
int probity_scan_init_range(struct probity_scan *scan, const struct probity_range *range,
                            uint64_t size, int verify);

/* Returns 1 with an item, 0 at the end, or an error. */
int probity_scan_next(struct probity_scan *scan, struct probity_scan_item *ret_item);

/* Whether the checksum of an item's complete block is correct: 1, 0, or an error. Invalidates the
 * item's payload. */
int probity_scan_verify(struct probity_scan *scan, const struct probity_scan_item *item);

void probity_scan_release(struct probity_scan *scan);

#endif
