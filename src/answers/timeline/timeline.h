/* SPDX-License-Identifier: MIT
 *
 * timeline.h: what each thread did when, as spans in lanes: time off the CPU, marks (hits, messages
 * and checkpoints) and calls by depth. Memory: a budget of spans, independent of the length of the
 * trace. Prints nothing.
 *
 *     thread   off     ▒▒▒▒        ▒▒         wall time without CPU time
 *              marks   |  | ||||  |           moments
 *              depth 0 [ main               ]
 *              depth 1  [ read ] [::::] [ w ] [::::]: several, merged
 *
 * Until the budget is used up, every span is separate. Then the unit of time doubles, and spans
 * shorter than the unit are merged with neighbors in the same lane that begin in the same unit.
 * Longer spans stay separate and keep their values, and so do the slowest calls of each function. A
 * second pass over the events then finds each span in some intervals: at the beginning and the end,
 * around slow calls, in the busiest parts, and spread over the rest.
 *
 *     events ──► put ... finish ──► look_closer ──► (events ──► put ... finish) ──► take_over
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
    PROBITY_TIMELINE_SLOWEST = 5      /* slowest calls kept for each function */
};

enum probity_timeline_flag {
    PROBITY_TIMELINE_UNWOUND = 1, /* closed by a repair */
    PROBITY_TIMELINE_OPEN = 2,    /* still open at the end of the records */
    PROBITY_TIMELINE_UNTIMED = 4, /* entered with profiling off */
    PROBITY_TIMELINE_BEFORE = 8   /* began before the range */
};

/* One call, mark or off-CPU interval, or several of them merged. */
struct probity_timeline_span {
    uint64_t start_ns;  /* CLOCK_REALTIME */
    uint64_t length_ns; /* up to the end of the last one */
    uint64_t busy_ns;   /* sum of their durations, or of the time off the CPU */
    uint64_t off_ns;    /* of calls: time off the CPU in total; 0 if CPU time is unknown */
    uint64_t count;     /* 1 if not merged */
    uint64_t lead_ns;   /* lead of `name` over all others, if merged */
    uint32_t name;      /* the one with most time; unused for off-CPU intervals */
    uint32_t values;    /* for probity_timeline_values_next(); 0: none */
    uint32_t flags;     /* union of all flags */
};

enum probity_timeline_kind {
    PROBITY_TIMELINE_STRETCHES = 0, /* off CPU */
    PROBITY_TIMELINE_MARKS = 1,
    PROBITY_TIMELINE_CALLS = 2
};

/* Spans in time order. */
struct probity_timeline_lane {
    struct probity_timeline_span *spans;
    size_t count, capacity;
};

struct probity_timeline_thread {
    uint32_t trace, thread, tid, pid;
    char *name; /* the latest, zero-terminated; or NULL */
    uint64_t first_ns, last_ns; /* of hits and scopes */
    int is_cpu_known;
    struct probity_timeline_lane stretches, marks;
    struct probity_timeline_lane *calls; /* by depth */
    uint32_t depth;
};

enum probity_timeline_name_kind {
    PROBITY_TIMELINE_FUNCTION = 0,
    PROBITY_TIMELINE_PROBE = 1, /* a number, and a name if it has one */
    PROBITY_TIMELINE_SITE = 2,
    PROBITY_TIMELINE_MESSAGE = 3,
    PROBITY_TIMELINE_CHECKPOINT = 4
};

/* One of the slowest calls of a function. */
struct probity_timeline_slow {
    struct probity_timeline_span span;
    uint32_t thread, depth; /* thread: index in the list of threads */
};

struct probity_timeline_name {
    enum probity_timeline_name_kind kind;
    struct probity_function_key key; /* of functions; function NULL if its declaration was lost */
    uint32_t number;                 /* of probes and sites */
    char *text;                      /* of probes and sites; NULL without a name */
    struct probity_timeline_slow slow[PROBITY_TIMELINE_SLOWEST]; /* of functions, slowest first */
    unsigned slow_count;
};

struct probity_timeline_options {
    size_t spans_max;        /* 0: PROBITY_TIMELINE_SPANS */
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: events in [from, to); both 0: all */
    int has_around; /* also include, without counting them, calls around from_ns */
    /* Show [from, to) as a window: whatever overlaps it is included and clipped to its ends, which
     * become facts.first_ns and last_ns if given. A window cannot be refined. */
    int is_window;
};

/* Known after finish. */
struct probity_timeline_facts {
    uint64_t first_ns, last_ns; /* both 0: no records */
    uint64_t unit_ns;           /* shorter spans may be merged; 1: none were */
    uint64_t calls, marks;      /* total numbers */
    uint64_t together;          /* how many of them are in merged spans */
    uint64_t calls_too_deep;    /* how many are in no lane */
    uint64_t threads_beyond;    /* threads that have no lanes, because there are too many */
    uint64_t values_min_ns;     /* values of shorter calls were discarded; 0: none */
    size_t spans;
};

/* An interval in which calls, marks and off-CPU intervals are not merged, unlike elsewhere. */
struct probity_timeline_stretch {
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: spans that begin in [from, to) */
};

struct probity_timeline;

/* options may be NULL. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_open(const struct probity_timeline_options *options,
                          struct probity_timeline **ret_timeline);

/* Takes the next event in time order, from the beginning. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_put(struct probity_timeline *timeline, const struct probity_event *event);

/* Closes open calls; nothing may be added afterwards. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_finish(struct probity_timeline *timeline);

/* Call after finish; all is valid until close. Threads are in the order of their first record.
 * Names are numbered from 0, as in spans. */
struct probity_timeline_facts probity_timeline_facts(const struct probity_timeline *timeline);
const struct probity_timeline_thread *const *probity_timeline_threads(
    const struct probity_timeline *timeline, size_t *ret_count);
const struct probity_timeline_name *const *probity_timeline_names(
    const struct probity_timeline *timeline, size_t *ret_count);

/* Opens a second timeline for another pass over the same events, which keeps more detail in some
 * intervals, with at most spans_more additional spans. *ret_closer is NULL if nothing was merged or
 * there is no room. Call after finish. The second timeline owns the names until it is taken over.
 * Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_refine(struct probity_timeline *timeline, size_t spans_more,
                            struct probity_timeline **ret_closer);

/* Call after finish of the second timeline: its spans replace merged spans of the same calls. If it
 * did not see the same calls, because the trace has changed in the meantime, it replaces nothing.
 * Closes the second timeline, whose reader must stay open as long as the first. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_timeline_take_over(struct probity_timeline *timeline, struct probity_timeline *closer);

/* The refined intervals, in time order. Valid until close. */
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
