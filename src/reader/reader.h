/* SPDX-License-Identifier: MIT
 *
 * reader.h: turns traces into events in time order. The public header of this directory.
 *
 * A reader takes one or several traces, in any state: closed, live, killed, copied, truncated or
 * damaged. For a trace without END, the tail in its spool is read too. Unless it follows a live
 * program, the reader takes a snapshot when it is opened, without later records.
 *
 *     file ──► cursor (block headers) ──► waiting blocks ──► open blocks ──► events
 *     spool ─────────────────────────────────┘   by first tick     by next tick
 *
 * Memory is bounded by the data between two watermarks and the blocks open at one time, not by the
 * size of the trace; for several traces all anchors are kept while they are opened, and at most one
 * per millisecond afterwards. Depends only on libc. For use by one thread at a time; on request,
 * the reader starts a second one, which reads ahead (reader/ahead.h).
 */
#ifndef PROBITY_READER_READER_H
#define PROBITY_READER_READER_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "format/cost.h"
#include "format/dump.h"
#include "format/profile.h"
#include "format/sched.h"
#include "format/stream.h"
#include "probity.h"
#include "reader/mode.h"
#include "reader/range.h"

enum { PROBITY_READER_TRACES_MAX = 65535 };

/* Returned by probity_reader_next(): no event yet. */
enum { PROBITY_READER_WAITS = 2 };

enum probity_trace_state {
    PROBITY_TRACE_CLOSED = 1,    /* ends with an END block */
    PROBITY_TRACE_LIVE = 2,      /* its program is still recording */
    PROBITY_TRACE_KILLED = 3,    /* no END; records missing from the file are in the spool */
    PROBITY_TRACE_UNFINISHED = 4 /* no END and no spool: the last records may be missing */
};

/* A thread of a trace, as found by a prescan. */
struct probity_thread_facts {
    uint32_t thread, tid;
    uint64_t hits;
    int has_records; /* 0: only declarations, such as names */
    char *name; /* zero-terminated; NULL: none */
};

/* An interval in which records of a trace were dropped, in all threads. */
struct probity_trace_drop {
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME */
    uint64_t records;
};

static inline uint64_t probity_totals_dropped(const struct probity_totals *totals)
{
    return totals->dropped_full + totals->dropped_memory + totals->dropped_write;
}

