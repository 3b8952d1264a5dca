/* SPDX-License-Identifier: MIT
 *
 * threads.h: facts about each thread: start and end, time on and off the CPU, number of records;
 * and the same for each process. Memory: threads. Prints nothing.
 */
#ifndef PROBITY_ANSWERS_THREADS_THREADS_H
#define PROBITY_ANSWERS_THREADS_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/scopes.h"
#include "analysis/thread_states.h"
#include "analysis/thread_table.h"
#include "reader/reader.h"

/* Counts records of hits and scopes, but not the names and declarations that the recorder adds. */
struct probity_threads_sums {
    uint64_t first_ns, last_ns; /* CLOCK_REALTIME of the first and last record */
    uint64_t records, hits, scopes; /* scopes: number of those that began */
    uint64_t cpu_ns;    /* from the first to the last record */
    uint64_t off_ns;    /* off-CPU: wall minus CPU time in between */
    uint64_t inside_ns; /* wall time in outermost scopes that ended */
    /* The time between first and last record by state, if the reader reads states. */
    struct probity_thread_split states;
    int has_states; /* 0: none is known */
    int has_calls_only; /* 1: hits and the times of records are unknown, and so are the number of
                         * records and CPU times */
};

struct probity_threads_thread {
    uint32_t trace, thread, tid, pid;
    char *name; /* the latest, zero-terminated; or NULL */
    struct probity_threads_sums sums;
};

struct probity_threads_process {
    uint32_t trace, pid;
    struct probity_threads_sums sums; /* CPU and off-CPU times are sums over all threads */
    struct probity_threads_thread **threads;
    size_t thread_count;
};

struct probity_threads;

/* Records in [from_ns, to_ns) of CLOCK_REALTIME; both 0: all. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_threads_open(uint64_t from_ns, uint64_t to_ns, struct probity_threads **ret_threads);

/* Takes states into account; before the first event. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_threads_want_states(struct probity_threads *threads);

/* Before the first event, without thread states among the events: counts the scopes of another
 * analysis, which calls the listener. That one takes each event after this one, and is finished
 * before it. */
struct probity_scopes_listener probity_threads_listener(struct probity_threads *threads);
void probity_threads_follow(struct probity_threads *threads, const struct probity_scopes *scopes);

/* Takes the next event in time order, from the beginning. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_threads_put(struct probity_threads *threads, const struct probity_event *event);

struct probity_run;

/* Takes a run of events (reader/run.h) in the same way. */
int probity_threads_put_run(struct probity_threads *threads, const struct probity_run *run);

/* Adds a thread whose sums were computed elsewhere. The label is copied. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_threads_add(struct probity_threads *threads, const struct probity_thread_label *label,
                        const struct probity_threads_sums *sums);

/* Nothing may be added afterwards. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_threads_finish(struct probity_threads *threads);

/* After finish: the processes with records, each with its threads that have records. Valid until
 * close. */
const struct probity_threads_process *probity_threads_processes(
    const struct probity_threads *threads, size_t *ret_count);

/* Number of calls that began in the range and have not ended yet. */
uint64_t probity_threads_pending(const struct probity_threads *threads);

const struct probity_scopes_repairs *probity_threads_repairs(const struct probity_threads *threads);

/* In the order of the choices of --sort. */
enum probity_threads_key {
    PROBITY_THREADS_FIRST, /* earliest first; others: largest first */
    PROBITY_THREADS_LAST,
    PROBITY_THREADS_LIFETIME,
    PROBITY_THREADS_CPU,
    PROBITY_THREADS_OFF,
    PROBITY_THREADS_RECORDS,
    PROBITY_THREADS_HITS,
    PROBITY_THREADS_SCOPES,
    PROBITY_THREADS_TID, /* only for sorting: ascending */
    PROBITY_THREADS_NAME,
    PROBITY_THREADS_KEYS
};

/* Sorts processes, and the threads of each. */
void probity_threads_sort(struct probity_threads *threads, enum probity_threads_key key);

void probity_threads_close(struct probity_threads *threads);

#endif
