/* SPDX-License-Identifier: MIT
 *
 * collect.h: a thread that moves events from the kernel's rings to a file while the program runs.
 * Memory: 64 KiB for each CPU, 8 bytes for each live thread, an anchor per second, 40 bytes for
 * each 64 KiB written. If the number of chunks in the file is limited, the oldest are discarded,
 * and anchors are also limited.
 */
#ifndef PROBITY_SCHED_COLLECT_H
#define PROBITY_SCHED_COLLECT_H

#include <pthread.h>

#include "base/clock.h"
#include "sched/duty.h"
#include "sched/events.h"
#include "sched/kept.h"
#include "sched/sched.h"

enum { PROBITY_SCHED_CHUNK_EVENTS = 4096 };
#define PROBITY_SCHED_CHUNK_BYTES                                                                  \
    (PROBITY_SCHED_CHUNK_EVENTS * sizeof(struct probity_sched_spilled))

/* Events of one ring, in the order of the ring. */
struct probity_sched_chunk {
    uint32_t ring, count, cpu;
    uint32_t place; /* in the file: at place * PROBITY_SCHED_CHUNK_BYTES */
    uint64_t first_ns, last_ns; /* times of its first and last event */
};

/* Events collected up to a moment. */
struct probity_sched_taken {
    int spill; /* the file; not owned */
    struct probity_sched_chunk *chunks;
    size_t chunk_count;
    struct probity_sched_kept kept; /* kept from discarded events */
    struct probity_clock_moment *anchors;
    size_t anchor_count;
    uint64_t end_ns; /* all earlier events are included */
    uint64_t wakings_ns; /* when wakings were switched off because of the share; or 0 */
    int error;       /* errno that ended collecting early, or 0 */
};

struct probity_sched_collect {
    struct probity_sched_rings rings;
    int spill; /* file of chunks */
    struct probity_sched_chunk *chunks; /* oldest first */
    size_t chunk_count, chunk_capacity;
    size_t chunks_max; /* 0: no limit */
    uint32_t places;   /* number of chunks in the file */
    uint32_t *free_places;
    size_t free_count, free_capacity;
    struct probity_sched_kept kept;
    struct probity_sched_spilled *filling; /* a chunk for each ring */
    uint32_t *filled;                      /* number of events in it, for each ring */
    uint64_t *lost; /* losses reported by each ring */
    uint32_t *tids; /* a hash table of live threads; 0: free */
    size_t tid_capacity, tid_used;
    struct probity_clock_moment *anchors; /* widths are in ticks */
    size_t anchor_count, anchor_capacity;
    uint32_t clock; /* as returned by probity_clock_choose() */
    int error;      /* errno of a failed write, or ENOMEM, after which nothing is collected; or 0 */
    uint64_t end_ns; /* after the end: all earlier events are in the file */
    int stop_file;  /* an eventfd, readable if there is a request */
    struct probity_sched_duty duty;
    pthread_t thread;
    /* Requests of other threads: */
    pthread_mutex_t lock;
    pthread_cond_t answered;
    int is_stopping, has_ended;
    struct probity_sched_taken *request; /* to be filled, or NULL */
    int request_error;
    int readers; /* number of users of taken chunks, which are not overwritten meanwhile */
};

/* Opens the events for a process that is about to call exec, and starts the thread. On success,
 * takes ownership of `spill`, an empty file. Returns 0, or -1 with errno set. */
int probity_sched_collect_begin(struct probity_sched_collect *collect, pid_t pid, int spill,
                                const struct probity_sched_limits *limits);

/* Ends the thread, after it has taken everything from the rings. Keeps the file. */
void probity_sched_collect_end(struct probity_sched_collect *collect);

/* Takes all events up to now. Any thread may call this, one at a time. The events are not
 * overwritten until they are released. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_sched_collect_take(struct probity_sched_collect *collect,
                               struct probity_sched_taken *ret_taken);

void probity_sched_taken_release(struct probity_sched_collect *collect,
                                 struct probity_sched_taken *taken);

void probity_sched_collect_release(struct probity_sched_collect *collect);

#endif
