/* SPDX-License-Identifier: MIT
 *
 * export.h: exports events to the formats of other tools. Shared by all formats: scopes, the time
 * range, the table of threads, counts, and a buffered output. A format is one struct
 * probity_exporter in one file export_FORMAT.c, which depends only on this interface.
 *
 *     events ──► range ──► scopes ──► opened, closed ──► exporter ──► buffer ──► descriptor
 *                   └─────────────────────► event ──────────┘    └──► file or directory
 *
 * Memory: threads and their open scopes, plus the amount given in the exporter's file; independent
 * of the length of the trace. For use by one thread at a time. Writes only to the destination.
 */
#ifndef PROBITY_EXPORTS_EXPORT_H
#define PROBITY_EXPORTS_EXPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/scopes.h"
#include "log/log_write.h"
#include "reader/reader.h"

/* Destination of an exporter. */
enum probity_export_target {
    PROBITY_EXPORT_STREAM = 1, /* bytes in order, may be a pipe: `out` */
    PROBITY_EXPORT_FILE = 2,   /* a named file, existing and empty: `path` */
    PROBITY_EXPORT_DIRECTORY = 3  /* a named directory, existing and empty: `path` */
};

/* Contents that a format can represent; other contents are counted as left out. */
enum probity_export_carries {
    PROBITY_EXPORT_SCOPES = 1,
    PROBITY_EXPORT_HITS = 2,
    PROBITY_EXPORT_VALUES = 4, /* values: parameters, return values, messages, checkpoints */
    PROBITY_EXPORT_PROFILE = 8 /* counts of profile mode */
};

/* A known thread state from the scheduler, which has ended. */
struct probity_export_state {
    uint64_t from_ns, ns; /* CLOCK_REALTIME; its length */
    uint32_t state;       /* enum probity_sched_state: RUNNING, RUNNABLE or BLOCKED */
    uint32_t cpu;         /* if RUNNING */
    uint32_t waker;       /* if RUNNABLE: id of the thread that woke it, or 0 */
};

/* The quantity that a format adds up. */
enum probity_export_value {
    PROBITY_EXPORT_WALL,
    PROBITY_EXPORT_CPU,
    PROBITY_EXPORT_OFF_CPU, /* wall time minus CPU time */
    PROBITY_EXPORT_CALLS
};

enum probity_export_graph { PROBITY_EXPORT_CALL_GRAPH, PROBITY_EXPORT_BLOCK_GRAPH };

/* All zero: everything, with wall time. */
struct probity_export_options {
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: what begins in [from, to); both 0: all */
    enum probity_export_value value;
    enum probity_export_graph graph;
    int by_thread;
    int of_blocks; /* blocks instead of scopes, for formats that can represent only one of them */
    int is_gzip;   /* compress, for formats with has_gzip */
};

/* A thread of a trace. Its address is stable until the end. */
struct probity_export_thread {
    uint32_t slot, trace, thread, tid, pid;
    char *name; /* the latest, zero-terminated; NULL: none */
    void *user; /* set by the exporter, initially NULL; freed with free() */
};

struct probity_export_counts {
    uint64_t scopes, hits, events; /* those in the range. events: with values */
    uint64_t states;               /* thread states that begin in the range */
    uint64_t left_out[5];          /* of these, and 3: calls counted in profile mode */
    uint64_t shortened;            /* paths with levels left out: see answers/tree/tree_print.h */
    uint64_t queue_hits;   /* hits of queues beyond the maximum number of counters */
    uint64_t station_hits; /* of queues, locks and requests beyond those of `probity model` */
};

