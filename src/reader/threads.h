/* SPDX-License-Identifier: MIT
 *
 * threads.h: the threads seen so far, each with the CPU time last returned. Takes 24 bytes per
 * thread, which are kept to the end: a thread's CPU time must not decrease even after hours of
 * sleep.
 */
#ifndef PROBITY_READER_THREADS_H
#define PROBITY_READER_THREADS_H

#include <stddef.h>
#include <stdint.h>

struct probity_thread_seen {
    uint64_t cpu_ns; /* latest value returned */
    uint32_t trace, thread, tid;
    uint32_t is_past; /* for probity_merge_next_only(): needs no more records */
};

struct probity_threads_seen {
    struct probity_thread_seen *seen; /* by slot */
    uint32_t *places;                 /* hash table: slot + 1; 0: free */
    size_t count, capacity;           /* of `places`: a power of two; `seen` has half as many */
};

/* Finds or adds a thread. Returns 0 with its slot, or PROBITY_ERROR_MEMORY. */
int probity_threads_slot(struct probity_threads_seen *threads, uint32_t trace, uint32_t thread,
                         uint32_t tid, uint32_t *ret_slot);

/* Returns the thread's slot, or -1 if it has not been seen. */
int64_t probity_threads_find(const struct probity_threads_seen *threads, uint32_t trace,
                             uint32_t thread);

void probity_threads_release(struct probity_threads_seen *threads);

#endif
