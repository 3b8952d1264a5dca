/* SPDX-License-Identifier: MIT
 *
 * profile.h: the profile of one trace: from the last complete PROFILE blocks if it is closed, else
 * from the cells of its spool, which are newer.
 */
#ifndef PROBITY_READER_PROFILE_H
#define PROBITY_READER_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"
#include "reader/scan.h"

struct probity_trace;

struct probity_profile_place {
    uint64_t offset, bytes; /* offset and size of a block */
};

/* Positions of the parts of a profile in the file. */
struct probity_profile_parts {
    struct probity_profile_place *places; /* first the parts of the latest complete profile, */
    size_t count, capacity;               /* followed by the parts */
    size_t pending;                       /* number of parts of an incomplete profile */
    uint64_t tick;                        /* tick of the incomplete profile */
};

/* Takes a PROFILE block found by a prescan. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_profile_parts_add(struct probity_profile_parts *parts,
                              const struct probity_scan_item *item);
void probity_profile_parts_release(struct probity_profile_parts *parts);

/* See probity_reader_profile(). */
int probity_profile_read(const struct probity_trace *trace, probity_profile_take *take,
                         void *context);

#endif