/* State available to an exporter. */
struct probity_export {
    const struct probity_reader *reader; /* source of the facts about the traces */
    const struct probity_export_options *options;
    uint64_t start_ns; /* lower bound of all times: usually the start of the earliest trace */
    struct log_writer out; /* for a STREAM. Has room for LOG_LINE_BYTES_MAX before each call */
    const char *path;      /* for a FILE or DIRECTORY */
    int (*requested)(void *context); /* see probity_export_call and probity_export_request_end() */
    void *context;
    struct export_gzip *gzip; /* NULL: not compressed */
    void *state;           /* state_bytes of the exporter, zeroed at first */
    struct probity_export_thread **threads; /* by slot; NULL: not seen yet */
    uint32_t thread_count;
    struct probity_export_counts counts;
    int is_of_blocks; /* set by an exporter that has written blocks instead of scopes */
    const struct probity_scopes_repairs *repairs; /* NULL: the exporter tracks them */
    int error, error_number; /* sticky: later events are ignored */
};

/* A format. Functions may be NULL. */
struct probity_exporter {
    const char *name;
    const char *missing; /* the library that the format requires but the build lacks; NULL: none */
    enum probity_export_target target;
    const char *content_type; /* for requests to an HTTP server; NULL: not supported */
    const char *const *files; /* for a DIRECTORY: the names of its files, ending with NULL */
    unsigned carries;        /* bits of enum probity_export_carries */
    int has_declarations;    /* 1: writes each declaration once, so the whole trace is read */
    int has_all;             /* 1: `event` is called for all events, regardless of the range */
    unsigned values;         /* bits of the supported enum probity_export_value; 0: no option */
    int has_threads;         /* 1: supports the option `by_thread` */
    int has_graphs;          /* 1: supports the option `graph` */
    int has_blocks;          /* 1: supports the option `of_blocks` */
    int has_gzip;            /* 1: readers of the format accept it compressed by gzip */
    int has_chains;          /* 1: `out` retains text for the exporter's queues */
    size_t state_bytes;
    /* Called before the first event. Returns 0 or an error, with errno set if it is a system
     * error. */
    int (*begin)(struct probity_export *export);
    /* Called for a scope that begins in the range, when it is opened and closed: see
     * probity_scopes_listener. If both are NULL, scopes are not tracked. A scope's `user` belongs
     * to the exporter. */
    void (*opened)(struct probity_export *export, struct probity_export_thread *thread,
                   struct probity_scope *scope, const struct probity_event *event);
    void (*closed)(struct probity_export *export, struct probity_export_thread *thread,
                   const struct probity_scope *scope, enum probity_scope_end how,
                   const struct probity_event *event);
    /* Called for any event in the range, including ENTER and LEAVE, after the calls for the scopes
     * that it opened and closed; also for every THREAD_NAME, PROBE_NAME, SITE, FUNCTION and
     * FORMAT. */
    void (*event)(struct probity_export *export, struct probity_export_thread *thread,
                  const struct probity_event *event);
    /* Called for a thread state that begins in the range, when it has ended. In order of the ends.
     * NULL: states are left out. */
    void (*state)(struct probity_export *export, struct probity_export_thread *thread,
                  const struct probity_export_state *state);
    /* Called for each row of profile mode, after all events. */
    void (*profiled)(struct probity_export *export, const struct probity_profiled *profiled);
    /* Called after everything else; `out` is flushed afterwards. Returns the same as begin. */
    int (*end)(struct probity_export *export);
    /* Always called. */
    void (*release)(struct probity_export *export);
};

/* Each is defined in a separate file. */
extern const struct probity_exporter probity_exporter_callgrind, probity_exporter_chrome,
    probity_exporter_ctf, probity_exporter_firefox, probity_exporter_folded,
    probity_exporter_graphviz,
    probity_exporter_openmetrics, probity_exporter_otlp, probity_exporter_otlp_json,
    probity_exporter_perfetto, probity_exporter_pprof, probity_exporter_speedscope,
    probity_exporter_sqlite;

struct probity_export_run;

struct probity_export_call {
    const struct probity_exporter *exporter;
    const struct probity_reader *reader;
    const struct probity_export_options *options;
    int descriptor;   /* for a STREAM; owned by the caller */
    const char *path; /* for a FILE or DIRECTORY */
    /* For a format with requests: called when a request is complete. Returns 0, or an error, which
     * ends the run. NULL: requests are written one after the other. */
    int (*requested)(void *context);
    void *context;
};

