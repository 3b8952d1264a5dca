/* SPDX-License-Identifier: MIT
 *
 * profile.h: cells to PROFILE blocks: at each flush and at the end by the writing thread, and from
 * a dead spool by recover. Each writing is a whole profile that replaces the one before.
 */
#ifndef PROBITY_WRITER_PROFILE_H
#define PROBITY_WRITER_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "format/profile.h"
#include "spool/cells.h"

/* Rows on their way into blocks. The first six fields are the caller's. */
struct probity_profile_sink {
    /* Room for a payload of `bytes` bytes; NULL where there is none. */
    uint8_t *(*room)(void *context);
    /* Writes the block whose payload lies there. Returns 0 or an error. */
    int (*put)(void *context, uint32_t payload_bytes);
    void *context;
    size_t bytes; /* PROBITY_PROFILE_ROW_BYTES_MAX + PROBITY_PROFILE_FIXED_BYTES at least */
    uint64_t tick, rate;
    struct probity_profile_part part;
    uint8_t *payload;
    size_t used;
};

/* Adds the cells of one chunk. Returns 0 or an error of the caller's functions. */
int probity_profile_add(struct probity_profile_sink *sink, const struct probity_cells *cells);

/* Writes the last part. Nothing where no cell was added. */
int probity_profile_finish(struct probity_profile_sink *sink);

struct probity_pass;

/* Writes the profile of a live spool, if it has one. Returns 0 or PROBITY_ERROR_WRITE. */
int probity_profile_write(struct probity_pass *pass);

#endif
