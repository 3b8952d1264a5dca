/* SPDX-License-Identifier: MIT
 *
 * ahead_items.h: the items of batches: written by ahead.c and ahead_hits.c, read by ahead.c and
 * runs.c.
 */
#ifndef PROBITY_READER_AHEAD_ITEMS_H
#define PROBITY_READER_AHEAD_ITEMS_H

#include <stddef.h>
#include <stdint.h>

#include "reader/merge.h"
#include "reader/run.h"

enum { PROBITY_AHEAD_CODES = 1024, PROBITY_AHEAD_RUNS = 1024 }; /* powers of two */

enum item_kind {
    ITEM_EVENT,    /* a hit, enter or leave of one word: struct probity_run_event */
    ITEM_RARE,     /* any other event */
    ITEM_CODE,     /* struct probity_run_code */
    ITEM_RUN,      /* struct probity_ahead_run */
    ITEM_DECLARED, /* a function whose symbol must be looked up */
    ITEM_RENAMED,  /* a name to which no later event refers */
    ITEM_END
};

/* Facts common to all events of one block. */
struct probity_ahead_run {
    struct probity_run_item head;
    uint32_t trace, thread, thread_slot, tid, pid;
    uint8_t cpu_known, wall_known, late, unused;
};

/* The places that items refer to, as filled by the second thread. */
struct probity_ahead_places {
    struct {
        uint64_t key, changes; /* changes: of the trace's names, + 1 */
    } codes[PROBITY_AHEAD_CODES];
    uint64_t runs[PROBITY_AHEAD_RUNS]; /* serials of blocks */
};

/* The facts stored by the items so far, for the reader of the items. */
struct probity_ahead_facts {
    struct probity_event event;
    uint32_t run; /* place of the event's run; UINT32_MAX: none */
    unsigned kinds; /* bits of the kinds of all codes so far */
    struct probity_run_code codes[PROBITY_AHEAD_CODES];
    struct probity_ahead_run runs[PROBITY_AHEAD_RUNS];
};

/* The free part of a batch. */
struct probity_ahead_room {
    uint8_t *at, *end;
};

/* Returns room for an item whose size is a multiple of 8 bytes. Does not check `end`. */
static inline void *probity_ahead_put(struct probity_ahead_room *room, enum item_kind kind,
                                      size_t bytes)
{
    struct probity_run_item *item = (struct probity_run_item *)(void *)room->at;

    *item = (struct probity_run_item){(uint16_t)kind, 0, (uint32_t)bytes};
    room->at += bytes;
    return item;
}

/* Returns the place of the block's run, which it stores first if necessary. */
uint16_t probity_ahead_put_run(struct probity_ahead_places *places,
                               struct probity_ahead_room *room,
                               const struct probity_open_block *block);

/* Returns the place of a code. Traces have few codes, mostly small ones. */
static inline uint32_t probity_ahead_place_of(uint32_t trace, uint64_t code)
{
    return (uint32_t)(code + 64 * trace) % PROBITY_AHEAD_CODES;
}

static inline uint64_t probity_ahead_key_of(uint32_t trace, uint64_t code)
{
    return code << 16 | trace;
}

/* Stores the code of a hit in its place. Returns the place. */
uint32_t probity_ahead_put_new_code(struct probity_ahead_places *places,
                                    struct probity_ahead_room *room, struct probity_trace *trace,
                                    uint64_t code);

/* Returns the place of the code of a hit, which it stores first if necessary. */
static inline uint32_t probity_ahead_put_code(struct probity_ahead_places *places,
                                              struct probity_ahead_room *room,
                                              struct probity_trace *trace, uint64_t code)
{
    uint32_t place = probity_ahead_place_of(trace->number, code);

    if (__builtin_expect(places->codes[place].key == probity_ahead_key_of(trace->number, code) &&
                             places->codes[place].changes == trace->names.changes + 1, 1))
        return place;
    return probity_ahead_put_new_code(places, room, trace, code);
}

/* Maximum size of one event, with its code and run. */
enum {
    PROBITY_AHEAD_EVENT_BYTES_MAX = sizeof(struct probity_run_event) +
                                    sizeof(struct probity_run_code) +
                                    sizeof(struct probity_ahead_run)
};

/* Unpacks the events that follow the one returned by the merge into `room`, as long as they are in
 * open blocks, of one word, and before end_ns in wall time. The merge continues after them. */
void probity_ahead_hits(struct probity_merge *merge, struct probity_ahead_places *places,
                        uint64_t end_ns, struct probity_ahead_room *room);

/* ---- Reading items, in runs.c ------------------------------------------------------------------
 */

/* Sets the fields of the event that are the same for a whole block. */
void probity_ahead_take_run(struct probity_ahead_facts *facts, uint16_t place);

void probity_ahead_store_run(struct probity_ahead_facts *facts,
                             const struct probity_ahead_run *run);

void probity_ahead_store_code(struct probity_ahead_facts *facts,
                              const struct probity_run_code *code);

/* Takes the events of one block at *at, up to `end`, that are before end_ns in wall time, and the
 * items of other kinds that only store facts. Returns their number. */
size_t probity_ahead_next_run(struct probity_ahead_facts *facts, const uint8_t **at,
                              const uint8_t *end, uint64_t end_ns, struct probity_run *ret_run);

#endif
