/* SPDX-License-Identifier: MIT
 *
 * top.h: the activity of functions, blocks, locks, threads and processes in the last interval and
 * since the start, while events are still arriving. Rows belong to names, not to traces, so they
 * outlive the readers whose events they sum. Memory: one entry per function, pair of probes, lock
 * and thread. Prints nothing.
 *
 *     reader ──► feed ──┐                        ┌──► interval
 *     reader ──► feed ──┴──► rows by view ──► row ──► all
 */
#ifndef PROBITY_ANSWERS_TOP_TOP_H
#define PROBITY_ANSWERS_TOP_TOP_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/histogram.h"
#include "answers/waits/wait_names.h"
#include "base/hashtable.h"
#include "reader/reader.h"

enum probity_top_view {
    PROBITY_TOP_FUNCTIONS,
    PROBITY_TOP_BLOCKS,
    PROBITY_TOP_LOCKS,
    PROBITY_TOP_THREADS,
    PROBITY_TOP_PROCESSES,
    PROBITY_TOP_VIEWS
};

enum probity_top_key {
    PROBITY_TOP_CALLS,
    PROBITY_TOP_WALL,
    PROBITY_TOP_CPU,
    PROBITY_TOP_OFF,
    PROBITY_TOP_P50,
    PROBITY_TOP_P99,
    PROBITY_TOP_MAX,
    PROBITY_TOP_NAME, /* only for sorting */
    PROBITY_TOP_KEYS
};

/* calls: ended calls, blocks, waits for locks or, for threads and processes, records. Wall time of
 * functions counts only the outermost of recursive calls; that of threads is the time between their
 * records. */
struct probity_top_sums {
    uint64_t calls, wall_ns, cpu_ns, off_ns, max_ns;
    struct probity_histogram durations; /* of functions, blocks and locks */
};

struct probity_top_row {
    struct probity_link link;
    enum probity_top_view view;
    uint32_t pid;      /* of locks, threads and processes; else 0 */
    char *name;        /* from the program */
    char *place;       /* of functions: "file:line"; or NULL */
    int is_cpu_known;
    struct probity_top_sums interval, all;
};

struct probity_top;

/* All other locks share one row. */
enum { PROBITY_TOP_LOCKS_MAX = 4096 };

/* symbols: for names of locks; valid until close. NULL: no waits for locks. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_top_open(const struct probity_wait_symbols *symbols, struct probity_top **ret_top);

/* Begins an interval: resets the interval sums of all rows. */
void probity_top_begin(struct probity_top *top);

/* Returns the rows of a view, sorted by the interval, then by all: largest first, or by name. Valid
 * until the next call for this object. Returns NULL if out of memory. */
struct probity_top_row *const *probity_top_rows(struct probity_top *top, enum probity_top_view view,
                                                enum probity_top_key key, size_t *ret_count);

/* Returns calls or ns; 0 for names. */
uint64_t probity_top_value(const struct probity_top_sums *sums, enum probity_top_key key);

/* Whether the value is known: CPU times may be unrecorded, and threads have no durations. */
int probity_top_is_known(const struct probity_top_row *row, enum probity_top_key key);

/* Return "wall", "off-cpu" ...; "functions" ... */
const char *probity_top_key_name(enum probity_top_key key);
const char *probity_top_view_name(enum probity_top_view view);

void probity_top_close(struct probity_top *top);

/* ---- Feeds: the events of one reader -----------------------------------------------------------
 */

struct probity_top_feed;

/* info: that of the trace. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_top_feed_open(struct probity_top *top, const struct probity_info *info,
                          struct probity_top_feed **ret_feed);

/* From now on, counts only calls, blocks and records that end at or after these times
 * (CLOCK_REALTIME), in intervals and in all; 0: everything. */
void probity_top_feed_limit(struct probity_top_feed *feed, uint64_t interval_from_ns,
                            uint64_t all_from_ns);

/* Takes the next event in time order, from the beginning. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_top_feed_put(struct probity_top_feed *feed, const struct probity_event *event);

/* Takes the current counts of profile mode; their increase since the previous call counts in the
 * interval. Returns 0 or an error of probity_reader_profile(). */
int probity_top_feed_profile(struct probity_top_feed *feed, const struct probity_reader *reader);

void probity_top_feed_close(struct probity_top_feed *feed);

#endif
