/* SPDX-License-Identifier: MIT
 *
 * dump.h: the DUMP block: why a dump was made, and its window (doc/trace-format.md). Pure functions
 * on memory, no I/O.
 */
#ifndef PROBITY_FORMAT_DUMP_H
#define PROBITY_FORMAT_DUMP_H

#include "format/block.h"

enum {
    PROBITY_DUMP_FIXED_BYTES = 64,
    PROBITY_DUMP_REASON_BYTES = 60, /* including the lengths of texts, excluding texts and the first
                                     * u32 */
    PROBITY_DUMP_TEXT_MAX = 255,    /* of a reason written by this version */
    PROBITY_DUMP_WHOLE = 1,         /* flag of the block */
    PROBITY_DUMP_IS_PERCENTILE = 1, /* flags of a reason */
    PROBITY_DUMP_IS_LEAST = 2,
    PROBITY_DUMP_IS_ONE_THREAD = 4,
    PROBITY_DUMP_NONE = -1          /* as a u32: no thread, no number */
};

enum probity_dump_kind {
    PROBITY_DUMP_COMMAND = 1,
    PROBITY_DUMP_PROGRAM = 2,
    PROBITY_DUMP_SIGNAL = 3,
    PROBITY_DUMP_FUNCTION = 4,
    PROBITY_DUMP_BLOCK = 5,
    PROBITY_DUMP_WAIT = 6,
    PROBITY_DUMP_REQUEST = 7,
    PROBITY_DUMP_GAP = 8,
    PROBITY_DUMP_RATE = 9,
    PROBITY_DUMP_VALUE = 10
};

struct probity_dump_reason {
    uint32_t kind; /* an enum probity_dump_kind, or one of a later version */
    uint32_t thread, tid, number, from, flags;
    uint64_t start, end, limit, id;
    struct probity_text condition, text; /* decoded texts point into the payload */
};

struct probity_dump {
    uint8_t session[16]; /* session of the recording */
    uint32_t number, flags;
    uint64_t wanted, had, end;
    uint32_t reasons, more, left_out, lost;
};

/* Maximum size of a payload with this number of reasons. */
size_t probity_dump_room(uint32_t reasons);

/* Stores dump->reasons reasons; longer texts are truncated. Returns the payload's size. */
size_t probity_dump_put(uint8_t *payload, const struct probity_dump *dump,
                        const struct probity_dump_reason *reasons);

/* Returns 0 or PROBITY_ERROR_DAMAGED. *ret_offset: offset of the first reason. */
int probity_dump_get(const uint8_t *payload, size_t bytes, struct probity_dump *ret_dump,
                     size_t *ret_offset);

/* Reads the reason at *offset, and advances *offset to the next one. Returns 0 or
 * PROBITY_ERROR_DAMAGED. */
int probity_dump_reason_get(const uint8_t *payload, size_t bytes, size_t *offset,
                            struct probity_dump_reason *ret_reason);

#endif
