/* SPDX-License-Identifier: MIT
 *
 * writer.h: the background writer thread. It has all signals blocked and a separate file descriptor
 * table, so the program's changes to descriptors and signals do not affect it.
 */
#ifndef PROBITY_WRITER_WRITER_H
#define PROBITY_WRITER_WRITER_H

#include <pthread.h>

#include "base/os.h"
#include "format/cost.h"
#include "format/sites.h"
#include "spool/live.h"

struct probity_dumps;
struct probity_pass;

enum probity_writer_state {
    PROBITY_WRITER_NONE = 0,
    PROBITY_WRITER_STARTING = 1,
    PROBITY_WRITER_RUNS = 2,
    PROBITY_WRITER_ENDED = 3
};

struct probity_writer {
    struct probity_live *live;
    const char *trace_path, *spool_path; /* absolute; must stay valid while the writer runs */
    uint64_t trace_device, trace_inode;  /* of the file, since its path may now name another one */
    uint64_t trace_bytes;                /* size of the file when the writer takes over */
    uint64_t trace_blocks;               /* number of blocks then */
    const struct probity_cost *cost;     /* for the end of the trace; NULL or empty: none */
    const struct probity_sites_part *sites; /* for the end of the trace; NULL: no more */
    uint32_t state;                      /* an enum probity_writer_state; futex */
    uint32_t sleeps;                     /* 1: the writer sleeps and must be woken */
    uint32_t flush_asked, flush_done;    /* counters; the second is a futex */
    uint32_t end_reason;                 /* not 0: end the trace, with this reason */
    int result;                          /* result of the last pass: 0 or an error */
    pthread_t thread;
    int must_be_reaped;  /* 1: the thread itself has ended the trace: probity_writer_reap() */
    uint32_t may_return; /* 1: a thread waits in pthread_join(); futex */
    unsigned *thread_count; /* count in libc, or NULL; base/thread_count.h */
    uint64_t *own_threads;  /* those of the process, or NULL; base/own_threads.h */
    struct probity_os_threads threads; /* those of the process; open while the thread runs */
    int is_uncounted;    /* 1: libc does not count the thread */
    int spool;           /* descriptor of segment 0 with the draining lock, or -1 */
    int is_close_reported;  /* 1: `grown` was called for the last time */
    struct probity_pass *pass; /* that of the running thread */
    /* Called in the writer thread when it begins, before any pass. May be NULL. */
    void (*begun)(void *owner);
    /* Called in the writer thread when all threads of the program have exited without ending the
     * process: ends the recording with probity_writer_stop(). NULL: only the writer thread ends. */
    void (*left_alone)(void *owner);
    /* Called in the same way when `probity detach` has requested the end. NULL: there is no
     * reply. */
    void (*end_asked)(void *owner);
    /* Changes levels at the request of `probity level` (-1: unchanged), including those in the
     * header; returns the resulting levels, encoded as in src/spool/control.h. NULL: requests are
     * ignored. */
    uint32_t (*change_levels)(int functions, int parameters);
    /* Changes other settings for `probity level --set`. Returns 0, or an error with why. NULL: the
     * recording has none that may change. */
    int (*change_settings)(void *owner, const char *text, char *ret_why, size_t room);
    /* Writes events about the changes made, at this tick. Set together with change_settings. */
    void (*write_changes)(void *owner, struct probity_pass *pass, uint64_t tick);
    /* Called after each whole pass, and before the trace ends (is_last): may write events. Returns
     * 0 or an error of the pass. NULL: the cost of recording is not evaluated. */
    int (*judge_cost)(void *owner, struct probity_pass *pass, int is_last);
    int judge_soon; /* set by judge_cost: something has just been decided */
    struct probity_dumps *dumps; /* dumps of a ring; or NULL */
    /* Called once a second: updates percentiles that are limits of conditions. NULL: there are
     * none. */
    void (*publish_limits)(void *owner);
    struct probity_tally *tally; /* for judge_cost; or NULL */
    uint32_t *thread_numbers; /* the next free number; under live->slots_lock */
    /* Called in the writer thread when the file has grown by a SYNC, occasionally when it has not,
     * and when it is closed. May be NULL. */
    void (*grown)(void *owner, int is_closed);
    void *owner;
    int has_files;    /* 1: `grown` or `left_alone` create or open files */
    int is_filtered;  /* 1: the thread blocks system calls that it does not need */
    int keeps_stderr; /* 1: the writer thread keeps standard error open */
    int keeps_stdout; /* 1: it also keeps standard output open, which requires keeps_stderr */
};

/* Starts the thread and waits until its files are open. Returns 0, or an error if the thread could
 * not be started. */
int probity_writer_start(struct probity_writer *writer);

/* Call when chunks are full: wakes the writer if it sleeps. Any thread, async-signal-safe. */
void probity_writer_notify(struct probity_writer *writer);

/* Waits until everything stored so far is in the file. Returns 0 or the writer's error. */
int probity_writer_flush(struct probity_writer *writer);

/* Drains the rest, and ends the trace and the thread. In the writer thread: only ends the trace. */
int probity_writer_stop(struct probity_writer *writer, uint32_t reason);

/* Call before the struct is used again: joins a thread that ended the trace itself. */
void probity_writer_reap(struct probity_writer *writer);

/* Returns whether the system has ended the writer thread because the process exits: 1 or 0. If so,
 * releases the draining lock: records that were not written are recovered from the spool. */
int probity_writer_is_lost(struct probity_writer *writer);

/* Does the same as stop, in the calling thread, if no writer thread was started. */
int probity_writer_run_here(struct probity_writer *writer, uint32_t reason);

/* Requests that the writer, if it is running, add pages for more chunks. Returns immediately. Any
 * thread. */
void probity_writer_extend(struct probity_writer *writer);

#endif
