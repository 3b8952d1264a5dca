/* SPDX-License-Identifier: MIT
 *
 * memory.h: which code allocated memory, from hits in the roles allocate and free (doc/calls.md):
 * for each call path and place, the allocations, their bytes, and the blocks live at the peak and
 * at the end. Call paths are those of the open scopes. Memory: one entry per live block and per
 * distinct call path. Prints nothing.
 *
 *     events ──► scopes ──► path ──► leaf (path, call, place) ──► row (equal leaves)
 */
#ifndef PROBITY_ANSWERS_MEMORY_MEMORY_H
#define PROBITY_ANSWERS_MEMORY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/scopes.h"
#include "answers/tree/tree_nodes.h"
#include "reader/reader.h"

/* Maximum number of intervals for which live bytes are stored. */
enum { PROBITY_MEMORY_MOMENTS = 512 };

struct probity_memory_sums {
    uint64_t allocations, bytes; /* including blocks that were freed */
    uint64_t frees;
    uint64_t live_blocks, live_bytes; /* live at the end */
    uint64_t peak_blocks, peak_bytes; /* live at the peak of all live bytes; if several peaks are
                                       * equal, at the first */
    uint64_t failed;      /* failed allocations; not counted above */
    uint64_t lifetime_ns; /* sum over the blocks that were freed */
};

/* Where memory was allocated. */
struct probity_memory_leaf {
    struct probity_link link;
    const struct probity_tree_node *path; /* innermost open scope; the root if none was open */
    const char *call;                     /* "malloc" */
    uint32_t trace;
    uint64_t place, tick; /* the return address, or 0 if unknown; when it was first seen */
    struct probity_memory_sums sums;
    uint64_t peaks_seen; /* internal: the peak to which peak_blocks and peak_bytes belong */
};

struct probity_memory_facts {
    struct probity_memory_sums sums;  /* over all leaves; peak: that of the sum */
    uint64_t peak_ns;                 /* CLOCK_REALTIME; 0 without allocations */
    uint64_t unknown_frees;           /* of blocks that were not allocated in the trace; 0 if
                                         from_ns is given */
    uint64_t reused;                  /* not freed, but the address was allocated again */
    uint64_t counted_ns;              /* CLOCK_REALTIME: from then on, allocations were only
                                       * counted, to stay within a budget, and all values are as of
                                       * then; 0: never */
    /* Maximum of live bytes in each of `moments` intervals of width_ns, beginning at start_ns. */
    uint64_t start_ns, width_ns;
    size_t moments;
    uint64_t most[PROBITY_MEMORY_MOMENTS];
};

struct probity_memory;

struct probity_memory_options {
    uint64_t from_ns, to_ns; /* allocations in [from, to) of CLOCK_REALTIME, and their state at its
                              * end; both 0: all */
    /* Returns whether to include the hit of an allocation: 1 or 0. NULL: include all. */
    int (*is_wanted)(void *context, const struct probity_event *event);
    void *context;
};

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_memory_open(const struct probity_memory_options *options,
                        struct probity_memory **ret_memory);

/* Takes the next event in time order, from the beginning. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_memory_put(struct probity_memory *memory, const struct probity_event *event);

struct probity_run;

/* Takes a run of events (reader/run.h) in the same way. */
int probity_memory_put_run(struct probity_memory *memory, const struct probity_run *run);

/* Call after the last put. */
void probity_memory_finish(struct probity_memory *memory);

/* After finish; valid until close. */
const struct probity_memory_facts *probity_memory_facts(const struct probity_memory *memory);

/* After finish: returns the leaves, in the order in which they were first seen. Valid until
 * close. */
struct probity_memory_leaf *const *probity_memory_leaves(const struct probity_memory *memory,
                                                         size_t *ret_count);

const struct probity_scopes_repairs *probity_memory_repairs(const struct probity_memory *memory);

void probity_memory_sums_add(struct probity_memory_sums *to,
                             const struct probity_memory_sums *from);

void probity_memory_close(struct probity_memory *memory);

#endif
