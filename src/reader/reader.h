/* SPDX-License-Identifier: MIT
 *
 * reader.h: traces to events in time order. The only header of this folder for output/ and cli/.
 *
 * A reader takes one or several traces, in whatever state their programs left them: closed, live,
 * killed, copied, cut or damaged. What a trace without END still has in its spool is read with it.
 * The view is that of the moment of opening: what a live program records later is not in it, unless
 * the reader follows it.
 *
 *     file ──► front (block headers) ──► waiting blocks ──► open blocks ──► events
 *     spool ─────────────────────────────────┘   by first tick     by next tick
 *
 * Memory is bounded by what lies between two watermarks and by the blocks open at one time, not by
 * the size of the trace; of several traces all anchors are kept while they are opened, and at most
 * one a millisecond later. Depends on libc only. A reader belongs to one thread at a time.
 */
#ifndef PROBITY_READER_READER_H
#define PROBITY_READER_READER_H

#include <stddef.h>
#include <stdint.h>

#include "format/block.h"
#include "format/cost.h"
#include "format/profile.h"
#include "format/stream.h"
#include "probity.h"

enum { PROBITY_READER_TRACES_MAX = 65535 };

/* Of probity_reader_next(): no event yet. */
enum { PROBITY_READER_WAITS = 2 };

enum probity_trace_state {
    PROBITY_TRACE_CLOSED = 1,    /* ends with an END block */
    PROBITY_TRACE_LIVE = 2,      /* its program is recording */
    PROBITY_TRACE_KILLED = 3,    /* no END; what the file lacks is read from the spool */
    PROBITY_TRACE_UNFINISHED = 4 /* no END and no spool: the last records may be missing */
};

/* A thread of a trace, as a survey found it. */
struct probity_thread_facts {
    uint32_t thread, tid;
    uint64_t hits;
    char *name; /* ended by a zero; NULL without */
};

/* Records that were not kept, of all threads of a trace, at some time in between. */
struct probity_trace_drop {
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME */
    uint64_t records;
};

static inline uint64_t probity_totals_dropped(const struct probity_totals *totals)
{
    return totals->dropped_full + totals->dropped_memory + totals->dropped_write;
}

/* What is known of one trace. Counts cover the file; those of the spool stand apart. */
struct probity_trace_facts {
    const char *path;
    enum probity_trace_state state;
    struct probity_info info; /* its texts belong to the reader */
    uint64_t file_bytes, blocks, data_blocks, late_blocks;
    uint64_t records, holes;
    uint64_t spool_records, spool_chunks;
    uint64_t hits, enters;          /* in file and spool; only of a survey. enters: of scopes */
    uint64_t first_tick, last_tick; /* of a survey: of hits and scopes, else of records; or 0 */
    uint64_t first_wall_ns, last_wall_ns;
    uint64_t least_wall_ns; /* no record is earlier, however often CLOCK_REALTIME was set back */
    uint64_t threads;
    const struct probity_thread_facts *thread_list; /* only of a survey */
    size_t thread_list_count;
    struct probity_totals totals; /* the newest there are */
    uint64_t totals_records_missing; /* counted by the writer, but not in the file */
    const struct probity_trace_drop *drops; /* in the order of time */
    size_t drop_count;
    uint64_t clock_bound_ns;         /* wall time is known to +- this, at the anchors */
    uint64_t cpu_bound_ns;           /* CPU time is known to this */
    uint64_t clock_steps;            /* how often CLOCK_REALTIME was set */
    uint64_t damages, damaged_bytes, damage_offset; /* offset: of the first */
    uint64_t cut_bytes;  /* of a last block that is not whole */
    uint64_t late_records_unordered; /* late blocks beyond what is kept: not in time order */
    uint32_t end_reason; /* PROBITY_END_STOPPED ..., 0 without END */
    int has_failed;      /* the trace could not be written, and recording ended there */
    int failed_errno;    /* why, 0 where it is not known */
    uint64_t failed_after_ns; /* since the beginning; 0 where it is not known */
    /* What recording cost, by enum probity_cost_moment; no rows where the trace does not say. */
    struct probity_cost cost[PROBITY_COST_MOMENTS];
    int is_short;        /* the file is shorter than its program wrote: a copy made while it ran */
};

