/* SPDX-License-Identifier: MIT
 *
 * run.h: processes several events at once: consecutive hits, enters and leaves of one thread, each
 * recorded as one word, in a short form. An analysis of many such events takes a run in one call,
 * and builds an event only if it needs one.
 */
#ifndef PROBITY_READER_RUN_H
#define PROBITY_READER_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "reader/reader.h"

/* The beginning of every item of ahead_items.h. */
struct probity_run_item {
    uint16_t item;   /* an enum item_kind */
    uint16_t run;    /* for events: place of the block's facts; ITEM_RUN: the place to store them */
    uint32_t number; /* for events: place of the code; otherwise the size of the item in bytes */
};

/* Two of them fill a cache line. */
struct probity_run_event {
    struct probity_run_item head;
    uint64_t tick, wall_ns, cpu_ns;
};

/* Facts common to all hits with one code. */
struct probity_run_code {
    struct probity_run_item head;
    uint32_t place, id, name_bytes;
    uint16_t kind, is_site;
    const char *name; /* for a hit */
    const struct probity_function *function; /* for an enter or leave */
};

struct probity_run {
    const struct probity_run_event *events;
    size_t count;
    const struct probity_run_code *codes; /* indexed by head.number of an event */
    unsigned kinds; /* bits 1 << (kind & 31) of its events, and maybe of earlier ones */
    /* The facts of the thread; other fields are those of an event without a payload. */
    struct probity_event *event;
};

static inline const struct probity_run_code *probity_run_code_of(const struct probity_run *run,
                                                                 size_t at)
{
    return &run->codes[run->events[at].head.number];
}

/* Sets what the code of an event determines. */
static inline void probity_run_set_code(struct probity_event *event,
                                        const struct probity_run_code *code)
{
    event->kind = code->kind;
    event->id = code->id;
    event->is_site = code->is_site;
    event->function = code->function;
    event->name = code->function != NULL ? code->function->name : code->name;
    event->name_bytes = code->function != NULL ? code->function->name_bytes : code->name_bytes;
}

/* Sets run->event to an event of the run, and returns it. It is valid until the next call. */
static inline const struct probity_event *probity_run_event_at(const struct probity_run *run,
                                                               size_t at)
{
    const struct probity_run_event *item = &run->events[at];
    const struct probity_run_code *code = &run->codes[item->head.number];
    struct probity_event *event = run->event;

    event->tick = item->tick;
    event->wall_ns = item->wall_ns;
    event->cpu_ns = item->cpu_ns;
    probity_run_set_code(event, code);
    return event;
}

struct probity_merge;
struct probity_runs;

/* The steps that make runs without a second thread. Only in the tool. */
struct probity_run_steps {
    /* Takes a run of the events before end_ns in wall time that follow the latest one of the merge.
     * *runs: NULL at first. Returns its length; 0 if the next event must come from
     * probity_merge_next(). */
    size_t (*next)(struct probity_merge *merge, struct probity_runs **runs, uint64_t end_ns,
                   struct probity_run *ret_run);
    void (*release)(struct probity_runs *runs);
};

/* For struct probity_reader_options. */
extern const struct probity_run_steps probity_run_steps;

#endif
