/* SPDX-License-Identifier: MIT
 *
 * timeline.h: the activity of each thread over time, as spans in lanes: time off the CPU, marks
 * (hits, messages and checkpoints) and calls by depth. Memory: a budget of spans, independent of
 * the length of the trace. Prints nothing.
 *
 *     thread   states  ███▒░░██▒░░░█          by the scheduler, if the trace has them
 *              off     ▒▒▒▒        ▒▒         wall time without CPU time
 *              marks   |  | ||||  |           moments
 *              depth 0 [ main               ]
 *              depth 1  [ read ] [::::] [ w ] [::::]: several, merged
 *
 * Until the budget is used up, every span is separate. Then the unit of time doubles, and spans
 * shorter than the unit are merged with neighbors in the same lane that begin in the same unit.
 * Longer spans stay separate and keep their values, and so do the slowest calls of each function. A
 * second pass over the events then adds every span in some intervals: at the beginning and the end,
 * around slow calls, in the busiest parts, and spread over the rest. The second pass is not needed
 * if all spans were kept in a compact form (timeline_kept.h).
 *
 *     events ──► put ... finish ──► refine ──► (events ──► put ... finish) ──► take_over
 */
#ifndef PROBITY_ANSWERS_TIMELINE_TIMELINE_H
#define PROBITY_ANSWERS_TIMELINE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/same_function.h"
#include "analysis/scopes.h"
#include "reader/reader.h"

enum {
    PROBITY_TIMELINE_SPANS = 400000, /* about 64 bytes each, twice that while a lane grows */
    PROBITY_TIMELINE_THREADS_MAX = 4096,
    PROBITY_TIMELINE_DEPTH_MAX = 192, /* deeper calls are only counted */
    PROBITY_TIMELINE_SLOWEST = 5,     /* slowest calls to keep of each function */
    /* Limits of tracks: distinct pairs of probes, and of thread and block; rows of requests in
     * flight; locks and queues; threads at one lock. Anything beyond is omitted. */
    PROBITY_TIMELINE_PAIRS_MAX = 20000,
    PROBITY_TIMELINE_REQUESTS_MAX = 48,
    PROBITY_TIMELINE_OBJECTS_MAX = 32,
    PROBITY_TIMELINE_LOCK_ROWS_MAX = 16
};

/* What a group of lanes represents: a thread; or, if tracks were requested, the requests of a
 * trace, with a row for each in flight; a lock, with a row for each thread that holds it or waits
 * for it; or a queue. */
enum probity_timeline_track {
    PROBITY_TIMELINE_THREAD = 0,
    PROBITY_TIMELINE_REQUESTS = 1,
    PROBITY_TIMELINE_LOCK = 2,
    PROBITY_TIMELINE_QUEUE = 3
};

enum probity_timeline_flag {
    PROBITY_TIMELINE_UNWOUND = 1, /* closed by a repair */
    PROBITY_TIMELINE_OPEN = 2,    /* still open at the end of the records */
    PROBITY_TIMELINE_UNTIMED = 4, /* entered with profiling off */
    PROBITY_TIMELINE_BEFORE = 8,  /* began before the range */
    PROBITY_TIMELINE_APART = 16   /* of states: the previous state is unknown */
};

/* One call, mark, state or off-CPU interval, or several of them merged. For states, busy_ns is the
 * running time, off_ns the time waiting for a CPU, and the rest is blocked. name is an enum
 * probity_sched_state. values, unless merged, is the CPU on which the thread runs, the id of the
 * thread that woke it, or 0. Unknown time has no span, and is not part of merged spans. */
struct probity_timeline_span {
    uint64_t start_ns;  /* CLOCK_REALTIME */
    uint64_t length_ns; /* to the end of the last one */
    uint64_t busy_ns;   /* sum of durations; for off-CPU intervals, the time off the CPU */
    uint64_t off_ns;    /* calls: total time off the CPU; 0 if CPU time is unknown. Tracks: the
                         * correlation id of a request, or the length of a queue; busy_ns is then
                         * length times duration. Meaningless if merged */
    uint64_t count;     /* 1: not merged */
    uint64_t lead_ns;   /* lead of `name` over the others; meaningless if not merged */
    uint32_t name;      /* the name with the most time; meaningless for off-CPU intervals */
    uint32_t values;    /* for probity_timeline_values_next(); 0: none */
    uint32_t flags;     /* union of all flags */
};

enum probity_timeline_kind {
    PROBITY_TIMELINE_STRETCHES = 0, /* off CPU */
    PROBITY_TIMELINE_MARKS = 1,
    PROBITY_TIMELINE_CALLS = 2, /* of tracks: rows */
    PROBITY_TIMELINE_BLOCKS = 3,
    PROBITY_TIMELINE_STATES = 5 /* 4: rows of tracks in the page */
};

