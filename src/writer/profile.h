/* SPDX-License-Identifier: MIT
 *
 * profile.h: writes cells as PROFILE blocks: the writer thread, at each flush and at the end;
 * recover, from a dead spool. Each time, a complete profile replaces the previous one.
 */
#ifndef PROBITY_WRITER_PROFILE_H
#define PROBITY_WRITER_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "format/profile.h"
#include "spool/cells.h"

/* Destination of rows. The caller sets the first six fields. */
struct probity_profile_sink {
    /* Returns room for a payload of `bytes` bytes, or NULL. */
    uint8_t *(*room)(void *context);
    /* Writes the block whose payload was stored there. Returns 0 or an error. */
    int (*put)(void *context, uint32_t payload_bytes);
    void *context;
    size_t bytes; /* at least PROBITY_PROFILE_ROW_BYTES_MAX + PROBITY_PROFILE_FIXED_BYTES */
    uint64_t tick, rate;
    struct probity_profile_part part;
    uint8_t *payload;
    size_t used;
};

/* Adds the cells of one chunk. Returns 0 or an error of the caller's functions. */
int probity_profile_add(struct probity_profile_sink *sink, const struct probity_cells *cells);

/* Writes the last part, unless no cell was added. */
int probity_profile_finish(struct probity_profile_sink *sink);

struct probity_pass;

/* Writes the profile of a live spool, if it has one. Returns 0 or PROBITY_ERROR_WRITE. */
int probity_profile_write(struct probity_pass *pass);

#endif
