/* SPDX-License-Identifier: MIT
 *
 * threads.h: what each thread did: from when to when, on and off the CPU, how much it recorded; and
 * the same of each process. Memory: threads. Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_THREADS_H
#define PROBITY_ANALYSIS_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/scopes.h"
#include "reader/reader.h"

/* Records are those of hits and scopes; what the recorder adds (names, declarations) is none. */
struct probity_threads_sums {
    uint64_t first_ns, last_ns; /* CLOCK_REALTIME of the first and last record */
    uint64_t records, hits, scopes; /* scopes: that began */
    uint64_t cpu_ns;    /* between the first and the last record */
    uint64_t off_ns;    /* off the CPU: wall less CPU time in between */
    uint64_t inside_ns; /* wall time in outermost scopes that are over */
};

struct probity_threads_thread {
    uint32_t trace, thread, tid, pid;
    char *name; /* the newest, ended by a zero; NULL without */
    struct probity_threads_sums sums;
};

struct probity_threads_process {
    uint32_t trace, pid;
    struct probity_threads_sums sums; /* CPU time and time off it are those of all threads */
    struct probity_threads_thread **threads;
    size_t thread_count;
};

struct probity_threads;

/* Records in [from_ns, to_ns) of CLOCK_REALTIME; both 0: all. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_threads_open(uint64_t from_ns, uint64_t to_ns, struct probity_threads **ret_threads);

/* Takes the next event in time order, from the beginning. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_threads_put(struct probity_threads *threads, const struct probity_event *event);

/* Nothing may be added from now on. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_threads_finish(struct probity_threads *threads);

/* Behind finish: processes that have records, each with its threads that have. Valid until close.
 */
const struct probity_threads_process *probity_threads_processes(
    const struct probity_threads *threads, size_t *ret_count);

const struct probity_scopes_repairs *probity_threads_repairs(const struct probity_threads *threads);

enum probity_threads_key {
    PROBITY_THREADS_FIRST, /* earliest first; others: largest first */
    PROBITY_THREADS_LAST,
    PROBITY_THREADS_LIFETIME,
    PROBITY_THREADS_CPU,
    PROBITY_THREADS_OFF,
    PROBITY_THREADS_RECORDS,
    PROBITY_THREADS_HITS,
    PROBITY_THREADS_SCOPES,
    PROBITY_THREADS_TID, /* an order only: ascending */
    PROBITY_THREADS_NAME,
    PROBITY_THREADS_KEYS
};

/* PROBITY_THREADS_KEYS where there is none of this name. */
enum probity_threads_key probity_threads_key_parse(const char *name);

/* Orders processes, and the threads of each. */
void probity_threads_sort(struct probity_threads *threads, enum probity_threads_key key);

void probity_threads_close(struct probity_threads *threads);

#endif