/* Spans in time order. */
struct probity_timeline_lane {
    struct probity_timeline_span *spans;
    size_t count, capacity;
    struct timeline_kept *kept; /* used by the implementation; NULL: none */
};

struct probity_timeline_thread {
    uint32_t trace, thread, tid, pid;
    enum probity_timeline_track track;
    uint64_t object; /* of a lock or queue */
    char *name; /* latest name, zero-terminated; NULL: none. Objects: that of the first probe */
    uint64_t first_ns, last_ns; /* of hits and scopes */
    int is_cpu_known;
    struct probity_timeline_lane stretches, marks, blocks, states;
    struct probity_timeline_lane *calls; /* by depth; tracks: by row */
    uint32_t depth;
};

enum probity_timeline_name_kind {
    PROBITY_TIMELINE_FUNCTION = 0,
    PROBITY_TIMELINE_PROBE = 1, /* a number, and a name if it has one */
    PROBITY_TIMELINE_SITE = 2,
    PROBITY_TIMELINE_MESSAGE = 3,
    PROBITY_TIMELINE_CHECKPOINT = 4,
    /* In tracks: a block from one probe to the next, or a stage of a request; a thread that holds a
     * lock or waits for it; the length of a queue. */
    PROBITY_TIMELINE_BLOCK = 5,
    PROBITY_TIMELINE_HOLDER = 6,
    PROBITY_TIMELINE_WAITER = 7,
    PROBITY_TIMELINE_LENGTH = 8
};

/* In place of a block's second probe: there is none, because the records end. */
#define PROBITY_TIMELINE_NO_NAME UINT32_MAX

/* A call that was among the slowest of its function. */
struct probity_timeline_slow {
    struct probity_timeline_span span;
    uint32_t thread, depth; /* thread: index in the list of threads */
};

struct probity_timeline_name {
    enum probity_timeline_name_kind kind;
    struct probity_function_key key; /* of functions; function NULL: declaration lost */
    uint32_t number; /* of probes and sites; of a block: the name with which it begins; of a holder
                      * or waiter: the thread's index in the list */
    uint32_t to;     /* of a block: the name with which it ends, or PROBITY_TIMELINE_NO_NAME */
    char *text;                      /* of probes and sites; NULL: no name */
    struct probity_timeline_slow slow[PROBITY_TIMELINE_SLOWEST]; /* of functions, slowest first */
    unsigned slow_count;
};

struct probity_timeline_options {
    size_t spans_max;        /* 0: PROBITY_TIMELINE_SPANS */
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: events in [from, to); both 0: all */
    /* Also include calls in progress at from_ns, without counting them. They have neither values
     * from their beginning nor time off the CPU, and are cut at to_ns. */
    int has_around;
    /* Show [from, to) as a window: everything that overlaps it is included and clipped to its ends,
     * which become facts.first_ns and last_ns if given. After its end, only the next record of each
     * thread matters. Threads are sorted by number. A window cannot be refined. */
    int is_window;
    /* Keep all spans in a compact form as long as they fit into memory, for
     * probity_timeline_refine_kept(). Not for windows. */
    int keeps_spans;
    /* Make blocks of hits instead of marks, and tracks of requests, locks and queues. Not for
     * windows. */
    int has_tracks;
};

/* Known after finish. */
struct probity_timeline_facts {
    uint64_t first_ns, last_ns; /* both 0: nothing was recorded */
    uint64_t unit_ns;           /* shorter spans may be merged; 1: nothing was merged */
    uint64_t calls, marks, blocks; /* total numbers */
    uint64_t together;          /* how many of them are in merged spans */
    uint64_t calls_too_deep;    /* not in any lane */
    uint64_t threads_beyond;    /* threads without lanes, because there are too many */
    uint64_t objects_beyond;    /* hits of locks and queues without a track */
    uint64_t requests_beyond;   /* requests without a row */
    uint64_t values_min_ns;     /* values of calls shorter than this were discarded; 0: none */
    size_t spans;
};

/* An interval in which calls, marks and off-CPU intervals are not merged. */
struct probity_timeline_stretch {
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: spans that begin in [from, to) */
};

struct probity_timeline;

/* options may be NULL. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_open(const struct probity_timeline_options *options,
                          struct probity_timeline **ret_timeline);

/* Takes the next event in time order, from the beginning. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_put(struct probity_timeline *timeline, const struct probity_event *event);

struct probity_run;

/* Takes a run of events (reader/run.h) in the same way. */
int probity_timeline_put_run(struct probity_timeline *timeline, const struct probity_run *run);

