/* SPDX-License-Identifier: MIT
 *
 * profile.h: the profile of one trace: of a closed one from its last whole PROFILE blocks, else
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
    uint64_t offset, bytes; /* of a block */
};

/* Where the parts of a profile lie in the file. */
struct probity_profile_parts {
    struct probity_profile_place *places; /* first those of the newest whole profile */
    size_t count, capacity;               /* and behind them, */
    size_t pending;                       /* those of one that is not whole yet */
    uint64_t tick;                        /* of which it is */
};

/* Takes a PROFILE block that a survey came by. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_profile_parts_add(struct probity_profile_parts *parts,
                              const struct probity_scan_item *item);
void probity_profile_parts_release(struct probity_profile_parts *parts);

/* As probity_reader_profile(). */
int probity_profile_read(const struct probity_trace *trace, probity_profile_take *take,
                         void *context);

#endif
