/* SPDX-License-Identifier: MIT
 *
 * writer.h: the writing thread: the seed's own, moved off the program's threads. It has all signals
 * blocked and a table of file descriptors of its own, so that nothing that the program does to its
 * descriptors or signals reaches it.
 */
#ifndef PROBITY_WRITER_WRITER_H
#define PROBITY_WRITER_WRITER_H

#include <pthread.h>

#include "format/cost.h"
#include "format/sites.h"
#include "spool/live.h"

enum probity_writer_state {
    PROBITY_WRITER_NONE = 0,
    PROBITY_WRITER_STARTING = 1,
    PROBITY_WRITER_RUNS = 2,
    PROBITY_WRITER_ENDED = 3
};

struct probity_writer {
    struct probity_live *live;
    const char *trace_path, *spool_path; /* absolute; the owner keeps them while the writer runs */
    uint64_t trace_device, trace_inode;  /* the file: its path may lead to another by now */
    uint64_t trace_bytes;                /* of the file when the writer takes it over */
    uint64_t trace_blocks;               /* likewise */
    const struct probity_cost *cost;     /* what the end is to tell of it; NULL or empty: nothing */
    const struct probity_sites_part *sites; /* what the end is to list; NULL: nothing more */
    uint32_t state;                      /* an enum probity_writer_state; futex */
    uint32_t sleeps;                     /* 1: the writer sleeps, and wants to be woken */
    uint32_t flush_asked, flush_done;    /* counts; the second is a futex */
    uint32_t end_reason;                 /* not 0: end the trace, with this reason */
    int result;                          /* of the last pass; 0 or an error */
    pthread_t thread;
    /* Changes levels at the wish of `probity level` (-1: unchanged), and those in the header;
     * returns what is in force then, as src/spool/control.h has it. NULL: such wishes are not
     * heard. */
    uint32_t (*change_levels)(int functions, int parameters);
    uint32_t *thread_numbers; /* the next that is free; under live->slots_lock */
    /* Told in the thread that writes when the file has grown by a SYNC, now and then when it has
     * not, and when it is closed. NULL: nobody is. */
    void (*grown)(void *owner, int is_closed);
    void *owner;
    int keeps_stderr; /* 1: the writing thread keeps standard error open */
};

/* Starts the thread and waits until it holds its files. Returns 0, or an error: then there is no
 * thread. */
int probity_writer_start(struct probity_writer *writer);

/* Chunks are full: wakes the writer if it sleeps. Any thread, signal handlers too. */
void probity_writer_notify(struct probity_writer *writer);

/* All that is stored by now is in the file when this returns. Returns 0 or the writer's error. */
int probity_writer_flush(struct probity_writer *writer);

/* Drains the rest, ends the trace, ends the thread. */
int probity_writer_stop(struct probity_writer *writer, uint32_t reason);

/* The same in the calling thread, where no writing thread was started. */
int probity_writer_run_here(struct probity_writer *writer, uint32_t reason);

#endif
