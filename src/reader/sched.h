/* SPDX-License-Identifier: MIT
 *
 * sched.h: TRACE.sched, the thread states of a trace (doc/sched.md). All input is untrusted: a file
 * that does not match its trace, or is incomplete, is ignored.
 */
#ifndef PROBITY_READER_SCHED_H
#define PROBITY_READER_SCHED_H

#include <stddef.h>
#include <stdint.h>

#include "format/sched.h"
#include "reader/index.h"
#include "reader/range.h"

/* A DATA block of the file. */
struct probity_sched_block {
    uint64_t offset, first_tick;
    uint32_t bytes, thread;
};

/* range.file is -1 if there is no such file. */
struct probity_sched_file {
    struct probity_range range;
    struct probity_sched_info info;
    struct probity_sched_block *blocks; /* in order of first_tick */
    size_t count, capacity;
    uint32_t info_checksum; /* checksum in the first block */
    int is_of_index;        /* 1: the blocks are those listed in the index */
};

/* Takes ownership of the descriptor of a file if the file is complete and belongs to this session.
 * Otherwise closes it. Returns 1, 0 if it cannot be used, or PROBITY_ERROR_MEMORY. */
int probity_sched_file_open(struct probity_sched_file *sched, const struct probity_range *range,
                            const uint8_t session[16]);

/* The same without reading the blocks, if the index lists those of this file. They may be damaged.
 * Returns the same, but leaves the descriptor open unless it returns 1. */
int probity_sched_file_open_listed(struct probity_sched_file *sched,
                                   const struct probity_range *range, const uint8_t session[16],
                                   const struct probity_index *index);

/* Checks the payload of a DATA block of such a file. Returns its number of events, or
 * PROBITY_ERROR_DAMAGED. */
int64_t probity_sched_block_check(const uint8_t *payload, size_t bytes);

/* Drops blocks that do not affect the states from a tick on: those followed by a later block of the
 * same thread that begins at or before that tick. */
void probity_sched_file_start_at(struct probity_sched_file *sched, uint64_t tick);

void probity_sched_file_release(struct probity_sched_file *sched);

#endif
