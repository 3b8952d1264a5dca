/* SPDX-License-Identifier: MIT
 *
 * trace.h: one trace of a reader: its file, its spool's rest, its clock and names, and the front
 * that walks its block headers ahead of the merge.
 */
#ifndef PROBITY_READER_TRACE_H
#define PROBITY_READER_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "reader/clockmap.h"
#include "reader/drops.h"
#include "reader/functions.h"
#include "reader/names.h"
#include "reader/profile.h"
#include "reader/sites.h"
#include "reader/queue.h"
#include "reader/reader.h"
#include "reader/rest.h"
#include "reader/scan.h"
#include "reader/tally.h"

/* Blocks that wait to be handed to the merge. */
struct probity_waiting_list {
    struct probity_waiting *items;
    size_t count, capacity, next;
};

/* Where the late blocks are that are handed on by time. By place and not by number: the front may
 * see blocks that a survey with checksums found damaged. */
struct probity_late_places {
    uint64_t *offsets;
    size_t count, capacity, next;
};

struct probity_trace {
    uint32_t number;
    int file, has_rest, by_wall;
    char *path;
    uint8_t *info_bytes;
    struct probity_trace_facts facts;
    struct probity_rest rest;
    struct probity_scan scan; /* the front */
    struct probity_clockmap own_clock; /* filled as the front goes on */
    struct probity_clockmap *clock;    /* own_clock, or one for all traces that share their ticks */
    struct probity_clockmap surveyed;  /* all anchors; kept only until traces are joined */
    struct probity_names names;
    struct probity_functions functions;
    struct probity_tally tally; /* of a survey */
    struct probity_profile_parts profile;
    struct probity_sites_places sites;
    struct probity_drops drops;
    int has_probe_names;
    struct probity_waiting_list pending; /* read by the front since the last SYNC */
    struct probity_waiting_list extras;  /* late blocks and spool chunks, by tick */
    struct probity_late_places late; /* late blocks among them, in the order of the file */
    uint64_t watermark; /* the newest that the front has passed */
    uint64_t safe_tick; /* no record before it is still to come from the front */
    uint64_t emitted_tick;
    int is_done;        /* the front is at the end */
    int is_followed;    /* the file still grows: src/reader/follow.c */
    int hint_file;      /* the spool, to tell its writer; or -1 */
    uint64_t hinted_ns; /* CLOCK_MONOTONIC: when that was done last */
    /* Newest tick to be shown. Of a live trace: that of the moment before its spool was looked at.
     * Chunks that were opened behind the eye that went over them would leave gaps in what is
     * newer. */
    uint64_t horizon;
};

/* Opens and surveys a trace. Returns as probity_reader_open(). */
int probity_trace_open(const char *path, uint32_t number,
                       const struct probity_reader_options *options,
                       struct probity_trace *ret_trace);

/* Converts by `clock` from now on: an anchor read later adds nothing to it. Sets the facts' times.
 */
void probity_trace_share_clock(struct probity_trace *trace, struct probity_clockmap *clock);

/* Moves the front to the next SYNC or the end, and pushes the blocks that may open by then.
 * Returns 0, PROBITY_READER_WAITS where the file does not go on yet, or an error. */
int probity_trace_advance(struct probity_trace *trace, struct probity_queue *queue);

/* Time of the merge at a tick: ticks, or wall time where the traces do not share a counter. */
static inline uint64_t probity_trace_key(struct probity_trace *trace, uint64_t tick)
{
    return trace->by_wall ? probity_clockmap_wall(trace->clock, tick) : tick;
}

void probity_trace_release(struct probity_trace *trace);

/* Appends. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_waiting_list_add(struct probity_waiting_list *list, const struct probity_waiting *item);

/* Looks at the spool, measures the file and surveys it. Returns 0 or an error. */
int probity_trace_look(struct probity_trace *trace, const struct probity_reader_options *options);

/* In follow.c: has the front stop where its program has written to. Only of a live trace. */
void probity_trace_follow(struct probity_trace *trace);

/* Surveys what has become of a trace that was followed. Returns 0, PROBITY_READER_WAITS where its
 * spool is still held, or an error. */
int probity_trace_conclude(struct probity_trace *trace);

/* At the end of what has been written: returns 0 where there is more now, PROBITY_READER_WAITS
 * where there is not, or an error. Behind the end of the program the rest of its spool is taken,
 * and the trace is no longer followed. */
int probity_trace_follow_on(struct probity_trace *trace);

/* In survey.c: reads the file once and fills facts, the late blocks and what the file takes from
 * the rest. */
int probity_trace_survey(struct probity_trace *trace, const struct probity_reader_options *options);

#endif