/* An instrumented function, as its trace declares it. Valid until the reader is closed; the same
 * function of a trace is always at the same address. Texts are never NULL. */
struct probity_function {
    uint32_t trace, number; /* number: of the site that is its enter; the leave is one more */
    uint32_t line, level;
    int is_cxx, is_deferred;
    const char *name, *file;
    const char *signature; /* "": the compiler did not tell it (C) */
    const char *returns;   /* its return type as written in the macro, may be "" */
    const char *object;    /* path of its shared library; "": the executable */
};

/* What is recorded at one place in the source: types and texts of its values. Likewise. */
struct probity_format {
    uint32_t number, line;
    size_t count;
    const struct probity_format_value {
        uint32_t type; /* an enum probity_value_type; others are not known */
        const char *text;
    } *values;
};

/* One event. Valid until the next call. */
struct probity_event {
    uint64_t tick;
    uint64_t wall_ns; /* CLOCK_REALTIME, ns since 1970; there even where it is not wanted */
    uint64_t cpu_ns;  /* CPU time of the thread, where cpu_known */
    uint32_t trace;   /* place of the path in the list given to open */
    uint32_t thread;  /* number within the trace */
    uint32_t thread_slot; /* dense number of (trace, thread) within this reader */
    uint32_t tid, pid;
    uint32_t kind;    /* an enum probity_event_kind */
    uint32_t id;      /* hits: probe number, or site number where is_site */
    int is_site, cpu_known, wall_known, late;
    const char *name; /* hits: name of site or probe, NULL without */
    size_t name_bytes;
    const uint8_t *payload; /* kinds other than hits, and hits with ids */
    size_t payload_bytes;
    /* ENTER, LEAVE and CHECKPOINT, also those that are a single word, and FUNCTION: the function;
     * NULL where its declaration is lost, and then id tells the site number of its enter. */
    const struct probity_function *function;
    /* ENTER, LEAVE, MESSAGE, PARAMETERS, CHECKPOINT with values: how to read them, NULL without. */
    const struct probity_format *format;
    const uint8_t *values; /* the values' bytes, as doc/trace-format.md says */
    size_t value_bytes;
    /* Hits with ids: an enum probity_role (probity_typed.h), and which ids there are. */
    uint32_t role;
    int has_correlation, has_object;
    uint64_t correlation, object;
    uint64_t entered_tick; /* CHECKPOINT: 0, or when the scope was entered; not later than tick */
    uint64_t entered_wall_ns; /* likewise, CLOCK_REALTIME */
};

