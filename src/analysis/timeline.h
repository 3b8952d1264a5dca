/* SPDX-License-Identifier: MIT
 *
 * timeline.h: what each thread did when, as spans in lanes: time off the CPU, marks (hits, messages
 * and checkpoints) and calls by depth. Memory: a budget of spans, however long the trace. Prints
 * nothing.
 *
 *     thread   off     ▒▒▒▒        ▒▒         wall time that was not CPU time
 *              marks   |  | ||||  |           moments
 *              depth 0 [ main               ]
 *              depth 1  [ read ] [::::] [ w ] [::::]: several, together
 *
 * While the budget lasts, every span is whole. When it is used up, the unit of time doubles, and
 * what is shorter than the unit becomes one span with its neighbours of the same lane that begin in
 * the same unit. What is longer stays whole, with its values, and so do the slowest calls of each
 * function. A second look at the events then finds each span of some stretches: of the beginning
 * and the end, of slow calls, of where most happens, and of places all over.
 *
 *     events ──► put ... finish ──► look_closer ──► (events ──► put ... finish) ──► take_over
 */
#ifndef PROBITY_ANALYSIS_TIMELINE_H
#define PROBITY_ANALYSIS_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/same_function.h"
#include "analysis/scopes.h"
#include "reader/reader.h"

enum {
    PROBITY_TIMELINE_SPANS = 400000, /* some 64 bytes each, twice while a lane grows */
    PROBITY_TIMELINE_THREADS_MAX = 4096,
    PROBITY_TIMELINE_DEPTH_MAX = 192, /* deeper calls are counted, and no more */
    PROBITY_TIMELINE_SLOWEST = 5      /* calls kept of each function */
};

enum probity_timeline_flag {
    PROBITY_TIMELINE_UNWOUND = 1, /* closed by repair */
    PROBITY_TIMELINE_OPEN = 2,    /* the records end inside it */
    PROBITY_TIMELINE_UNTIMED = 4, /* entered while profiling was off */
    PROBITY_TIMELINE_BEFORE = 8   /* began before the range */
};

/* One call, mark or stretch off the CPU; or several of them. */
struct probity_timeline_span {
    uint64_t start_ns;  /* CLOCK_REALTIME */
    uint64_t length_ns; /* to the end of the last of them */
    uint64_t busy_ns;   /* sum of their durations; of stretches: of what was off the CPU */
    uint64_t off_ns;    /* of calls: off the CPU, in all; 0 where CPU time is not known */
    uint64_t count;     /* 1: whole */
    uint64_t lead_ns;   /* by how much `name` leads; meaningless where it is whole */
    uint32_t name;      /* of most of their time; meaningless for stretches */
    uint32_t values;    /* for probity_timeline_values_next(); 0: none */
    uint32_t flags;     /* of any of them */
};

enum probity_timeline_kind {
    PROBITY_TIMELINE_STRETCHES = 0, /* off the CPU */
    PROBITY_TIMELINE_MARKS = 1,
    PROBITY_TIMELINE_CALLS = 2
};

/* Spans in the order of time. */
struct probity_timeline_lane {
    struct probity_timeline_span *spans;
    size_t count, capacity;
};

struct probity_timeline_thread {
    uint32_t trace, thread, tid, pid;
    char *name; /* the newest, ended by a zero; NULL without */
    uint64_t first_ns, last_ns; /* of hits and scopes */
    int is_cpu_known;
    struct probity_timeline_lane stretches, marks;
    struct probity_timeline_lane *calls; /* by depth */
    uint32_t depth;
};

enum probity_timeline_name_kind {
    PROBITY_TIMELINE_FUNCTION = 0,
    PROBITY_TIMELINE_PROBE = 1, /* a number, with a name where it has one */
    PROBITY_TIMELINE_SITE = 2,
    PROBITY_TIMELINE_MESSAGE = 3,
    PROBITY_TIMELINE_CHECKPOINT = 4
};

