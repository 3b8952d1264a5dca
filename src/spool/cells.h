/* SPDX-License-Identifier: MIT
 *
 * cells.h: what profile mode keeps in the spool: cells, each the counts and times of one function
 * in one set of threads. They lie in chunks of the pool (state `cells`), which stay with their set
 * until the recording ends.
 *
 *     chunk header ─► set, thread, number of cells
 *     chunk words  ─► cell, cell, cell ... (each 1,408 bytes)
 *
 * Only the thread that owns the set stores; whoever reads (the writer, a tool, beside it or once it
 * is dead) finds each number whole. In a call's end its count comes first: so calls are exact
 * whatever instant a kill chooses, and times lack at most that one call of each thread.
 */
#ifndef PROBITY_SPOOL_CELLS_H
#define PROBITY_SPOOL_CELLS_H

#include "format/profile.h"
#include "spool/layout.h"
#include "spool/pool.h"

struct probity_cell {
    uint32_t site, reserved; /* number of the function's enter */
    uint64_t calls, untimed;      /* with times, and without */
    uint64_t total, self, min, max;
    uint64_t latest;              /* duration of the latest call, not yet in the histogram */
    uint64_t off_total, off_self; /* signed, modulo 2^64 */
    uint64_t paused, unwound;
    uint64_t durations;           /* sum, also of inner activations */
    uint64_t reserved_words[3];
    uint64_t histogram[PROBITY_PROFILE_BUCKETS];
};

_Static_assert(sizeof(struct probity_cell) == 1408, "doc/spool.md");
_Static_assert(offsetof(struct probity_cell, off_total) == 64, "doc/spool.md");
_Static_assert(offsetof(struct probity_cell, histogram) == 128, "doc/spool.md");

static inline uint32_t probity_cells_per_chunk(uint32_t chunk_words)
{
    return chunk_words * 8 / (uint32_t)sizeof(struct probity_cell);
}

/* ---- The producer's half: the owner of a set, in slow paths ------------------------------------
 */

/* Whose cells a chunk holds. */
struct probity_cells_owner {
    uint32_t set, thread, tid, threads;
};

/* Makes a taken chunk one of cells, without any yet. */
void probity_cells_prepare(struct probity_pool *pool, uint32_t chunk,
                           const struct probity_cells_owner *owner);

/* Another thread goes on with a chunk of the set. */
void probity_cells_relabel(struct probity_pool *pool, uint32_t chunk,
                           const struct probity_cells_owner *owner);

/* One more cell in the chunk; NULL where it is full. */
struct probity_cell *probity_cells_add(struct probity_pool *pool, uint32_t chunk, uint32_t site);

/* ---- The consumer's half -----------------------------------------------------------------------
 */

/* A chunk of cells as seen by a reader. */
struct probity_cells {
    const struct probity_cell *cells; /* may be stored to meanwhile */
    uint32_t count;
    struct probity_cells_owner owner;
};

/* Returns 1, or 0 where the chunk holds no cells. Trusts nothing. */
int probity_cells_get(const struct probity_chunk_header *header, const uint64_t *words,
                      uint32_t chunk_words, struct probity_cells *ret_cells);

/* A copy of one cell. */
void probity_cells_row(const struct probity_cells *cells, uint32_t index,
                       struct probity_profile_row *ret_row);

#endif
