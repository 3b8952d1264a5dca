/* SPDX-License-Identifier: MIT
 *
 * dump_chunks.h: the chunks of a dump of this process. For the writer thread.
 */
#ifndef PROBITY_WRITER_DUMP_CHUNKS_H
#define PROBITY_WRITER_DUMP_CHUNKS_H

#include "writer/dump_file.h"
#include "writer/pass.h"

/* Chunks with records of the window, pinned until they are written, and the rest of a dump's
 * content. */
struct probity_dump_chunks {
    struct probity_pass *pass;
    struct probity_drain_input *inputs; /* one mapping, for both lists */
    uint32_t *numbers;                  /* numbers of the chunks in the pool */
    size_t bytes;
    uint32_t capacity, unpinned;
    int is_partial; /* a chunk is missing because it was just being handed over */
    /* Highest serial of an included chunk. A chunk that a thread opens after its open chunk was
     * read is left out, because records between the two would be missing. */
    uint64_t newest;
    struct probity_spool_anchor anchors[PROBITY_SPOOL_ANCHORS + 1];
    struct probity_dump_content content; /* without `dump` and reasons */
};

/* Examines all chunks as a pass does, and pins those with records that may be as new as `from`.
 * Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_dump_chunks_pin(struct probity_dump_chunks *ret_chunks, struct probity_pass *pass,
                            uint64_t from);

void probity_dump_chunks_release(struct probity_dump_chunks *chunks);

#endif
