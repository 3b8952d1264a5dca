/* SPDX-License-Identifier: MIT
 *
 * scan.c: reads block after block through a window on the file. All input is untrusted: lengths are
 * checked against the remaining size of the file, and after an invalid block the search for the
 * next valid one has a budget, so that no file can make the search quadratic.
 */
#include "reader/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"
#include "reader/file.h"

enum {
    WINDOW_BYTES = 4096, /* enough for headers: the end of a block, its SYNC and the next header */
    WINDOW_BYTES_VERIFY = 256 << 10,
    SEARCH_STEP = 64 << 10
};

#define SEARCH_BUDGET (UINT64_C(1) << 30)

/* Returns `bytes` of the file at offset; NULL with scan->error = 0 if the file is too short. */
static const uint8_t *scan_view(struct probity_scan *scan, uint64_t offset, size_t bytes)
{
    scan->error = 0;
    if (offset > scan->size || bytes > scan->size - offset)
        return NULL;
    if (offset >= scan->window_offset && offset - scan->window_offset <= scan->window_bytes &&
        bytes <= scan->window_bytes - (size_t)(offset - scan->window_offset))
        return scan->window + (offset - scan->window_offset);

    size_t want = scan->verify ? WINDOW_BYTES_VERIFY : WINDOW_BYTES;
    want = bytes > want ? bytes : want;
    want = want > scan->size - offset ? (size_t)(scan->size - offset) : want;
    scan->error = probity_bytes_reserve(&scan->window, &scan->window_capacity, want);
    if (scan->error != 0)
        return NULL;
    scan->window_bytes = 0;
    ssize_t got = probity_range_read(&scan->range, scan->window, want, offset);
    if (got < 0) {
        scan->error = (int)got;
        return NULL;
    }
    probity_assert((size_t)got <= scan->window_capacity);
    scan->window_offset = offset;
    scan->window_bytes = (size_t)got;
    if ((size_t)got < want)
        scan->size = offset + (size_t)got; /* the file was truncated in the meantime */
    return (size_t)got >= bytes ? scan->window : NULL;
}

int probity_scan_init(struct probity_scan *scan, int file, uint64_t size, int verify)
{
    const struct probity_range range = probity_range_whole(file);

    return probity_scan_init_range(scan, &range, size, verify);
}

int probity_scan_init_range(struct probity_scan *scan, const struct probity_range *range,
                            uint64_t size, int verify)
{
    probity_assert(range->file >= 0);
    memset(scan, 0, sizeof *scan);
    scan->range = *range;
    scan->size = size;
    scan->verify = verify;
    scan->budget = SEARCH_BUDGET + 8 * size;
    const uint8_t *header = scan_view(scan, 0, PROBITY_FILE_HEADER_BYTES);
    if (header == NULL)
        return scan->error != 0 ? scan->error : PROBITY_ERROR_FORMAT;
    scan->offset = PROBITY_FILE_HEADER_BYTES;
    return probity_file_header_check(header);
}

void probity_scan_release(struct probity_scan *scan)
{
    free(scan->window);
    scan->window = NULL;
    scan->window_capacity = scan->window_bytes = 0;
}

static size_t block_bytes(const struct probity_block_header *header)
{
    probity_assert(header->payload_bytes <= PROBITY_BLOCK_PAYLOAD_MAX);
    return PROBITY_BLOCK_HEADER_BYTES + (size_t)header->payload_bytes;
}

/* Whether the header at offset is plausible and its block is inside the file: 1 or 0. */
static int header_at(struct probity_scan *scan, uint64_t offset,
                     struct probity_block_header *ret_header)
{
    const uint8_t *bytes = scan_view(scan, offset, PROBITY_BLOCK_HEADER_BYTES);

    return bytes != NULL && probity_block_header_get(bytes, ret_header) == 0 &&
           block_bytes(ret_header) <= scan->size - offset;
}

