/* SPDX-License-Identifier: MIT
 *
 * ahead_items.h: the items of batches, for ahead.c and ahead_hits.c.
 */
#ifndef PROBITY_READER_AHEAD_ITEMS_H
#define PROBITY_READER_AHEAD_ITEMS_H

#include <stddef.h>
#include <stdint.h>

#include "reader/merge.h"

enum { PROBITY_AHEAD_CODES = 1024, PROBITY_AHEAD_RUNS = 1024 }; /* powers of two */

enum item_kind {
    ITEM_EVENT,    /* a hit, enter or leave of one word: struct probity_ahead_event */
    ITEM_RARE,     /* any other event */
    ITEM_CODE,     /* struct probity_ahead_code */
    ITEM_RUN,      /* struct probity_ahead_run */
    ITEM_DECLARED, /* a function whose symbol must be looked up */
    ITEM_RENAMED,  /* a name to which no later event refers */
    ITEM_END
};

/* Begins every item. */
struct probity_ahead_item {
    uint16_t item;   /* an enum item_kind */
    uint16_t run;    /* of events: place of the block's run; ITEM_RUN: the place to store it */
    uint32_t number; /* ITEM_EVENT: place of its code; otherwise the size of the item in bytes */
};

/* Two of them fill a cache line. */
struct probity_ahead_event {
    struct probity_ahead_item head;
    uint64_t tick, wall_ns, cpu_ns;
};

/* Facts common to all hits of one code. */
struct probity_ahead_code {
    struct probity_ahead_item head;
    uint32_t place, id, name_bytes;
    uint16_t kind, is_site;
    const char *name; /* of a hit */
    const struct probity_function *function; /* of an enter or leave */
};

/* Facts common to all events of one block. */
struct probity_ahead_run {
    struct probity_ahead_item head;
    uint32_t trace, thread, thread_slot, tid, pid;
    uint8_t cpu_known, wall_known, late, unused;
};

/* The places to which items refer, as the second thread has filled them. */
struct probity_ahead_places {
    struct {
        uint64_t key, changes; /* of the trace's names, + 1 */
    } codes[PROBITY_AHEAD_CODES];
    uint64_t runs[PROBITY_AHEAD_RUNS]; /* serials of blocks */
};

/* Part of a batch. */
struct probity_ahead_room {
    uint8_t *at, *end;
};

/* Returns room for an item, of a multiple of 8 bytes; `end` is not checked. */
static inline void *probity_ahead_put(struct probity_ahead_room *room, enum item_kind kind,
                                      size_t bytes)
{
    struct probity_ahead_item *item = (struct probity_ahead_item *)(void *)room->at;

    *item = (struct probity_ahead_item){(uint16_t)kind, 0, (uint32_t)bytes};
    room->at += bytes;
    return item;
}

/* Returns the place of the block's run; if it is not there, stores it first. */
uint16_t probity_ahead_put_run(struct probity_ahead_places *places,
                               struct probity_ahead_room *room,
                               const struct probity_open_block *block);

/* The same for the code of a hit. */
uint32_t probity_ahead_put_code(struct probity_ahead_places *places,
                                struct probity_ahead_room *room, struct probity_trace *trace,
                                uint64_t code);

/* Maximum size of one event, with its code and run. */
enum {
    PROBITY_AHEAD_EVENT_BYTES_MAX = sizeof(struct probity_ahead_event) +
                                    sizeof(struct probity_ahead_code) +
                                    sizeof(struct probity_ahead_run)
};

/* Unpacks the events after the one returned by the merge into `room`, as long as they are in
 * open blocks, of one word, and before end_ns in wall time. The merge continues after them. */
void probity_ahead_hits(struct probity_merge *merge, struct probity_ahead_places *places,
                        uint64_t end_ns, struct probity_ahead_room *room);

#endif