/* Returns the number of calls that began in the range and have not ended. */
uint64_t probity_timeline_pending(const struct probity_timeline *timeline);

/* Closes open calls. Call after the last put. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_finish(struct probity_timeline *timeline);

/* Call after finish. All results are valid until close. Threads are in the order of their first
 * record. Names are numbered from 0, as in spans. */
struct probity_timeline_facts probity_timeline_facts(const struct probity_timeline *timeline);
const struct probity_timeline_thread *const *probity_timeline_threads(
    const struct probity_timeline *timeline, size_t *ret_count);
const struct probity_timeline_name *const *probity_timeline_names(
    const struct probity_timeline *timeline, size_t *ret_count);

/* The blocks of a thread from one probe to another. */
struct probity_timeline_sum {
    uint32_t thread, name; /* indices in the lists */
    uint64_t calls, wall_ns, cpu_ns, off_ns; /* CPU time 0 if unknown */
};

/* Returns all of them, by thread and name; none without tracks. Valid until close. */
const struct probity_timeline_sum *probity_timeline_sums(const struct probity_timeline *timeline,
                                                         size_t *ret_count);

/* Opens a second timeline, for another pass over the same events, which keeps more detail in some
 * intervals: at most spans_more additional spans. *ret_closer is NULL if nothing was merged or
 * there is no room. Call after finish. The second timeline owns the names until it is taken over.
 * Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_refine(struct probity_timeline *timeline, size_t spans_more,
                            struct probity_timeline **ret_closer);

/* Call after finish of the second timeline: its spans replace merged spans of the same calls. If it
 * did not see the same calls, because the trace has changed in the meantime, nothing is replaced.
 * Closes the second timeline, whose reader must stay open as long as the first. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_timeline_take_over(struct probity_timeline *timeline, struct probity_timeline *closer);

/* Does the same as both, without a second pass, if the spans are kept. *ret_is_done is 1 if they
 * are, or if there is nothing to refine. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_refine_kept(struct probity_timeline *timeline, size_t spans_more,
                                 int *ret_is_done);

/* Whether spans that are not kept have been merged, so that a second pass will be needed. */
int probity_timeline_needs_pass(const struct probity_timeline *timeline);

/* Discards the kept spans, because a second pass would end at another event than this one. */
void probity_timeline_drop_kept(struct probity_timeline *timeline);

/* Opens a timeline for a further pass over the same events, in which spans shorter than unit_ns are
 * merged from the beginning, without values and without calls from before the range. During the
 * pass, probity_timeline_cut() removes its spans, so their number is not limited. Call after
 * finish. The new timeline owns the names until it is returned. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_timeline_repeat(struct probity_timeline *timeline, uint64_t unit_ns,
                            struct probity_timeline **ret_again);

/* Takes a span of a thread or track. place: index in the list; depth: that of the call, or the row
 * of the track. Returns 0 or an error. */
typedef int probity_timeline_take(void *context, const struct probity_timeline_thread *thread,
                                  size_t place, enum probity_timeline_kind kind, uint32_t depth,
                                  const struct probity_timeline_span *span);

/* Passes the spans that begin before before_ns to `take`, lane by lane and in time order, and
 * removes them. Returns 0 and the number of spans left, or the error of `take`. */
int probity_timeline_cut(struct probity_timeline *timeline, uint64_t before_ns,
                         probity_timeline_take *take, void *context, size_t *ret_left);

/* Closes a timeline opened by probity_timeline_repeat(), and returns the names. Returns 0, or -1 if
 * it has not seen the same threads and names, because the trace has changed in the meantime. */
int probity_timeline_return(struct probity_timeline *timeline, struct probity_timeline *again);

/* Returns the refined intervals, in time order. Valid until close. */
const struct probity_timeline_stretch *probity_timeline_stretches(
    const struct probity_timeline *timeline, size_t *ret_count);

const struct probity_scopes_repairs *probity_timeline_repairs(
    const struct probity_timeline *timeline);

/* The values of one event (ENTER, PARAMETERS, LEAVE, MESSAGE or CHECKPOINT) of a call or mark, or
 * the payload of a HIT with ids. */
struct probity_timeline_values {
    uint32_t kind;
    const struct probity_format *format;
    const uint8_t *values;
    size_t bytes;
};

/* Iterates over the values of a span, starting with *at = 0. Returns 1 with the next values, 0
 * after the last. */
int probity_timeline_values_next(const struct probity_timeline *timeline, uint32_t values,
                                 size_t *at, struct probity_timeline_values *ret_values);

void probity_timeline_close(struct probity_timeline *timeline);

#endif