static int is_whole(struct probity_scan *scan, uint64_t offset,
                    const struct probity_block_header *header)
{
    const uint8_t *block = scan_view(scan, offset, block_bytes(header));

    return block != NULL && probity_block_is_whole(block, header);
}

int probity_scan_verify(struct probity_scan *scan, const struct probity_scan_item *item)
{
    int whole = is_whole(scan, item->offset, &item->header);

    probity_assert(item->kind == PROBITY_SCAN_BLOCK);
    return scan->error != 0 ? scan->error : whole;
}

/* The same for a block at its expected position. An invalid block consumes budget, because the
 * search continues soon after its beginning, not at the end that its header claims. */
static int holds(struct probity_scan *scan, uint64_t offset,
                 const struct probity_block_header *header)
{
    if (scan->budget > 0 && is_whole(scan, offset, header))
        return 1;
    size_t bytes = block_bytes(header);
    scan->budget -= bytes < scan->budget ? bytes : scan->budget;
    return 0;
}

/* A DATA block is accepted if another block follows it, and verified when it is opened. */
static int is_trusted(struct probity_scan *scan, uint64_t offset,
                      const struct probity_block_header *header)
{
    struct probity_block_header next;
    uint64_t end = offset + block_bytes(header);

    probity_assert(block_bytes(header) <= scan->size - offset);
    if (scan->verify || header->type != PROBITY_BLOCK_DATA)
        return holds(scan, offset, header);
    if (header->payload_bytes < PROBITY_DATA_FIXED_BYTES)
        return 0;
    const uint8_t *block =
        scan_view(scan, offset, PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES);
    if (block == NULL)
        return 0;
    memcpy(scan->fixed, block + PROBITY_BLOCK_HEADER_BYTES, PROBITY_DATA_FIXED_BYTES);
    if (end == scan->size || (header_at(scan, end, &next) && next.serial == header->serial + 1))
        return 1;
    return scan->error == 0 && holds(scan, offset, header);
}

/* Whether a complete block of this trace starts at offset; spends budget. */
static int is_resumption(struct probity_scan *scan, uint64_t offset,
                         struct probity_block_header *ret_header)
{
    if (!header_at(scan, offset, ret_header) || ret_header->serial < scan->serial ||
        block_bytes(ret_header) > scan->budget)
        return 0;
    scan->budget -= block_bytes(ret_header);
    return is_whole(scan, offset, ret_header);
}

/* Returns the data to search from offset on; spends budget if the data must be read. NULL: budget
 * exhausted. */
static const uint8_t *search_view(struct probity_scan *scan, uint64_t offset, size_t *ret_bytes)
{
    uint64_t window_end = scan->window_offset + scan->window_bytes;
    uint64_t bytes = scan->size - offset;

    probity_assert(offset <= scan->size);
    if (offset >= scan->window_offset && offset + PROBITY_BLOCK_HEADER_BYTES <= window_end) {
        bytes = window_end - offset;
    } else {
        bytes = bytes > SEARCH_STEP ? SEARCH_STEP : bytes;
        if (bytes > scan->budget)
            return NULL;
        scan->budget -= bytes;
    }
    *ret_bytes = (size_t)bytes;
    return scan_view(scan, offset, (size_t)bytes);
}

/* Finds the next valid block after the damage at scan->offset. Returns its offset, or the size of
 * the file if there is none. */
static uint64_t find_resumption(struct probity_scan *scan, struct probity_block_header *ret_header)
{
    uint64_t offset = scan->offset;

    if (header_at(scan, offset, ret_header)) {
        uint64_t behind = offset + block_bytes(ret_header);
        if (is_resumption(scan, behind, ret_header))
            return behind;
    }
    for (offset++; scan->error == 0 && offset + PROBITY_BLOCK_HEADER_BYTES <= scan->size;) {
        size_t bytes;
        const uint8_t *at = search_view(scan, offset, &bytes);
        if (at == NULL)
            break;
        const uint8_t *found = memmem(at, bytes, "PBLK", 4);
        if (found == NULL) { /* creating a hole of terabytes costs nothing */
            offset = probity_range_data(&scan->range, offset + bytes - 3);
            continue;
        }
        probity_assert(found + 4 <= at + bytes);
        offset += (size_t)(found - at);
        if (is_resumption(scan, offset, ret_header))
            return offset;
        offset++;
    }
    return scan->size;
}

