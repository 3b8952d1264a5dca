/* SPDX-License-Identifier: MIT
 *
 * collect.h: a thread that moves events from the kernel's rings to a file while the program runs.
 * Memory: 64 KiB for each CPU, 8 bytes for each live thread, an anchor a second, 8 bytes for each
 * 64 KiB written.
 */
#ifndef PROBITY_SCHED_COLLECT_H
#define PROBITY_SCHED_COLLECT_H

#include <pthread.h>

#include "base/clock.h"
#include "sched/duty.h"
#include "sched/events.h"

/* An event as stored in the file. */
struct probity_sched_spilled {
    uint64_t time_kind; /* time in ns << 4 | enum probity_sched_kind */
    uint32_t tid, other;
};

enum { PROBITY_SCHED_CHUNK_EVENTS = 4096 };
#define PROBITY_SCHED_CHUNK_BYTES                                                                  \
    (PROBITY_SCHED_CHUNK_EVENTS * sizeof(struct probity_sched_spilled))

/* Events of one ring, in the order of the ring. */
struct probity_sched_chunk {
    uint32_t ring, count, cpu;
};

struct probity_sched_collect {
    struct probity_sched_rings rings;
    int spill; /* file: chunk i at i * PROBITY_SCHED_CHUNK_BYTES */
    struct probity_sched_chunk *chunks;
    size_t chunk_count, chunk_capacity;
    struct probity_sched_spilled *filling; /* a chunk for each ring */
    uint32_t *filled;                      /* its events, for each ring */
    uint64_t *lost; /* reported by each ring */
    uint32_t *tids; /* a hash table of live threads; 0: free */
    size_t tid_capacity, tid_used;
    struct probity_clock_moment *anchors; /* widths are in ticks */
    size_t anchor_count, anchor_capacity;
    uint32_t clock; /* as probity_clock_choose() returns it */
    int error;      /* errno of a failed write, or ENOMEM: nothing more is collected; or 0 */
    uint64_t end_ns; /* once it has ended: all earlier events are in the file */
    int stop_file;  /* an eventfd */
    struct probity_sched_duty duty;
    pthread_t thread;
};

/* Opens the events for a process that is about to call exec, and starts the thread. Takes over
 * `spill`, an empty file, on success. share: of the program's CPU time, in millionths, that this
 * may take; 0: no limit. Returns 0, or -1 with errno set. */
int probity_sched_collect_begin(struct probity_sched_collect *collect, pid_t pid, int spill,
                                size_t ring_bytes, uint32_t share);

/* Ends the thread, after it has taken everything from the rings. The file is kept. */
void probity_sched_collect_end(struct probity_sched_collect *collect);

void probity_sched_collect_release(struct probity_sched_collect *collect);

#endif
