/* SPDX-License-Identifier: MIT
 *
 * mappings.h: the mapped files of the programs of all traces, over time: turns a recorded address
 * into a file and an address in it. Memory is bounded by the declarations in the traces, and by a
 * limit for each of them.
 */
#ifndef PROBITY_ANALYSIS_MAPPINGS_H
#define PROBITY_ANALYSIS_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

enum { PROBITY_MAPPINGS_MAX = 16384 }; /* per trace; further ones are only counted */

struct probity_mapping {
    uint64_t tick; /* valid from this time */
    uint64_t first, end;
    uint64_t bias; /* address in memory minus address as linked */
    const char *path, *build_id; /* build_id: hexadecimal, may be "" */
};

struct probity_mapping_list {
    struct probity_mapping *items; /* by tick */
    size_t count, capacity;
};

struct probity_mappings {
    struct probity_mapping_list *traces;
    uint32_t trace_count;
    uint64_t beyond; /* number beyond the limit */
};

/* Takes any event, in the order of the reader. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_mappings_put(struct probity_mappings *mappings, const struct probity_event *event);

/* Returns the newest mapping that contains an address of a trace and is not later than the tick;
 * NULL if there is none. Valid until the next put. For a return address, pass the byte before it:
 * the call may be the last instruction of its function. */
const struct probity_mapping *probity_mappings_find(const struct probity_mappings *mappings,
                                                    uint32_t trace, uint64_t tick,
                                                    uint64_t address);

void probity_mappings_release(struct probity_mappings *mappings);

#endif