/* Facts of one trace. Counts cover the file; those of the spool are separate. */
struct probity_trace_facts {
    const char *path;
    uint64_t device, inode; /* identity of the file */
    uint32_t owner;         /* user id */
    enum probity_trace_state state;
    struct probity_info info; /* its texts are owned by the reader */
    uint64_t file_bytes, blocks, data_blocks, late_blocks;
    uint64_t records, holes;
    uint64_t spool_records, spool_chunks;
    uint64_t hits, enters;          /* in file and spool; only with prescan. enters: scopes */
    uint64_t first_tick, last_tick; /* with prescan, of hits and scopes; else of records; 0: none */
    uint64_t first_wall_ns, last_wall_ns;
    uint64_t least_wall_ns; /* lower bound of all records, even if CLOCK_REALTIME was set back */
    uint64_t threads; /* with prescan: those with records; else: those with blocks */
    const struct probity_thread_facts *thread_list; /* only with prescan */
    size_t thread_list_count;
    struct probity_totals totals; /* latest available */
    uint64_t totals_records_missing; /* counted by the writer, but missing from the file */
    const struct probity_trace_drop *drops; /* in time order */
    size_t drop_count;
    uint64_t clock_bound_ns;         /* accuracy of wall time at the anchors, plus or minus */
    uint64_t cpu_bound_ns;           /* accuracy of CPU time */
    uint64_t clock_steps;            /* number of times CLOCK_REALTIME was set */
    uint64_t damages, damaged_bytes, damage_offset; /* damage_offset: that of the first damage */
    uint64_t cut_bytes;  /* size of an incomplete last block */
    uint64_t late_records_unordered; /* records of late blocks beyond the limit */
    uint32_t end_reason; /* PROBITY_END_STOPPED ..., 0 without END */
    int has_failed;      /* the trace could not be written, and recording ended there */
    int failed_errno;    /* errno of the failure, 0: unknown */
    uint64_t failed_after_ns; /* time since the beginning; 0: unknown */
    /* PROBITY_BUDGET: the last event about the whole program, with prescan or once the event was
     * read; what 0: none. */
    struct probity_budget_event budget;
    struct probity_mode_changes modes; /* only with prescan */
    uint64_t counted_functions; /* only with prescan: functions whose calls were only counted */
    uint64_t removed_functions; /* with prescan or after the event: functions no longer counted */
    uint64_t switched_sites; /* with prescan: sites that were switched off at some time */
    uint64_t counted_hits; /* the same for hits of free locks by kind, and for allocations */
    /* Cost of recording, by enum probity_cost_moment; without rows if the trace has no costs. */
    struct probity_cost cost[PROBITY_COST_MOMENTS];
    /* Thread states, read from TRACE.sched; NULL: not requested, or there are none. */
    const struct probity_sched_info *sched;
    uint64_t sched_damages; /* blocks of TRACE.sched that changed after it was opened */
    /* Why a dump was written: the payload of its DUMP block, for src/format/dump.h. NULL: no dump,
     * or a damaged one. Owned by the reader. */
    const uint8_t *dump;
    size_t dump_bytes;
    int is_short;        /* shorter than what its program wrote: copied during recording */
    /* For a run in a database, which has facts but no events here (probity_reader_of_facts()). */
    int is_remote;  /* and the cost of recording is unknown */
    int is_partial; /* not all of the trace has been sent */
};

/* An instrumented function, as declared in its trace. Valid until the reader is closed; the same
 * function of a trace always has the same address. Texts are never NULL. */
struct probity_function {
    uint32_t trace, number; /* number: site number of its enter; its leave has the next number */
    uint32_t line, level;
    uint32_t name_bytes;
    int is_cxx, is_deferred;
    int is_ordered; /* declared with FN_ORDERED */
    int is_hooked;  /* recorded by the hooks that a compiler inserts, not by a macro */
    int has_entries_only; /* the ends of its calls are not recorded */
    const char *name, *file; /* file, line: may come from the program's debugging information */
    const char *recorded_file; /* file as in the trace */
    const char *signature; /* "": not supplied by the compiler (C) */
    const char *returns;   /* its return type as written in the macro, may be "" */
    const char *object;    /* path of its shared library; "": the executable */
    const char *symbol;    /* for a function without a macro; otherwise NULL */
    int is_least; /* at some point in the events read so far, counting of its calls stopped */
};

/* Types and texts of the values recorded at one site. Valid until the reader is closed. */
struct probity_format {
    uint32_t number, line;
    size_t count;
    const struct probity_format_value {
        uint32_t type; /* an enum probity_value_type; may be unknown */
        const char *text;
    } *values;
};

/* A kind of event that is not in the format: a call of a function that has entries only. Records
 * that claim this kind are not passed on. */
enum { PROBITY_READER_ENTRY = 30 };

