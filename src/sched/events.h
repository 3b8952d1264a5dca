/* SPDX-License-Identifier: MIT
 *
 * events.h: kernel events for a program: one ring for each CPU, with switches, creation and exit of
 * the program's threads and, if the kernel permits it, wakings (doc/sched.md, "Recording"). Linux
 * only.
 */
#ifndef PROBITY_SCHED_EVENTS_H
#define PROBITY_SCHED_EVENTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum probity_sched_kind {
    PROBITY_SCHED_IN = 1,        /* the thread runs */
    PROBITY_SCHED_OUT = 2,       /* it left the CPU, blocked */
    PROBITY_SCHED_PREEMPTED = 3, /* it left the CPU, runnable */
    PROBITY_SCHED_WOKEN = 4,     /* other: the waker, or 0 */
    PROBITY_SCHED_BORN = 5,      /* other: its creator */
    PROBITY_SCHED_EXIT = 6,
    PROBITY_SCHED_EXEC = 7,
    PROBITY_SCHED_LOST = 8, /* tid: number of records dropped before this one, at most 2^32 - 1 */
    PROBITY_SCHED_PAUSED = 9 /* for no thread: everything before it was recorded; a loss follows */
};

struct probity_sched_event {
    uint64_t time_ns; /* CLOCK_MONOTONIC_RAW */
    uint32_t tid, other;
    uint32_t kind; /* an enum probity_sched_kind */
    uint32_t cpu;  /* only for collected events */
    uint32_t payer; /* only for wakings in a ring: the thread on the CPU, even in an interrupt */
};

/* A ring of the kernel. */
struct probity_sched_ring {
    int file, wakings; /* descriptors; wakings: that of the tracepoint, or -1 */
    uint32_t cpu;
    void *pages;
    size_t mapped_bytes;
};

struct probity_sched_rings {
    struct probity_sched_ring *items;
    size_t count;
    size_t ring_bytes;
    int has_wakings;
    int are_wakings_off; /* wakings were switched off for good */
    int wakings_error; /* errno if there are none; EXDEV: because of the process-id namespace */
    uint32_t pid_offset; /* offset of the woken thread's id in the tracepoint's record */
    uint32_t event_id;
};

/* Opens the events for a process that is about to call exec, which enables them. ring_bytes: a
 * power of two, at least one page. Returns 0, or -1 with errno set and nothing opened. */
int probity_sched_rings_open(struct probity_sched_rings *rings, pid_t pid, size_t ring_bytes);

/* Opens one event, without wakings, for one thread on one CPU, and enables it immediately. Returns
 * 0 or -1. */
int probity_sched_ring_try(struct probity_sched_ring *ring, pid_t tid, uint32_t cpu);
void probity_sched_ring_end(struct probity_sched_ring *ring);

/* Returns the position up to which the kernel has written, for probity_sched_ring_read(). */
uint64_t probity_sched_ring_head(const struct probity_sched_ring *ring);

/* Decodes the record at *at, which is before `head`, and moves *at past it. Returns 1, or 0 if
 * it is irrelevant. */
int probity_sched_ring_read(const struct probity_sched_rings *rings,
                            const struct probity_sched_ring *ring, uint64_t *at, uint64_t head,
                            struct probity_sched_event *ret_event);

/* Returns the position at which reading continues. */
uint64_t probity_sched_ring_tail(const struct probity_sched_ring *ring);

/* Returns the number of records dropped so far, reported or not; 0 if the kernel does not count
 * them. */
uint64_t probity_sched_ring_lost(const struct probity_sched_ring *ring);

/* Returns the space before `at` to the kernel. */
void probity_sched_ring_release(const struct probity_sched_ring *ring, uint64_t at);

/* Switches all events off or on, except for what they report about themselves. */
void probity_sched_rings_switch(const struct probity_sched_rings *rings, int is_on);

/* Switches wakings off for good. */
void probity_sched_rings_stop_wakings(struct probity_sched_rings *rings);

void probity_sched_rings_close(struct probity_sched_rings *rings);

#endif
