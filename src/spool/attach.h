/* SPDX-License-Identifier: MIT
 *
 * attach.h: the spool of another process, mapped for reading, whose owner is alive or dead. All
 * contents are untrusted: checked values are kept in struct probity_attach and never read from the
 * mapping again.
 */
#ifndef PROBITY_SPOOL_ATTACH_H
#define PROBITY_SPOOL_ATTACH_H

#include <stddef.h>
#include <stdint.h>

#include "base/sigbus_guard.h"
#include "spool/cells.h"
#include "spool/layout.h"
#include "spool/place.h"

struct probity_attach_segment {
    void *map;
    size_t bytes;
    uint32_t chunks, chunk_words;
    struct probity_sigbus_guard watch;
};

struct probity_attach {
    int file; /* segment 0 */
    struct probity_place place;
    struct probity_attach_segment *segments;
    uint32_t segment_count, chunk_words;
    uint64_t chunk_count; /* number of chunks in all segments */
};

/* The description in a chunk's header, copied and checked. */
struct probity_attach_chunk {
    uint32_t state, thread, tid;
    uint32_t end;     /* number of words to scan: `used` of a full chunk, all of an open one */
    uint32_t drained; /* at most end */
    uint64_t serial, base_tick, cpu_ns;
    int cpu_known;
    int is_held; /* the trace has all words except those of the record at `drained` */
    const uint64_t *words; /* points into the mapping */
};

/* The trace whose spool is requested. */
struct probity_attach_query {
    struct probity_place_query place;
    const uint8_t *boot;
    uint64_t trace_device, trace_inode;
    int writable;     /* allows taking the lock and storing the state (recover) */
    int takes_copies; /* also accept a trace that is not the file its program wrote */
};

/* Finds and maps the spool of a trace. Returns 0; PROBITY_ERROR_OPEN if there is none in any of the
 * places searched (errno: ENOENT, or EACCES if there is one of another user); PROBITY_ERROR_FORMAT,
 * PROBITY_ERROR_VERSION, PROBITY_ERROR_DAMAGED if the one found does not belong to this trace;
 * PROBITY_ERROR_MEMORY, PROBITY_ERROR_SYSTEM. *ret_is_copy, which may be NULL: whether a spool of
 * this session exists that belongs to another file. */
int probity_attach_find(const struct probity_attach_query *query, int *ret_is_copy,
                        struct probity_attach *ret_attach);

/* Maps the spool at a known place. On success the attachment owns the place. Returns the same as
 * above; errno is set for PROBITY_ERROR_OPEN. */
int probity_attach_open(struct probity_place *place, const uint8_t session[16],
                        const uint8_t boot[16], int writable, struct probity_attach *ret_attach);

/* Returns whether the numbers that were checked when the spool was mapped are consistent. */
int probity_attach_is_valid(const struct probity_attach *attach);

/* Returns segment 0's header. Its fields may change at any time in a live spool: load each once. */
const struct probity_spool_header *probity_attach_header(const struct probity_attach *attach);

/* State of the program that created the spool, according to the locks. */
enum probity_attach_owner {
    PROBITY_ATTACH_DEAD,    /* it has ended, or stopped recording: the spool may be recovered */
    PROBITY_ATTACH_ALIVE,
    PROBITY_ATTACH_RECOVERING,  /* dead, and another tool is recovering the spool */
    PROBITY_ATTACH_UNKNOWN  /* could not take its lock, or the lock cannot be queried */
};
enum probity_attach_owner probity_attach_owner(const struct probity_attach *attach);

/* Returns whether the spool and its trace may still change: 1, or 0 if the owner is dead. */
int probity_attach_is_alive(const struct probity_attach *attach);

/* Returns whether a process is moving records from this spool to its trace: 1 or 0. */
int probity_attach_has_drainer(const struct probity_attach *attach);

/* Reads the chunk with this index, 0 to chunk_count - 1. Returns 1, or 0 if it is free or
 * invalid. */
int probity_attach_chunk(const struct probity_attach *attach, uint64_t index,
                         struct probity_attach_chunk *ret_chunk);

/* Returns 1 if the chunk is unchanged since it was returned, 0 if it was freed or reused. Call
 * after reading words. */
int probity_attach_chunk_stands(const struct probity_attach *attach, uint64_t index,
                                const struct probity_attach_chunk *chunk);

/* Reads the cells in the chunk with this index. Returns 1, or 0 if it is not a chunk of cells. */
int probity_attach_cells(const struct probity_attach *attach, uint64_t index,
                         struct probity_cells *ret_cells);

/* Returns whether the tool has found the spool truncated since it was mapped: 1 or 0. */
int probity_attach_is_cut(const struct probity_attach *attach);

/* Locks a dead spool for recovery; waits briefly for a program that is just ending. Returns 0, or
 * PROBITY_ERROR_STATE with the owner found. Requires `writable`. */
int probity_attach_lock(const struct probity_attach *attach, enum probity_attach_owner *ret_owner);

/* Marks the spool as closed and removes its files: regular files of its owner, in its place, with
 * the names of its segments. Requires the locks. Returns 0 or PROBITY_ERROR_WRITE. */
int probity_attach_retire(const struct probity_attach *attach);

/* Unmaps the spool and releases the locks. */
void probity_attach_close(struct probity_attach *attach);

#endif
