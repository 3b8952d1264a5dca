/* SPDX-License-Identifier: MIT
 *
 * sites.h: the SITES block (doc/trace-format.md): the sites compiled into a program. Pure functions
 * on memory; used by the runtime and by the reader.
 */
#ifndef PROBITY_FORMAT_SITES_H
#define PROBITY_FORMAT_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/varint.h"
#include "format/stream.h"

enum probity_listed_text {
    PROBITY_LISTED_NAME = 0,
    PROBITY_LISTED_FILE = 1,
    PROBITY_LISTED_WITHIN = 2, /* for a probe, the function that contains it; for a function, its
                                  signature */
    PROBITY_LISTED_RETURNS = 3,
    PROBITY_LISTED_OBJECT = 4,
    PROBITY_LISTED_TEXTS = 5
};

enum { PROBITY_LISTED_CXX = 1, PROBITY_LISTED_DEFERRED = 2 }; /* flags */

enum {
    PROBITY_SITES_FIXED_BYTES = 16,
    PROBITY_SITES_NUMBERS = 5,
    /* No event has room for a longer text. A row repeats a text with a single byte, so a limit
     * keeps an untrusted block from expanding into many long texts. */
    PROBITY_LISTED_TEXT_MAX = PROBITY_EVENT_BYTES_MAX,
    /* Size of a row, plus the bytes after it that a put may overwrite. */
    PROBITY_SITES_ROW_BYTES_MAX =
        (1 + PROBITY_SITES_NUMBERS + PROBITY_LISTED_TEXTS) * PROBITY_VARINT_BYTES_MAX +
        3 * PROBITY_LIMIT_NAME + 2 * PROBITY_LIMIT_SIGNATURE + PROBITY_VARINT_SLACK
};

/* Texts are not zero-terminated. */
struct probity_listed {
    uint32_t kind, level, flags, line, number; /* kind: the same as in probity.h */
    const char *text[PROBITY_LISTED_TEXTS];
    size_t length[PROBITY_LISTED_TEXTS];
};

/* Rows ready to be written as one block, with room for the block's header before them. */
struct probity_sites_part {
    struct probity_sites_part *next;
    uint32_t rows, payload_bytes;
    uint8_t block[];
};

void probity_sites_head_put(uint8_t *payload, uint32_t rows, uint32_t left_out);

/* Returns 0, or PROBITY_ERROR_DAMAGED if the payload is too short. */
int probity_sites_head_get(const uint8_t *payload, size_t bytes, uint32_t *ret_rows,
                           uint32_t *ret_left_out);

/* before: the previous row in this block; NULL if this is the first. PROBITY_SITES_ROW_BYTES_MAX
 * bytes must be writable, and texts must be within their limits. Returns the end. */
uint8_t *probity_sites_row_put(uint8_t *at, const struct probity_listed *row,
                               const struct probity_listed *before);

/* On entry, `row` is the previous row, all zeros at first; its texts point into the payload.
 * Returns the end, or NULL if the row is invalid. */
const uint8_t *probity_sites_row_get(const uint8_t *at, const uint8_t *end,
                                     struct probity_listed *row);

#endif
