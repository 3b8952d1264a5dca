/* SPDX-License-Identifier: MIT
 *
 * lanes.h: divides the threads of traces into two lanes with similar numbers of records, for two
 * readers that read the same traces at the same time, each for the records of one lane. Only for
 * closed traces without damage, which cannot change meanwhile.
 *
 *     threads   1 ████████   2 ███   3 ███████   4 ██
 *     lane 1    1 ████████   2 ███
 *     lane 2                         3 ███████   4 ██
 *
 * A block with any event other than a hit, enter or leave of one word is read in both lanes,
 * because it may have declarations, which concern all threads.
 */
#ifndef PROBITY_READER_LANES_H
#define PROBITY_READER_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "reader/threads.h"

struct probity_trace;

struct probity_lane_thread {
    uint64_t records;
    uint32_t lane;    /* 1 or 2; 0: not divided yet */
};

/* The lanes of one trace. All zero: not prepared. */
struct probity_lanes {
    struct probity_threads_seen threads;
    struct probity_lane_thread *items; /* by slot */
    uint32_t capacity;
    uint64_t shared; /* records in blocks that both lanes read */
};

/* Counts the records of a block. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_lanes_add(struct probity_lanes *lanes, const struct probity_data *data);

/* Divides the threads. Returns 1, 0 if two lanes would not be faster than one with a second thread
 * that reads ahead, or PROBITY_ERROR_MEMORY. */
int probity_lanes_divide(struct probity_trace *traces, size_t count);

/* Whether a block, or the records of its thread, are in a lane: 1 or 0. */
int probity_lanes_have(struct probity_lanes *lanes, uint32_t lane, uint32_t thread);

void probity_lanes_release(struct probity_lanes *lanes);

#endif
