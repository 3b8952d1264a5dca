/* SPDX-License-Identifier: MIT
 *
 * cells.h: the cells of profile mode in the spool, each with the counts and times of one function
 * in one set of threads. They are in chunks of the pool (state `cells`), which belong to their set
 * until recording ends.
 *
 *     chunk header ─► set, thread, number of cells
 *     chunk words  ─► cell, cell, cell ... (each 1,408 bytes)
 *
 * Only the thread that owns the set stores; readers (the writer, or a tool during or after the run)
 * never see a partial number. The end of a call updates the count first: if the process is killed,
 * counts are exact, and times are missing at most one call per thread.
 */
#ifndef PROBITY_SPOOL_CELLS_H
#define PROBITY_SPOOL_CELLS_H

#include "format/profile.h"
#include "spool/layout.h"
#include "spool/pool.h"

struct probity_profile_cell {
    uint32_t site, reserved; /* number of the function's enter */
    uint64_t calls, untimed;      /* calls with times, and without */
    uint64_t total, self, min, max;
    uint64_t latest;              /* duration of the last call, not yet in the histogram */
    uint64_t off_total, off_self; /* signed, modulo 2^64 */
    uint64_t paused, unwound;
    uint64_t durations;           /* sum, including inner activations */
    uint64_t open_since;          /* entry tick of its outermost call in progress; 0: none */
    uint64_t reserved_words[2];
    uint64_t histogram[PROBITY_PROFILE_BUCKETS];
};

_Static_assert(sizeof(struct probity_profile_cell) == 1408, "doc/spool.md");
_Static_assert(offsetof(struct probity_profile_cell, off_total) == 64, "doc/spool.md");
_Static_assert(offsetof(struct probity_profile_cell, histogram) == 128, "doc/spool.md");

static inline uint32_t probity_cells_per_chunk(uint32_t chunk_words)
{
    return chunk_words * 8 / (uint32_t)sizeof(struct probity_profile_cell);
}

/* ---- The producer's side: the owner of a set, in slow paths ------------------------------------
 */

/* The owner of a chunk's cells. */
struct probity_cells_owner {
    uint32_t set, thread, tid, threads;
};

/* Turns a chunk that was just taken into an empty chunk of cells. */
void probity_cells_prepare(struct probity_pool *pool, uint32_t chunk,
                           const struct probity_cells_owner *owner);

/* Transfers a chunk of the set to the thread that takes over the set. */
void probity_cells_relabel(struct probity_pool *pool, uint32_t chunk,
                           const struct probity_cells_owner *owner);

/* Adds a cell to the chunk; NULL if it is full. */
struct probity_profile_cell *probity_cells_add(struct probity_pool *pool, uint32_t chunk,
                                               uint32_t site);

/* ---- The consumer's side -----------------------------------------------------------------------
 */

/* A chunk of cells as seen by a reader. */
struct probity_cells {
    const struct probity_profile_cell *cells; /* may change at any time */
    uint32_t count;
    struct probity_cells_owner owner;
};

/* Returns 1, or 0 if the chunk does not contain cells. The input is untrusted. */
int probity_cells_get(const struct probity_chunk_header *header, const uint64_t *words,
                      uint32_t chunk_words, struct probity_cells *ret_cells);

/* Returns the latest tick at which a call in progress was entered; 0 if there is none. */
uint64_t probity_cells_newest(const struct probity_cells *cells);

/* Copies one cell. */
void probity_cells_row(const struct probity_cells *cells, uint32_t index,
                       struct probity_profile_row *ret_row);

#endif
