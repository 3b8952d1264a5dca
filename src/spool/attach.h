/* SPDX-License-Identifier: MIT
 *
 * attach.h: a spool seen from outside: mapped for reading, its owner alive or dead. Every field is
 * hostile: what was checked once is kept in struct probity_attach and never read from the mapping
 * again.
 */
#ifndef PROBITY_SPOOL_ATTACH_H
#define PROBITY_SPOOL_ATTACH_H

#include <stddef.h>
#include <stdint.h>

#include "base/cut.h"
#include "spool/cells.h"
#include "spool/layout.h"

struct probity_attach_segment {
    void *map;
    size_t bytes;
    uint32_t chunks, chunk_words;
    struct probity_cut_watch watch;
};

struct probity_attach {
    int file; /* segment 0 */
    int is_locked; /* by probity_attach_lock() */
    char *path;
    struct probity_attach_segment *segments;
    uint32_t segment_count, chunk_words;
    uint64_t chunk_count; /* in all segments */
};

/* What a chunk says of itself, copied and checked. */
struct probity_attach_chunk {
    uint32_t state, thread, tid;
    uint32_t end;     /* words to look at: `used` of a full chunk, all of an open one */
    uint32_t drained; /* at most end */
    uint64_t serial, base_tick, cpu_ns;
    int cpu_known;
    int is_held; /* all words but those of the record at drained are in the trace */
    const uint64_t *words; /* in the mapping */
};

/* Maps the spool whose segment 0 is at path. session and boot are those of the trace. writable:
 * the lock can be taken and the state stored (recover). Returns 0; PROBITY_ERROR_OPEN where there
 * is no such file (errno set); PROBITY_ERROR_FORMAT, PROBITY_ERROR_VERSION, PROBITY_ERROR_DAMAGED
 * where it is not this trace's spool; PROBITY_ERROR_MEMORY, PROBITY_ERROR_SYSTEM. */
int probity_attach_open(const char *path, const uint8_t session[16], const uint8_t boot[16],
                        int writable, struct probity_attach *ret_attach);

/* Segment 0's header. Its fields may change at any time in a live spool: load each once. */
const struct probity_spool_header *probity_attach_header(const struct probity_attach *attach);

/* Whether the program that owns the spool still runs: 1 or 0. */
int probity_attach_is_alive(const struct probity_attach *attach);

/* Whether the process that made the spool exists: 1 or 0. Where the spool is alive and its process
 * is not, another tool folds it. */
int probity_attach_has_process(const struct probity_attach *attach);

/* Chunk number index, 0 to chunk_count - 1. Returns 1, or 0 where it is free or makes no sense. */
int probity_attach_chunk(const struct probity_attach *attach, uint64_t index,
                         struct probity_attach_chunk *ret_chunk);

/* Whether the chunk still is what was returned: 1 or 0 (freed or used anew since). Call it behind
 * the reading of words. */
int probity_attach_chunk_stands(const struct probity_attach *attach, uint64_t index,
                                const struct probity_attach_chunk *chunk);

/* What chunk number index holds of cells. Returns 1, or 0 where it is no chunk of cells. */
int probity_attach_cells(const struct probity_attach *attach, uint64_t index,
                         struct probity_cells *ret_cells);

/* Whether a tool found out that the spool was cut since it was mapped: 1 or 0. */
int probity_attach_is_cut(const struct probity_attach *attach);

/* Takes the writer's lock. Returns 0, or PROBITY_ERROR_STATE where another holds it. Needs
 * writable. */
int probity_attach_lock(struct probity_attach *attach);

/* Marks the spool closed and removes its files. Needs the lock. Returns 0 or PROBITY_ERROR_WRITE.
 */
int probity_attach_retire(const struct probity_attach *attach);

/* Unmaps; releases the lock. */
void probity_attach_close(struct probity_attach *attach);

#endif
