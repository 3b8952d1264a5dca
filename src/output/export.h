/* SPDX-License-Identifier: MIT
 *
 * export.h: events to the formats of other tools. What formats share is here: the run over scopes,
 * the range of times, the table of threads, what is counted, and a buffered output. A format is one
 * struct probity_exporter in one file export_FORMAT.c, which depends on nothing but this interface.
 *
 *     events ──► range ──► scopes ──► opened, closed ──► exporter ──► buffer ──► descriptor
 *                   └─────────────────────► event ──────────┘    └──► file or folder of its own
 *
 * Memory is constant: threads, what they have open, and what the exporter says of itself. Belongs
 * to one thread at a time. Prints nothing.
 */
#ifndef PROBITY_OUTPUT_EXPORT_H
#define PROBITY_OUTPUT_EXPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/scopes.h"
#include "output/log_write.h"
#include "reader/reader.h"

/* What an exporter writes to. */
enum probity_export_target {
    PROBITY_EXPORT_STREAM = 1, /* bytes in order, a pipe too: `out` */
    PROBITY_EXPORT_FILE = 2,   /* a file by its name, which is there and empty: `path` */
    PROBITY_EXPORT_FOLDER = 3  /* likewise a folder */
};

/* What a format can hold; the rest is counted as left out. */
enum probity_export_carries {
    PROBITY_EXPORT_SCOPES = 1,
    PROBITY_EXPORT_HITS = 2,
    PROBITY_EXPORT_VALUES = 4, /* parameters, return values, messages, checkpoints */
    PROBITY_EXPORT_PROFILE = 8 /* what profile mode has counted */
};

/* What the numbers of a format that sums up are. */
enum probity_export_value {
    PROBITY_EXPORT_WALL,
    PROBITY_EXPORT_CPU,
    PROBITY_EXPORT_OFF_CPU, /* wall less CPU time */
    PROBITY_EXPORT_CALLS
};

enum probity_export_graph { PROBITY_EXPORT_CALL_GRAPH, PROBITY_EXPORT_BLOCK_GRAPH };

/* Zeroed: everything, wall time. */
struct probity_export_options {
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: what begins in [from, to); both 0: all */
    enum probity_export_value value;
    enum probity_export_graph graph;
    int by_thread;
};

/* A thread of a trace. Stays where it is until the end. */
struct probity_export_thread {
    uint32_t slot, trace, thread, tid, pid;
    char *name; /* the newest, ended by a zero; NULL without */
    void *user; /* the exporter's, NULL at first; freed with free() */
};

struct probity_export_counts {
    uint64_t scopes, hits, events; /* in the range. events: with values */
    uint64_t left_out[4];          /* of these, and of calls counted in profile mode */
    uint64_t shortened;            /* paths that lack levels: see output/tree_text.h */
};

/* What an exporter works with. */
struct probity_export {
    const struct probity_reader *reader; /* for the facts of its traces */
    const struct probity_export_options *options;
    uint64_t start_ns; /* no time is earlier: mostly the beginning of the earliest trace */
    struct log_writer out; /* of a STREAM. Room for LOG_LINE_BYTES_MAX before each call */
    const char *path;      /* of a FILE or FOLDER */
    int (*requested)(void *context); /* of the call; see probity_export_request_end() */
    void *context;
    void *state;           /* state_bytes of the exporter, zeroed at first */
    struct probity_export_thread **threads; /* by slot; NULL: not seen yet */
    uint32_t thread_count;
    struct probity_export_counts counts;
    const struct probity_scopes_repairs *repairs; /* NULL: the exporter knows them */
    int error, error_number; /* kept: what is told behind it comes to nothing */
};

