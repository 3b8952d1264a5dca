/* SPDX-License-Identifier: MIT
 *
 * threads.h: facts about each thread: start and end, time on and off the CPU, number of records;
 * and the same for each process. Memory: one entry per thread. Prints nothing.
 */
#ifndef PROBITY_ANSWERS_THREADS_THREADS_H
#define PROBITY_ANSWERS_THREADS_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/scopes.h"
#include "analysis/thread_states.h"
#include "analysis/thread_table.h"
#include "reader/reader.h"

/* Counts records of hits and scopes, but not names and declarations, which the recorder adds. */
struct probity_threads_sums {
    uint64_t first_ns, last_ns; /* CLOCK_REALTIME of the first and last record */
    uint64_t records, hits, scopes; /* scopes: number of scopes that began */
    uint64_t cpu_ns;    /* from the first to the last record */
    uint64_t off_ns;    /* wall minus CPU time in between */
    uint64_t inside_ns; /* wall time in outermost scopes that have ended */
    /* The time between first and last record by state, if the reader reads states. */
    struct probity_thread_split states;
    int has_states; /* 0: no states are known */
    int has_calls_only; /* 1: hits, times of records, the number of records and CPU times are
                         * unknown */
};

struct probity_threads_thread {
    uint32_t trace, thread, tid, pid;
    char *name; /* latest name, zero-terminated; or NULL */
    struct probity_threads_sums sums;
};

struct probity_threads_process {
    uint32_t trace, pid;
    struct probity_threads_sums sums; /* CPU and off-CPU times are sums over all threads */
    struct probity_threads_thread **threads;
    size_t thread_count;
};

struct probity_threads;

/* Uses records in [from_ns, to_ns) of CLOCK_REALTIME; both 0: all. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_threads_open(uint64_t from_ns, uint64_t to_ns, struct probity_threads **ret_threads);

/* Call before the first event to take states into account. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_threads_want_states(struct probity_threads *threads);

/* Call before the first event, if the events include no thread states: counts the scopes of another
 * analysis, which calls the listener. The other analysis takes each event after this one, and is
 * finished before it. */
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

/* Call after the last put. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_threads_finish(struct probity_threads *threads);

/* After finish: returns the processes with records, each with its threads that have records. Valid
 * until close. */
const struct probity_threads_process *probity_threads_processes(
    const struct probity_threads *threads, size_t *ret_count);

/* Returns the number of calls that began in the range and have not ended yet. */
uint64_t probity_threads_pending(const struct probity_threads *threads);

const struct probity_scopes_repairs *probity_threads_repairs(const struct probity_threads *threads);

/* In the order in which --sort lists them. */
enum probity_threads_key {
    PROBITY_THREADS_FIRST, /* earliest first; all others: largest first */
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