static int next_after_damage(struct probity_scan *scan, struct probity_scan_item *ret_item)
{
    struct probity_block_header header = {0};
    uint64_t start = scan->offset, left = scan->size - start;
    int starts_well = 0;

    probity_assert(start < scan->size);
    if (left >= PROBITY_BLOCK_HEADER_BYTES) {
        const uint8_t *bytes = scan_view(scan, start, PROBITY_BLOCK_HEADER_BYTES);
        starts_well = bytes != NULL && probity_block_header_get(bytes, &header) == 0 &&
                      header.serial == scan->serial && block_bytes(&header) > left;
    }
    uint64_t found = find_resumption(scan, &header);
    if (scan->error != 0)
        return scan->error;
    *ret_item = (struct probity_scan_item){.kind = PROBITY_SCAN_DAMAGE,
                                           .offset = start,
                                           .bytes = found - start,
                                           .why = "invalid header or checksum"};
    if (found == scan->size) {
        scan->ended = 1;
        if (starts_well || left < PROBITY_BLOCK_HEADER_BYTES) {
            ret_item->kind = PROBITY_SCAN_CUT;
            ret_item->why = "the file ends in the middle of a block";
        }
        return 1;
    }
    scan->offset = found;
    scan->serial = header.serial;
    return 1;
}

/* Takes a complete block with an unexpected serial: earlier blocks are lost, or it is a duplicate.
 * Returns 1 with an item that reports it, or 0. */
static int next_out_of_turn(struct probity_scan *scan, const struct probity_block_header *header,
                            struct probity_scan_item *ret_item)
{
    probity_assert(header->serial != scan->serial);
    if (!holds(scan, scan->offset, header))
        return 0;
    *ret_item = (struct probity_scan_item){.kind = PROBITY_SCAN_DAMAGE, .offset = scan->offset};
    if (header->serial > scan->serial) {
        ret_item->why = "blocks before this one are missing";
        scan->serial = header->serial;
    } else {
        ret_item->why = "a block is older than the previous one";
        ret_item->bytes = block_bytes(header);
        scan->offset += block_bytes(header);
    }
    return 1;
}

int probity_scan_next(struct probity_scan *scan, struct probity_scan_item *ret_item)
{
    struct probity_block_header header;

    if (scan->ended || scan->offset >= scan->size)
        return 0;
    int fits = header_at(scan, scan->offset, &header);
    if (fits && header.serial != scan->serial && next_out_of_turn(scan, &header, ret_item))
        return 1;
    if (fits && header.serial == scan->serial && is_trusted(scan, scan->offset, &header)) {
        int is_fixed = !scan->verify && header.type == PROBITY_BLOCK_DATA;
        const uint8_t *block =
            is_fixed ? NULL : scan_view(scan, scan->offset, block_bytes(&header));
        *ret_item = (struct probity_scan_item){PROBITY_SCAN_BLOCK, scan->offset,
                                               block_bytes(&header), NULL, header,
                                               is_fixed ? scan->fixed
                                                        : block + PROBITY_BLOCK_HEADER_BYTES};
        scan->offset += block_bytes(&header);
        scan->serial++;
        probity_assert(scan->offset <= scan->size);
        return 1;
    }
    if (scan->error != 0)
        return scan->error;
    if (scan->offset >= scan->size)
        return 0;
    return next_after_damage(scan, ret_item);
}