/* One event. Valid until the next call. */
struct probity_event {
    uint64_t tick;
    uint64_t wall_ns; /* CLOCK_REALTIME, ns since 1970; always set */
    uint64_t cpu_ns;  /* CPU time of the thread, if cpu_known */
    uint32_t trace;   /* index of the path in the list given to open */
    uint32_t thread;  /* number within the trace */
    uint32_t thread_slot; /* dense number of (trace, thread), unique in this reader */
    uint32_t tid, pid;
    uint32_t kind;    /* an enum probity_event_kind */
    uint32_t id;      /* hits: probe number, or site number if is_site */
    int is_site, cpu_known, wall_known, late;
    int is_raised;    /* LEAVE: by an exception */
    const char *name; /* hits: name of site or probe, NULL if none */
    size_t name_bytes;
    const uint8_t *payload; /* for kinds other than hits, and for hits with ids */
    size_t payload_bytes;
    /* For an ENTER, entry, LEAVE, CHECKPOINT (also a single word) or FUNCTION: its function; NULL
     * if its declaration was lost; then id is the site number of its enter. */
    const struct probity_function *function;
    /* For an ENTER, LEAVE, MESSAGE, PARAMETERS or CHECKPOINT: the format of the values; NULL:
     * none. */
    const struct probity_format *format;
    const uint8_t *values; /* bytes of the values, as in doc/trace-format.md */
    size_t value_bytes;
    /* Hits with ids: an enum probity_role (probity_typed.h), and which ids are present. */
    uint32_t role;
    int has_correlation, has_object, has_place;
    uint64_t correlation, object;
    uint64_t place; /* return address of the recorded call */
    uint64_t entered_tick; /* CHECKPOINT: tick of the scope's enter, not later than tick; or 0 */
    uint64_t entered_wall_ns; /* the same as CLOCK_REALTIME */
};

/* The traces of one boot of a machine, which share all clocks, and how its clock was aligned to
 * those of other hosts (doc/hosts.md). */
struct probity_host {
    const char *name;   /* zero-terminated, may be "" */
    uint32_t trace;     /* its first trace */
    uint32_t reference; /* the host to whose clock it is aligned; itself: its clock is unchanged */
    int is_linked;      /* it is linked to another host */
    int64_t offset_ns;  /* how far its clock is ahead of the reference, when the links begin */
    double drift_ppm;   /* increase of the offset */
    uint64_t error_ns;  /* plus or minus; UINT64_MAX: unknown */
    uint64_t first_ns, last_ns; /* internal: range of its records, on its own clock */
    uint64_t clock_bound_ns;    /* accuracy of its anchors */
};

enum probity_pair_state {
    PROBITY_PAIR_BOUNDED = 1,
    PROBITY_PAIR_ONE_SIDED = 2,    /* the error is unknown */
    PROBITY_PAIR_CONTRADICTORY = 3 /* the bounds contradict each other; not used */
};

/* Two hosts that are linked by messages or requests, compared only by these. */
struct probity_host_pair {
    uint32_t left, right; /* left < right */
    enum probity_pair_state state;
    int is_by_requests;
    uint64_t forward, backward; /* number of bounds: messages from left to right, and vice versa */
    int64_t offset_ns; /* how far the right clock is ahead, at the beginning of the links */
    double drift_ppm;
    uint64_t error_ns;
    uint64_t agree_until_ns; /* contradictory: bounds agree until this time of the left clock */
};

struct probity_hosts {
    struct probity_host *hosts;
    size_t count;
    struct probity_host_pair *pairs;
    size_t pair_count;
    uint32_t *of_traces; /* the host of each trace */
    uint64_t left_out;   /* hits with ids beyond the limit */
};

