/* SPDX-License-Identifier: MIT
 *
 * log.h: events as lines of a log, in the form of the FnTrace article: thread id, indentation by
 * depth, signature, values, messages, elapsed time and result. Depends on libc, the reader and the
 * analysis: it is part of the library too, which prints the log of its own program. A log belongs
 * to one thread at a time.
 *
 *     4711: int main(int, char **)
 *     4711:   argc = 1
 *     4711:   bool load(const char *)
 *     4711:     name = "a.conf"
 *     4711:     elapsed:  51.203 us (self 51.203 us, cpu 50.900 us)
 *     4711:   return (true)
 *
 * Memory is constant: what threads have open, and at most a stated amount of lines that are held
 * back.
 */
#ifndef PROBITY_OUTPUT_LOG_H
#define PROBITY_OUTPUT_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

enum probity_log_time {
    PROBITY_LOG_TIME_NONE = 0,
    PROBITY_LOG_TIME_RELATIVE = 1, /* seconds since start_ns */
    PROBITY_LOG_TIME_WALL = 2      /* date and local time of day */
};

enum { PROBITY_LOG_LEVEL_ALL = 256 };

/* What is zero is not asked for, but for level_max. */
struct probity_log_options {
    enum probity_log_time time;
    uint64_t start_ns;
    int by_thread;  /* one thread after another; lines wait in a temporary file until the end */
    int has_pids;   /* PID/TID: in place of TID: */
    int has_probes; /* hits of probes and sites too */
    int has_colour;
    int level_max;            /* functions declared up to this level; PROBITY_LOG_LEVEL_ALL */
    uint32_t depth_max;       /* so many scopes inside each other */
    uint64_t from_ns;         /* only what happened from then on */
    uint64_t duration_ns_min; /* only scopes that lasted so long */
    int is_part; /* events end before the trace does: what is open then is no repair */
    const char *const *functions; /* patterns of names: only these functions and what they call */
    size_t function_count;
    /* Full signature of a function that the trace has none of, or NULL. May itself be NULL. */
    const char *(*signature)(void *context, const struct probity_function *function);
    void *context;
};

struct probity_log_counts {
    uint64_t lines; /* held back or not */
    uint64_t unwound, orphans, open, pauses_unmatched, resumes_unmatched; /* scope repairs */
    uint64_t named;      /* scopes of functions that a pattern names */
    uint64_t held_shown; /* scopes shown though perhaps too short: too much to hold back */
};

struct probity_log;

/* Starts output to an open descriptor, which stays the caller's. reader: where the events come
 * from, for the facts of its traces. options and what they point to must stay. Returns 0,
 * PROBITY_ERROR_MEMORY, or PROBITY_ERROR_OPEN (errno set) without a temporary file. */
int probity_log_open(int descriptor, const struct probity_reader *reader,
                     const struct probity_log_options *options, struct probity_log **ret_log);

/* Takes the next event in time order. Returns 0, PROBITY_ERROR_MEMORY, or, with errno set,
 * PROBITY_ERROR_WRITE, or PROBITY_ERROR_SYSTEM of a temporary file. */
int probity_log_put(struct probity_log *log, const struct probity_event *event);

/* Writes what is buffered: whole lines. Returns as put. */
int probity_log_flush(struct probity_log *log);

/* Closes what is open, and writes everything. Returns as put. */
int probity_log_finish(struct probity_log *log);

struct probity_log_counts probity_log_counts(const struct probity_log *log);

void probity_log_close(struct probity_log *log);

#endif
