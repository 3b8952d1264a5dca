/* SPDX-License-Identifier: MIT
 *
 * trace.h: one trace of a reader: its file, the tail in its spool, its clock and names, and the
 * scan cursor, which reads block headers ahead of the merge.
 */
#ifndef PROBITY_READER_TRACE_H
#define PROBITY_READER_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "reader/clockmap.h"
#include "reader/drops.h"
#include "reader/functions.h"
#include "reader/index.h"
#include "reader/lanes.h"
#include "reader/names.h"
#include "reader/profile.h"
#include "reader/sites.h"
#include "reader/switched.h"
#include "reader/queue.h"
#include "reader/reader.h"
#include "reader/spool_tail.h"
#include "reader/scan.h"
#include "reader/sched.h"
#include "reader/hit_count.h"

/* Returns whether the block is in TRACE.sched. A chunk of the spool (bytes 0) has an index instead
 * of an offset. */
static inline int probity_waiting_is_in_sched(const struct probity_waiting *waiting)
{
    return waiting->bytes != 0 && (waiting->offset & PROBITY_WAITING_IN_INDEX) == 0 &&
           (waiting->offset & PROBITY_WAITING_IN_SCHED) != 0;
}

/* Blocks waiting to be passed to the merge. */
struct probity_waiting_list {
    struct probity_waiting *items;
    size_t count, capacity, next;
};

/* Offsets of the late blocks that are passed on by time. They are identified by offset, not by
 * number, because the scan cursor may find blocks that a prescan with checksums found to be
 * damaged. */
struct probity_late_places {
    uint64_t *offsets;
    size_t count, capacity, next;
};

struct probity_trace {
    uint32_t number;
    struct probity_range range; /* range of its bytes */
    int has_rest, by_wall;
    char *path;
    uint8_t *info_bytes;
    uint8_t *dump; /* payload of the DUMP block, or NULL */
    struct probity_trace_facts facts;
    struct probity_spool_tail rest;
    struct probity_scan scan; /* the scan cursor */
    struct probity_clockmap own_clock; /* filled as the scan cursor advances */
    struct probity_clockmap *clock;    /* own_clock, or shared by all traces with the same ticks */
    struct probity_clockmap prescanned; /* all anchors; kept until traces are joined, or as the
                                         * clock of a trace with an index */
    struct probity_names names;
    struct probity_functions functions;
    struct probity_switched_sites switched;
    uint64_t removed_functions, counted_hits; /* sums of the events read so far */
    struct probity_hit_count tally; /* from a prescan */
    struct probity_profile_parts profile;
    struct probity_sites_places sites;
    struct probity_drops drops;
    struct probity_lanes lanes; /* if requested */
    uint32_t lane; /* read only the blocks of this lane; 0: all */
    const struct probity_threads_seen *wanted; /* read blocks only of threads not past; NULL: all */
    int has_unmarked_events; /* there are events in a block whose header states that it has none */
    struct probity_index index; /* file -1: none */
    struct probity_clockmap state_clock; /* a copy of *clock for the state of waits, used by another
                                          * thread than the merge */
    struct probity_sched_file sched; /* file -1: none */
    int has_probe_names;
    struct probity_waiting_list pending; /* read by the scan cursor since the last SYNC */
    struct probity_waiting_list extras;  /* late blocks and spool chunks, by tick */
    struct probity_late_places late; /* late blocks among them, in file order */
    uint64_t watermark; /* the latest watermark that the scan cursor has passed */
    uint64_t safe_tick; /* the scan cursor will find no more records before it */
    uint64_t emitted_tick;
    int is_done;        /* the scan cursor is at the end */
    int is_settled;     /* as in struct probity_reader_options */
    int is_followed;    /* the file is still growing: src/reader/follow.c */
    int hint_file;      /* the spool, for notifying its writer; or -1 */
    uint64_t hinted_ns; /* CLOCK_MONOTONIC at the last notification */
    /* Records with later ticks are not returned. For a live trace, this is the tick just before its
     * spool was scanned: chunks opened after the snapshot scanned them would leave gaps in newer
     * records. */
    uint64_t horizon;
};

/* Opens and prescans a trace. Returns the same as probity_reader_open(). */
int probity_trace_open(const char *path, uint32_t number,
                       const struct probity_reader_options *options,
                       struct probity_trace *ret_trace);

/* Uses `clock` for conversions from now on; later anchors are not added to it. Sets the times in
 * the facts.
 */
void probity_trace_share_clock(struct probity_trace *trace, struct probity_clockmap *clock);

/* Advances the scan cursor to the next SYNC or the end, and pushes the blocks that may open by
 * then. Returns 0, PROBITY_READER_WAITS if the file has no more data yet, or an error. */
int probity_trace_advance(struct probity_trace *trace, struct probity_queue *queue);

/* Returns the merge time at a tick: ticks, or wall time if the traces do not share a counter. */
static inline uint64_t probity_trace_key(struct probity_trace *trace, uint64_t tick)
{
    return trace->by_wall ? probity_clockmap_wall(trace->clock, tick) : tick;
}

/* Counts a damaged place of the file. */
static inline void probity_trace_note_damage(struct probity_trace *trace, uint64_t offset,
                                             uint64_t bytes)
{
    if (trace->facts.damages++ == 0)
        trace->facts.damage_offset = offset;
    trace->facts.damaged_bytes += bytes;
}

void probity_trace_release(struct probity_trace *trace);

/* Appends a block. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_waiting_list_add(struct probity_waiting_list *list, const struct probity_waiting *item);

/* For qsort: by tick, then by offset. */
int probity_waiting_compare(const void *left, const void *right);

/* Gets the size and the identity of the file. Returns 0 or PROBITY_ERROR_READ. */
int probity_trace_measure(struct probity_trace *trace);

/* Passes the blocks of TRACE.sched to the merge by time, like late blocks. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_trace_add_sched_blocks(struct probity_trace *trace);

/* Scans the spool, gets the size of the file and prescans it. Returns 0 or an error. */
int probity_trace_look(struct probity_trace *trace, const struct probity_reader_options *options);

/* Repeats the prescan of a trace that was followed. Returns 0, PROBITY_READER_WAITS if its spool is
 * still locked, or an error. This and the next function are in follow.c. */
int probity_trace_conclude(struct probity_trace *trace);

/* Call at the end of what has been written. Returns 0 if there is more now, PROBITY_READER_WAITS if
 * not, or an error. Once the program has ended, reads the tail in its spool, and no longer follows
 * the trace. */
int probity_trace_follow_on(struct probity_trace *trace);

/* Starts at the mark that the index has chosen. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_trace_start_at_mark(struct probity_trace *trace, struct probity_queue *queue);

/* Ends the scan cursor, and pushes the remaining declarations. is_at_start: all of them, since none
 * has been read. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_trace_skip_rest(struct probity_trace *trace, int is_at_start,
                            struct probity_queue *queue);

/* Reads the file once; fills in the facts and the late blocks, and removes words that are in the
 * file from the tail. In prescan.c. */
int probity_trace_prescan(struct probity_trace *trace,
                          const struct probity_reader_options *options);

/* The same, using the index of the trace. */
int probity_trace_prescan_index(struct probity_trace *trace);

#endif
