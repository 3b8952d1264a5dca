/* SPDX-License-Identifier: MIT
 *
 * log.h: prints events as lines of a log, in the format of the FnTrace article: thread id,
 * indentation by depth, signature, values, messages, elapsed time and result. Depends only on libc,
 * the reader and the analysis, because the library also uses it to print the log of its program.
 * For use by one thread at a time.
 *
 *     4711: int main(int, char **)
 *     4711:   argc = 1
 *     4711:   bool load(const char *)
 *     4711:     name = "a.conf"
 *     4711:     elapsed:  51.203 us (self 51.203 us, cpu 50.900 us)
 *     4711:   return (true)
 *
 * Memory: open scopes of threads, and a bounded amount of lines held back.
 */
#ifndef PROBITY_LOG_LOG_H
#define PROBITY_LOG_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

enum probity_log_time {
    PROBITY_LOG_TIME_NONE = 0,
    PROBITY_LOG_TIME_RELATIVE = 1, /* seconds since start_ns */
    PROBITY_LOG_TIME_WALL = 2      /* date and local time of day */
};

enum { PROBITY_LOG_LEVEL_ALL = 256 };

/* 0 means not requested, except in level_max. */
struct probity_log_options {
    enum probity_log_time time;
    uint64_t start_ns;
    int by_thread;  /* thread by thread; lines wait in a temporary file until the end */
    int has_pids;   /* prints PID/TID: instead of TID: */
    int has_probes; /* also prints hits */
    int has_color;
    int level_max;            /* prints only functions up to this level; PROBITY_LOG_LEVEL_ALL:
                               * all */
    uint32_t depth_max;       /* maximum nesting of scopes */
    uint64_t lines_max;       /* maximum number of lines; later ones are left out */
    uint64_t from_ns;         /* only events at this time or later */
    uint64_t duration_ns_min; /* only scopes that lasted this long or longer */
    int is_part; /* events stop early, so open scopes are not reported as repaired */
    const char *const *functions; /* only functions that match a pattern, and their callees */
    size_t function_count;
    /* Returns the full signature of a function that has none in the trace, or NULL. May be NULL
     * itself. */
    const char *(*signature)(void *context, const struct probity_function *function);
    void *context;
};

struct probity_log_counts {
    uint64_t lines; /* number of lines, including those held back */
    uint64_t unwound, orphans, open, pauses_unmatched, resumes_unmatched; /* repairs of scopes */
    uint64_t named;      /* scopes whose function matches a pattern */
    uint64_t held_shown; /* printed although perhaps too short, because too much was held back */
};

struct probity_log;

/* Starts output to an open descriptor, which the caller still owns. reader: the source of the
 * events, for the facts of its traces. The options, and everything that they point to, must stay
 * valid. Returns 0, PROBITY_ERROR_MEMORY, or PROBITY_ERROR_OPEN (errno set) if a temporary file
 * cannot be created. */
int probity_log_open(int descriptor, const struct probity_reader *reader,
                     const struct probity_log_options *options, struct probity_log **ret_log);

/* Takes the next event in time order. Returns 0, PROBITY_ERROR_MEMORY, or, with errno set,
 * PROBITY_ERROR_WRITE, or PROBITY_ERROR_SYSTEM for a temporary file. */
int probity_log_put(struct probity_log *log, const struct probity_event *event);

/* Writes buffered lines, always whole ones. Returns the same as put. */
int probity_log_flush(struct probity_log *log);

enum { PROBITY_LOG_FULL = 1, PROBITY_LOG_CUT = 2 };

/* Results of flush and finish: FULL if lines_max lines were written, and CUT if there were more. */
int probity_log_is_full(const struct probity_log *log);

/* Closes open scopes and writes the rest. Returns the same as put. */
int probity_log_finish(struct probity_log *log);

struct probity_log_counts probity_log_counts(const struct probity_log *log);

void probity_log_close(struct probity_log *log);

#endif