/* `call` and what it points to must stay valid. Returns 0, PROBITY_ERROR_MEMORY, or an error from
 * begin. */
int probity_export_open(const struct probity_export_call *call,
                        struct probity_export_run **ret_run);

/* Takes the next event in time order. With a range, events must begin at its beginning with all
 * open scopes, or earlier. Returns 0, PROBITY_ERROR_MEMORY, or, with errno set,
 * PROBITY_ERROR_WRITE. */
int probity_export_put(struct probity_export_run *run, const struct probity_event *event);

/* Returns the number of calls that began in the range and have not ended. */
uint64_t probity_export_pending(const struct probity_export_run *run);

/* Takes a row of profile mode; after all events. Returns the same as probity_export_put(). */
int probity_export_put_profiled(struct probity_export_run *run,
                                const struct probity_profiled *profiled);

/* Closes open scopes and writes the remaining output. Returns the same as probity_export_put(). */
int probity_export_finish(struct probity_export_run *run);

/* Returns the state, valid until close. `repairs` in it may be NULL. */
const struct probity_export *probity_export_look(const struct probity_export_run *run);

void probity_export_close(struct probity_export_run *run);

/* ---- For exporters -----------------------------------------------------------------------------
 */

/* Stores the first error, with errno. */
void probity_export_fail(struct probity_export *export, int error);

/* Returns "running", "waiting for a CPU" or "blocked". In export_states.c. */
const char *probity_export_state_name(uint32_t state);

/* Appends any number of bytes to `out`, and leaves as much room as before. */
void probity_export_write(struct probity_export *export, const char *bytes, size_t count);

/* Call when a request is complete. */
void probity_export_request_end(struct probity_export *export);

/* Opens a stream to the destination of `out`, for output written only at the end. Returns NULL if
 * out of memory. */
FILE *probity_export_stream_open(struct probity_export *export);

/* Returns 0, or PROBITY_ERROR_WRITE with errno set. */
int probity_export_stream_close(FILE *stream);

enum { PROBITY_EXPORT_LACK_BYTES = 4608 }; /* room for a path and words */

/* Describes what is missing from a trace, for formats that contain sums instead of events. Returns
 * 1, or 0 if it is complete. Call it after all events: only then is all damage known. The text may
 * contain any bytes: see print/text.h. */
int probity_export_lack(const struct probity_export *export, size_t trace,
                        char ret_text[PROBITY_EXPORT_LACK_BYTES]);

enum { PROBITY_EXPORT_LACKS_BYTES = 4 * PROBITY_EXPORT_LACK_BYTES };

/* The same for all traces, separated by "; ", as far as there is room. Returns the length; 0 if all
 * are complete. */
size_t probity_export_lacks(const struct probity_export *export,
                            char ret_text[PROBITY_EXPORT_LACKS_BYTES]);

/* Returns the name of a function, in C++ with its classes; "site-N" (in ret_text) if its
 * declaration was lost. May contain any bytes: see print/text.h. */
const char *probity_export_function_name(const struct probity_function *function, uint32_t number,
                                         char ret_text[32], size_t *ret_bytes);

/* Returns the name of the site or probe that was hit, or "site-N", or the probe's number. May
 * contain any bytes, as above. */
const char *probity_export_hit_name(const struct probity_event *event, char ret_text[32],
                                    size_t *ret_bytes);

/* Returns the end of a scope, in CLOCK_REALTIME, with its CPU time. */
static inline struct probity_scope_time probity_export_leave(const struct probity_scope *scope)
{
    return (struct probity_scope_time){scope->enter_wall_ns + scope->elapsed.wall_ns,
                                       scope->enter_cpu_ns + scope->elapsed.cpu_ns};
}

#endif