struct probity_reader_options {
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: events in [from, to); both 0: all */
    int prescan;     /* 1: verify all checksums and count hits when opening */
    int follow;      /* 1: continue with later records of a live program; only for a single trace */
    int settled;     /* with follow: 1: events wait until no later anchor can change their times */
    /* Reads ahead in a second thread if the files have at least ahead_bytes_min in total, unless
     * `follow`: &probity_ahead_steps (reader/ahead.h). NULL: one thread. The events are the
     * same. */
    const struct probity_ahead_steps *ahead;
    uint64_t ahead_bytes_min;
    /* Creates runs of events, unless `follow`: &probity_run_steps (reader/run.h). NULL: no runs. */
    const struct probity_run_steps *runs;
    /* Aligns the clocks of several hosts, unless `follow`: &probity_align_steps (reader/hosts.h).
     * NULL: each keeps its own CLOCK_REALTIME. */
    const struct probity_align_steps *align;
    int has_lanes;   /* 1: prepare for probity_reader_divide() */
    int one_of_many; /* internal: keep the anchors, to join them with those of other traces */
    /* Returns a descriptor of an index of the trace, open for reading, which the reader then owns,
     * or -1 if there is none. Attempt 1: the index of attempt 0 could not be used. May be NULL. */
    int (*open_index)(void *context, const char *path, const struct probity_range *trace,
                      int attempt);
    void *index_context;
    /* Opens TRACE.sched, which the reader then owns. Returns 0, or -1 if there is none. If set, its
     * states are among the events, as PROBITY_EVENT_THREAD_STATE; not with `follow`. */
    int (*open_sched)(void *context, const char *path, const struct probity_range *trace,
                      struct probity_range *ret_range);
    void *sched_context;
    /* Called periodically during long operations; may be NULL. done and total are bytes. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
};

struct probity_reader;

/* Opens traces. options may be NULL. On failure *ret_failed (may be NULL) is the index of the
 * failing path. Returns 0; PROBITY_ERROR_OPEN with errno set; PROBITY_ERROR_READ with errno set;
 * PROBITY_ERROR_FORMAT; PROBITY_ERROR_VERSION; PROBITY_ERROR_DAMAGED if INFO cannot be read;
 * PROBITY_ERROR_MEMORY; PROBITY_ERROR_ARGUMENT. */
int probity_reader_open(const char *const *paths, size_t count,
                        const struct probity_reader_options *options, size_t *ret_failed,
                        struct probity_reader **ret_reader);

/* Creates a reader of traces that are elsewhere: it has their facts, but no events. Copies the
 * facts; their paths must live as long as the reader, and other texts are not used. count is not 0.
 * Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_reader_of_facts(const struct probity_trace_facts *facts, size_t count,
                            struct probity_reader **ret_reader);

/* Returns 1 with the next event in time order, 0 at the end, or an error (READ, MEMORY), after
 * which the reader can only be closed. Damage is not an error here: it is skipped and counted. A
 * reader that follows a live trace returns PROBITY_READER_WAITS if there is no new event: call
 * again later. The end comes after the last record of the program, even if it was killed. */
int probity_reader_next(struct probity_reader *reader, const struct probity_event **ret_event);

struct probity_run;

/* Takes the next events, all of one thread and before end_ns in wall time, if they can be taken at
 * once (reader/run.h). Returns their number; if it is 0, the next event comes from
 * probity_reader_next(), which may be called only then. The run is valid until the next call. */
size_t probity_reader_next_run(struct probity_reader *reader, uint64_t end_ns,
                               struct probity_run *ret_run);

/* Sets another time range. Call only before the first next. */
void probity_reader_set_range(struct probity_reader *reader, uint64_t from_ns, uint64_t to_ns);

/* Announces that only events, scopes and spans that begin in [from_ns, to_ns) (CLOCK_REALTIME) are
 * needed. Call only before the first next. to_ns UINT64_MAX: no end. If all traces have an index,
 * earlier events may be left out, except declarations; each scope open at that point is replaced by
 * an ENTER, and a PAUSE if it is paused. Returns 0 or an error. */
int probity_reader_set_window(struct probity_reader *reader, uint64_t from_ns, uint64_t to_ns);

/* Whether records outside a window are left out: 1 or 0. */
int probity_reader_has_window(const struct probity_reader *reader);

/* Whether a trace may have hits of locks, conditions or threads, or calls to the C library: 0 if
 * all traces have an index according to which there are none, else 1. */
int probity_reader_may_wait(const struct probity_reader *reader);

/* Returns the descriptor of the index of a trace, which the reader keeps owning; -1: it has
 * none. */
int probity_reader_index(const struct probity_reader *reader, size_t trace);

/* Whether a request may begin in a trace: 0 if all traces have an index according to which none
 * does, else 1. */
int probity_reader_may_have_requests(const struct probity_reader *reader);

/* Whether all traces have an index according to which each exit matches the innermost open call, no
 * call is open at the end, and none was paused or unwound: 1 or 0. */
int probity_reader_do_calls_match(const struct probity_reader *reader);

/* The same for traces with waits, if their indexes have the state of locks and waits: an analysis
 * of waits continues from that state and does not need earlier events. is_past_needed: waits that
 * began before the window also matter. objects_max: number of locks and other objects of all traces
 * that the analysis can follow at a time. Returns 1; 0 if this is not possible, in which case
 * nothing is left out; or an error. */
int probity_reader_set_waits_window(struct probity_reader *reader, uint64_t from_ns,
                                    uint64_t to_ns, int is_past_needed, uint64_t objects_max);

struct probity_index;
struct probity_index_waits;

/* Returns the index of a trace, with the payload of the state chosen by the function above unless
 * the trace is read from its beginning. NULL before that call, or if the trace has no waits. Valid
 * until close. */
const struct probity_index *probity_reader_waits_index(const struct probity_reader *reader,
                                                       size_t trace);

/* Returns the time of a tick of a trace, in the same clock as that of events (CLOCK_REALTIME, ns).
 * Only after probity_reader_set_waits_window() returned 1. */
uint64_t probity_reader_wall_ns(const struct probity_reader *reader, size_t trace, uint64_t tick);

/* Announces that everything that began in the window has ended: later events, except declarations,
 * are left out if possible. Only after an event that is not before the window's end, or before the
 * first event, if nothing in the window matters. Declarations of the same tick as that event may be
 * repeated. Returns 0 or an error. */
int probity_reader_skip_rest(struct probity_reader *reader);

/* The same, but first returns the next record of each thread, and any loss of records before it,
 * which show what the thread did at the end of the window; then the declarations. The latest record
 * counts as the next one of its thread. */
int probity_reader_next_only(struct probity_reader *reader);

/* Whether a thread id is in one of the traces: 1 or 0. Only for traces with an index. */
int probity_reader_has_tid(const struct probity_reader *reader, uint64_t tid);

/* Whether two readers of the same traces, both opened with has_lanes, can share the work: each
 * returns the events of the threads of one lane, and those that concern all threads. Returns 1, 0
 * if that is not possible or not faster, or PROBITY_ERROR_MEMORY. */
int probity_reader_divide(struct probity_reader *reader);

/* After probity_reader_divide() and before the first next: restricts the reader to lane 1 or 2,
 * without a second thread. */
void probity_reader_set_lane(struct probity_reader *reader, uint32_t lane);

/* Before the first next: disables reading ahead in a second thread. Returns whether it was
 * enabled. */
int probity_reader_read_alone(struct probity_reader *reader);

/* After the last event of both lanes: returns 1 if the events of the two lanes are those of a
 * single reader; 0 if damage, another file or the like makes them differ. */
int probity_reader_lanes_match(const struct probity_reader *left,
                               const struct probity_reader *right);

size_t probity_reader_traces(const struct probity_reader *reader);

/* Returns CLOCK_REALTIME at the start of the earliest recording. */
uint64_t probity_reader_start_ns(const struct probity_reader *reader);

/* Returns the hosts of the traces, and how their clocks were aligned; NULL if there is one host, or
 * no alignment was requested. Valid until close. */
const struct probity_hosts *probity_reader_hosts(const struct probity_reader *reader);

/* Returns the facts of trace number `trace`; the counts of damage increase while events are read.
 * Valid until close. */
const struct probity_trace_facts *probity_reader_facts(const struct probity_reader *reader,
                                                       size_t trace);

/* Whether a trace has everything that its program recorded: 1 or 0, and the reason in ret_why
 * (truncated to `bytes`, always zero-terminated). */
int probity_trace_is_complete(const struct probity_trace_facts *facts, char *ret_why, size_t bytes);

/* Whether the trace is damaged, or incomplete because of damage or a failed write: 1 or 0. */
int probity_trace_is_damaged(const struct probity_trace_facts *facts);

/* Converts ticks of a trace to ns, by its nominal rate. */
uint64_t probity_trace_ns_of_ticks(const struct probity_trace_facts *facts, uint64_t ticks);

void probity_reader_close(struct probity_reader *reader);

/* The counts of profile mode for one function in one thread, or in several successive threads. */
struct probity_profiled {
    const struct probity_function *function; /* NULL: its declaration was lost, or not read yet */
    uint32_t trace, number;                  /* site number of its enter */
    uint32_t thread, tid, pid; /* ids of the latest thread */
    uint32_t threads;
    uint64_t calls;             /* all calls, with and without times */
    uint64_t untimed, unwound;  /* subsets of calls */
    uint64_t counted;           /* subset of untimed: only counted, because of PROBITY_BUDGET */
    uint64_t open;              /* 1 while the outermost call is in progress; its time so far is
                                   only in the total */
    uint64_t total_ns, self_ns, paused_ns;
    uint64_t cpu_total_ns, cpu_self_ns; /* 0 if unknown */
    uint64_t durations_ns, min_ns, max_ns; /* those of single calls, including recursive ones */
    const uint64_t *histogram;  /* PROBITY_PROFILE_BUCKETS of format/profile.h, in ticks */
    uint64_t rate;              /* ns per tick * 2^32 */
};

/* Takes a row; returns 0 to continue, or an error to stop. */
typedef int probity_profile_take(void *context, const struct probity_profiled *profiled);

/* Passes the rows of the profile of trace number `trace` to `take`: for a live or dead program the
 * current profile, for a closed trace the last one written; no rows if there is no profile.
 * Functions are known once probity_reader_next() has reached the end. Returns 0, READ, MEMORY, or
 * the result of `take`. */
int probity_reader_profile(const struct probity_reader *reader, size_t trace,
                           probity_profile_take *take, void *context);

/* A site compiled into the program of a trace, hit or not. Valid during the call. Texts are never
 * NULL. */
struct probity_listed_site {
    uint32_t trace, kind; /* kind: PROBITY_LISTED_NAMED, _NUMBERED or _FUNCTION (probity.h) */
    uint32_t line, number; /* number: of a numbered probe */
    uint32_t level;        /* for a function, as are the following */
    int is_cxx, is_deferred;
    const char *name, *file;
    const char *within;    /* for a probe: the function that contains it */
    const char *signature; /* for a function; "": not supplied by the compiler (C) */
    const char *returns;
    const char *object;    /* path of the shared library; "": the executable */
};

/* Takes a site; returns 0 to continue, or an error to stop. */
typedef int probity_sites_take(void *context, const struct probity_listed_site *site);

/* Passes the sites listed in the file of trace number `trace` to `take`; none if it has no list.
 * *ret_left_out: number of sites that did not fit in the list. A damaged block is skipped and
 * counted in the facts. Returns 0, READ, MEMORY, or the result of `take`. */
int probity_reader_sites(const struct probity_reader *reader, size_t trace,
                         probity_sites_take *take, void *context, uint64_t *ret_left_out);

struct probity_check_result {
    uint64_t faults, blocks, records, bytes;
    uint64_t cut_offset, cut_bytes; /* incomplete last block; not an error in a live trace */
    int has_end;
};

/* Callbacks of probity_check_file(): report for each error with its offset in the file; progress
 * may be NULL. */
struct probity_check_listener {
    void (*report)(void *context, uint64_t offset, const char *text);
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* Verifies a file up to its size at opening: every block, every stream, order and counts. Returns
 * 0, or the same errors as probity_reader_open(). */
int probity_check_file(const char *path, const struct probity_check_listener *listener,
                       struct probity_check_result *ret_result);

#endif