struct probity_reader_options {
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME: events in [from, to); both 0: all */
    int survey;      /* 1: verify every checksum and count hits at opening */
    int follow;      /* 1: go on with what a live program records; one trace only */
    int one_of_many; /* the reader's own: keep the anchors, they are joined with others */
    /* Called now and then during long work; may be NULL. done and total are bytes. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
};

struct probity_reader;

/* Opens traces. options may be NULL. On failure *ret_failed (may be NULL) is the place of the path
 * to blame. Returns 0; PROBITY_ERROR_OPEN with errno set; PROBITY_ERROR_READ with errno set;
 * PROBITY_ERROR_FORMAT; PROBITY_ERROR_VERSION; PROBITY_ERROR_DAMAGED when not even INFO can be
 * read; PROBITY_ERROR_MEMORY; PROBITY_ERROR_ARGUMENT. */
int probity_reader_open(const char *const *paths, size_t count,
                        const struct probity_reader_options *options, size_t *ret_failed,
                        struct probity_reader **ret_reader);

/* Returns 1 with the next event in time order, 0 at the end, or an error (READ, MEMORY), after
 * which the reader can only be closed. Damage is no error here: it is skipped and counted. A reader
 * that follows a live trace returns PROBITY_READER_WAITS where there is nothing new: ask again
 * later. The end comes behind all that the program recorded, also where it was killed. */
int probity_reader_next(struct probity_reader *reader, const struct probity_event **ret_event);

/* Sets another time range; only before the first next. */
void probity_reader_set_range(struct probity_reader *reader, uint64_t from_ns, uint64_t to_ns);

size_t probity_reader_traces(const struct probity_reader *reader);

/* CLOCK_REALTIME at which recording began, of the earliest trace. */
uint64_t probity_reader_start_ns(const struct probity_reader *reader);

/* Facts of trace number `trace`; damages grow while events are read. Valid until close. */
const struct probity_trace_facts *probity_reader_facts(const struct probity_reader *reader,
                                                       size_t trace);

/* Whether a trace holds everything that its program recorded: 1 or 0; and in words, why or why not
 * (cut to `bytes`, always ended by a zero). */
int probity_trace_is_complete(const struct probity_trace_facts *facts, char *ret_why, size_t bytes);

/* Whether what was read is damaged or known to be incomplete because of damage or of a failure to
 * write it: 1 or 0. */
int probity_trace_is_damaged(const struct probity_trace_facts *facts);

/* Ticks of a trace in ns, by its nominal rate. */
uint64_t probity_trace_ns_of_ticks(const struct probity_trace_facts *facts, uint64_t ticks);

void probity_reader_close(struct probity_reader *reader);

/* What profile mode has counted of one function in one thread, or in several threads that followed
 * each other. */
struct probity_profiled {
    const struct probity_function *function; /* NULL: not declared, or not yet read */
    uint32_t trace, number;                  /* site number of its enter */
    uint32_t thread, tid, pid; /* the latest of the threads */
    uint32_t threads;
    uint64_t calls;             /* with and without times */
    uint64_t untimed, unwound;  /* of them */
    uint64_t total_ns, self_ns, paused_ns;
    uint64_t cpu_total_ns, cpu_self_ns; /* 0 where it is not known */
    uint64_t durations_ns, min_ns, max_ns; /* of single calls; of recursive ones too */
    const uint64_t *histogram;  /* PROBITY_PROFILE_BUCKETS of format/profile.h, in ticks */
    uint64_t rate;              /* ns per tick * 2^32 */
};

/* Takes a row; returns 0 to go on, or an error, which ends it. */
typedef int probity_profile_take(void *context, const struct probity_profiled *profiled);

/* Hands out the profile of trace number `trace`: of a live or dead program that of this moment, of
 * a closed trace the last that was written; nothing where there is none. Functions are known once
 * probity_reader_next() has come to the end. Returns 0, READ, MEMORY, or what `take` returned. */
int probity_reader_profile(const struct probity_reader *reader, size_t trace,
                           probity_profile_take *take, void *context);

/* A site that is compiled into the program of a trace, hit or not. Valid during the call. Texts are
 * never NULL. */
struct probity_listed_site {
    uint32_t trace, kind; /* kind: PROBITY_LISTED_NAMED, _NUMBERED or _FUNCTION (probity.h) */
    uint32_t line, number; /* number: of a numbered probe */
    uint32_t level;        /* of a function, as what follows */
    int is_cxx, is_deferred;
    const char *name, *file;
    const char *within;    /* the function that a probe stands in */
    const char *signature; /* of a function; "": the compiler did not tell it (C) */
    const char *returns;
    const char *object;    /* path of the shared library; "": the executable */
};

/* Takes a site; returns 0 to go on, or an error, which ends it. */
typedef int probity_sites_take(void *context, const struct probity_listed_site *site);

/* Hands out the list of trace number `trace`, as far as its file has it; nothing of a trace that
 * has none. *ret_left_out: how many had no room in the list. A damaged block is skipped and
 * counted in the facts. Returns 0, READ, MEMORY, or what `take` returned. */
int probity_reader_sites(const struct probity_reader *reader, size_t trace,
                         probity_sites_take *take, void *context, uint64_t *ret_left_out);

struct probity_check_result {
    uint64_t faults, blocks, records, bytes;
    uint64_t cut_offset, cut_bytes; /* a last block that is not whole; no fault in a live trace */
    int has_end;
};

/* Whom probity_check_file() tells: of each fault with its offset in the file; of its progress (may
 * be NULL). */
struct probity_check_listener {
    void (*report)(void *context, uint64_t offset, const char *text);
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* Verifies a file up to its size at opening: every block, every stream, order and counts. Returns
 * 0, or an error as probity_reader_open(). */
int probity_check_file(const char *path, const struct probity_check_listener *listener,
                       struct probity_check_result *ret_result);

#endif