/* A format. Functions may be NULL. */
struct probity_exporter {
    const char *name;
    enum probity_export_target target;
    const char *content_type; /* of requests that a server takes over HTTP; NULL: has none */
    const char *const *files; /* of a FOLDER: the names of its files, NULL behind the last */
    unsigned carries;        /* enum probity_export_carries */
    int has_all;             /* 1: `event` is told of all events, whatever the range */
    unsigned values;         /* which enum probity_export_value, as bits; 0: no option */
    int has_threads;         /* 1: the option `by_thread` does */
    int has_graphs;          /* 1: the option `graph` does */
    int has_chains;          /* 1: `out` keeps what is poured into queues of the exporter's own */
    size_t state_bytes;
    /* Before the first event. Returns 0 or an error, errno set where it is of the system. */
    int (*begin)(struct probity_export *export);
    /* A scope that begins in the range: as probity_scopes_listener. Without both, no scopes are
     * made. A scope's `user` is the exporter's. */
    void (*opened)(struct probity_export *export, struct probity_export_thread *thread,
                   struct probity_scope *scope, const struct probity_event *event);
    void (*closed)(struct probity_export *export, struct probity_export_thread *thread,
                   const struct probity_scope *scope, enum probity_scope_end how,
                   const struct probity_event *event);
    /* Any event in the range, ENTER and LEAVE too, behind what it opened and closed; and each
     * THREAD_NAME, PROBE_NAME, SITE, FUNCTION and FORMAT. */
    void (*event)(struct probity_export *export, struct probity_export_thread *thread,
                  const struct probity_event *event);
    /* A row of profile mode, behind all events. */
    void (*profiled)(struct probity_export *export, const struct probity_profiled *profiled);
    /* Behind all else; `out` is flushed then. As begin. */
    int (*end)(struct probity_export *export);
    /* In any case. */
    void (*release)(struct probity_export *export);
};

/* Each in its own file. */
extern const struct probity_exporter probity_exporter_callgrind, probity_exporter_chrome,
    probity_exporter_ctf, probity_exporter_folded, probity_exporter_graphviz,
    probity_exporter_otlp, probity_exporter_otlp_json, probity_exporter_perfetto,
    probity_exporter_pprof, probity_exporter_speedscope, probity_exporter_sqlite;

struct probity_export_run;

struct probity_export_call {
    const struct probity_exporter *exporter;
    const struct probity_reader *reader;
    const struct probity_export_options *options;
    int descriptor;   /* of a STREAM; stays the caller's */
    const char *path; /* of a FILE or FOLDER */
    /* Of a format with requests: each is written whole when this is called. Returns 0, or an error,
     * which ends the run. NULL: requests follow each other. */
    int (*requested)(void *context);
    void *context;
};

/* What the call points to must stay. Returns 0, PROBITY_ERROR_MEMORY, or what begin returned. */
int probity_export_open(const struct probity_export_call *call,
                        struct probity_export_run **ret_run);

/* Takes the next event in time order, from the beginning. Returns 0, PROBITY_ERROR_MEMORY, or, with
 * errno set, PROBITY_ERROR_WRITE. */
int probity_export_put(struct probity_export_run *run, const struct probity_event *event);

/* A row of profile mode; behind all events. As put. */
int probity_export_put_profiled(struct probity_export_run *run,
                                const struct probity_profiled *profiled);

/* Closes what is open and writes what is left. As put. */
int probity_export_finish(struct probity_export_run *run);

/* Valid until close. repairs may be NULL in it. */
const struct probity_export *probity_export_look(const struct probity_export_run *run);

void probity_export_close(struct probity_export_run *run);

/* ---- For exporters -----------------------------------------------------------------------------
 */

/* Keeps the first error, with errno. */
void probity_export_fail(struct probity_export *export, int error);

/* Puts any number of bytes into `out`, and leaves room as before. */
void probity_export_write(struct probity_export *export, const char *bytes, size_t count);

/* A request is whole. */
void probity_export_request_end(struct probity_export *export);

/* For what is written at the end only: a stream to where `out` goes. NULL without memory. */
FILE *probity_export_stream_open(struct probity_export *export);

/* Returns 0, or PROBITY_ERROR_WRITE with errno set. */
int probity_export_stream_close(FILE *stream);

enum { PROBITY_EXPORT_LACK_BYTES = 4608 }; /* a path and words */

/* What a trace lacks, in words, for formats that tell no events but sums. Returns 1, or 0 where it
 * is complete. Damage is known behind all events only. Any bytes: see output/text.h. */
int probity_export_lack(const struct probity_export *export, size_t trace,
                        char ret_text[PROBITY_EXPORT_LACK_BYTES]);

/* Name of a function, in C++ with its classes; "site-N" (in ret_text) where its declaration is
 * lost. Any bytes: see output/text.h. */
const char *probity_export_function_name(const struct probity_function *function, uint32_t number,
                                         char ret_text[32], size_t *ret_bytes);

/* Name of what was hit: of the site or probe, or "site-N", or the probe's number. Likewise. */
const char *probity_export_hit_name(const struct probity_event *event, char ret_text[32],
                                    size_t *ret_bytes);

/* When a scope ended, CLOCK_REALTIME, and the CPU time then. */
static inline struct probity_scope_time probity_export_leave(const struct probity_scope *scope)
{
    return (struct probity_scope_time){scope->enter_wall_ns + scope->elapsed.wall_ns,
                                       scope->enter_cpu_ns + scope->elapsed.cpu_ns};
}

#endif