/* A call that was slower than most of its function. */
struct probity_timeline_slow {
    struct probity_timeline_span span;
    uint32_t thread, depth; /* thread: place in the list of threads */
};

struct probity_timeline_name {
    enum probity_timeline_name_kind kind;
    struct probity_function_key key; /* of functions; function NULL: its declaration is lost */
    uint32_t number;                 /* of probes and sites */
    char *text;                      /* of probes and sites; NULL without a name */
    struct probity_timeline_slow slow[PROBITY_TIMELINE_SLOWEST]; /* of functions, slowest first */
    unsigned slow_count;
};

struct probity_timeline_options {
    size_t spans_max;        /* 0: PROBITY_TIMELINE_SPANS */
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: what begins in [from, to); both 0: all */
    int has_around; /* spans of calls too that begin before from_ns and end behind it, uncounted */
};

/* What is known behind finish. */
struct probity_timeline_facts {
    uint64_t first_ns, last_ns; /* both 0: nothing was recorded */
    uint64_t unit_ns;           /* what is shorter may be together with others; 1: all are whole */
    uint64_t calls, marks;      /* all there were */
    uint64_t together;          /* of them: in a span with others */
    uint64_t calls_too_deep;    /* in no lane */
    uint64_t threads_beyond;    /* without lanes, since there were too many */
    uint64_t values_min_ns;     /* of shorter calls values were not kept; 0: of all they were */
    size_t spans;
};

/* Where each call, mark and time off the CPU is a span of its own, though not everywhere. */
struct probity_timeline_stretch {
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: what begins in [from, to) */
};

struct probity_timeline;

/* options may be NULL. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_open(const struct probity_timeline_options *options,
                          struct probity_timeline **ret_timeline);

/* Takes the next event in time order, from the beginning. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_put(struct probity_timeline *timeline, const struct probity_event *event);

/* Closes what is open; nothing may be added from now on. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_finish(struct probity_timeline *timeline);

/* Behind finish, all of them valid until close. Threads come in the order of their first record;
 * names are numbered from 0 as spans have them. */
struct probity_timeline_facts probity_timeline_facts(const struct probity_timeline *timeline);
const struct probity_timeline_thread *const *probity_timeline_threads(
    const struct probity_timeline *timeline, size_t *ret_count);
const struct probity_timeline_name *const *probity_timeline_names(
    const struct probity_timeline *timeline, size_t *ret_count);

/* Opens a time line for the same events once more, which keeps what is to be seen closer: so many
 * spans more at most. *ret_closer is NULL where nothing was put together, or there is no room.
 * Behind finish; until the other has been taken over, the names are with that. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_timeline_look_closer(struct probity_timeline *timeline, size_t spans_more,
                                 struct probity_timeline **ret_closer);

/* Behind finish of the other: its spans replace those of the same calls that were put together.
 * Where it has not the same ones, as of a trace that changed meanwhile, nothing is replaced. Its
 * reader must stay open as long as the time line. Closes it. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_take_over(struct probity_timeline *timeline, struct probity_timeline *closer);

/* The stretches that were seen closer, in the order of time. Valid until close. */
const struct probity_timeline_stretch *probity_timeline_stretches(
    const struct probity_timeline *timeline, size_t *ret_count);

const struct probity_scopes_repairs *probity_timeline_repairs(
    const struct probity_timeline *timeline);

/* The values of one event of a call or mark: of kind ENTER, PARAMETERS, LEAVE, MESSAGE or
 * CHECKPOINT; or HIT with ids, whose payload they are. */
struct probity_timeline_values {
    uint32_t kind;
    const struct probity_format *format;
    const uint8_t *values;
    size_t bytes;
};

/* Goes over those of a span, from *at 0. Returns 1 with the next, 0 behind the last. */
int probity_timeline_values_next(const struct probity_timeline *timeline, uint32_t values,
                                 size_t *at, struct probity_timeline_values *ret_values);

void probity_timeline_close(struct probity_timeline *timeline);

#endif
