/* SPDX-License-Identifier: MIT
 *
 * top.h: what functions, blocks, locks, threads and processes did in the last interval and since
 * the start, while events are still arriving. Rows belong to names, not to traces, so they outlive
 * the readers that fed them. Memory: functions, pairs of probes, locks, and threads. Prints
 * nothing.
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

/* Calls that ended, blocks, waits for locks, or, of threads and processes, records. Wall time of
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

/* Of all other locks there is one row. */
enum { PROBITY_TOP_LOCKS_MAX = 4096 };

/* symbols: for names of locks; valid until close. NULL: no waits for locks are wanted. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_top_open(const struct probity_wait_symbols *symbols, struct probity_top **ret_top);

/* Begins an interval: those of all rows are empty again. */
void probity_top_begin(struct probity_top *top);

/* The rows of a view, sorted by the interval, then by all: largest first, or by name. Valid until
 * the next call for this object. NULL if out of memory. */
struct probity_top_row *const *probity_top_rows(struct probity_top *top, enum probity_top_view view,
                                                enum probity_top_key key, size_t *ret_count);

/* Calls, ns; of names 0. */
uint64_t probity_top_value(const struct probity_top_sums *sums, enum probity_top_key key);

/* Whether the value is known: CPU times may not be recorded, and threads have no durations. */
int probity_top_is_known(const struct probity_top_row *row, enum probity_top_key key);

/* "wall", "off-cpu" ...; "functions" ... */
const char *probity_top_key_name(enum probity_top_key key);
const char *probity_top_view_name(enum probity_top_view view);

void probity_top_close(struct probity_top *top);

/* ---- Feeds: the events of one reader -----------------------------------------------------------
 */

struct probity_top_feed;

/* info: of the trace. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_top_feed_open(struct probity_top *top, const struct probity_info *info,
                          struct probity_top_feed **ret_feed);

/* From now on, only calls, blocks and records that end at or after these times (CLOCK_REALTIME)
 * count, in intervals and in all; 0: everything. */
void probity_top_feed_limit(struct probity_top_feed *feed, uint64_t interval_from_ns,
                            uint64_t all_from_ns);

/* Takes the next event in time order, from the beginning. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_top_feed_put(struct probity_top_feed *feed, const struct probity_event *event);

/* Takes the current counts of profile mode; the difference to the last ones counts in the interval.
 * Returns 0 or an error of probity_reader_profile(). */
int probity_top_feed_profile(struct probity_top_feed *feed, const struct probity_reader *reader);

void probity_top_feed_close(struct probity_top_feed *feed);

#endif
