/* SPDX-License-Identifier: MIT
 *
 * threads.h: the threads seen so far, each with the CPU time that it showed last. 24 bytes a
 * thread, kept to the end: a thread that slept for hours must still not step back.
 */
#ifndef PROBITY_READER_THREADS_H
#define PROBITY_READER_THREADS_H

#include <stddef.h>
#include <stdint.h>

struct probity_thread_seen {
    uint64_t cpu_ns; /* shown last */
    uint32_t trace, thread, tid;
};

struct probity_threads {
    struct probity_thread_seen *seen; /* by slot */
    uint32_t *places;                 /* hash table: slot + 1, 0 where empty */
    size_t count, capacity;           /* of places, a power of two; of seen, half of it */
};

/* Finds or adds a thread. Returns 0 with its slot, or PROBITY_ERROR_MEMORY. */
int probity_threads_slot(struct probity_threads *threads, uint32_t trace, uint32_t thread,
                         uint32_t tid, uint32_t *ret_slot);

void probity_threads_release(struct probity_threads *threads);

#endif
