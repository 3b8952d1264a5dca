/* SPDX-License-Identifier: MIT
 *
 * runs.c: makes runs of events from items. The items are written by a second thread or, without
 * one, by the reader's thread, as many as fit into a CPU's first-level cache. Runs in the reader's
 * thread.
 */
#include "reader/run.h"

#include <stdlib.h>

#include "base/assert.h"
#include "reader/ahead_items.h"

enum { BATCH_BYTES = 16384 };

struct probity_runs {
    const uint8_t *at, *end; /* items not taken yet */
    int is_before_other;     /* the items end before an event that is not in a run */
    struct probity_ahead_facts facts;
    struct probity_ahead_places places;
    _Alignas(64) uint8_t items[BATCH_BYTES];
};

void probity_ahead_take_run(struct probity_ahead_facts *facts, uint16_t place)
{
    const struct probity_ahead_run *run = &facts->runs[place];
    struct probity_event *event = &facts->event;

    probity_assert(place < PROBITY_AHEAD_RUNS);
    facts->run = place;
    event->trace = run->trace;
    event->thread = run->thread;
    event->thread_slot = run->thread_slot;
    event->tid = run->tid;
    event->pid = run->pid;
    event->cpu_known = run->cpu_known;
    event->wall_known = run->wall_known;
    event->late = run->late;
}

void probity_ahead_store_run(struct probity_ahead_facts *facts, const struct probity_ahead_run *run)
{
    probity_assert(run->head.run < PROBITY_AHEAD_RUNS);
    facts->runs[run->head.run] = *run;
    if (facts->run == run->head.run)
        facts->run = UINT32_MAX;
}

void probity_ahead_store_code(struct probity_ahead_facts *facts,
                              const struct probity_run_code *code)
{
    probity_assert(code->place < PROBITY_AHEAD_CODES);
    facts->codes[code->place] = *code;
    facts->kinds |= 1U << (code->kind & 31);
}

/* Stores facts up to the next item of another kind. Returns the address of that item, or the
 * end. */
static const uint8_t *skip_facts(struct probity_ahead_facts *facts, const uint8_t *at,
                                 const uint8_t *end)
{
    while (at < end) {
        const struct probity_run_item *item = (const struct probity_run_item *)(const void *)at;
        if (item->item == ITEM_CODE)
            probity_ahead_store_code(facts, (const void *)at);
        else if (item->item == ITEM_RUN)
            probity_ahead_store_run(facts, (const void *)at);
        else
            break;
        at += item->number;
    }
    return at;
}

size_t probity_ahead_next_run(struct probity_ahead_facts *facts, const uint8_t **at,
                              const uint8_t *end, uint64_t end_ns, struct probity_run *ret_run)
{
    const uint8_t *first = skip_facts(facts, *at, end);
    const struct probity_run_event *events = (const void *)first;
    size_t most = (size_t)(end - first) / sizeof *events, count = 0;

    *at = first;
    if (most == 0 || events->head.item != ITEM_EVENT)
        return 0;
    uint16_t run = events->head.run;
    while (count < most && events[count].head.item == ITEM_EVENT && events[count].head.run == run)
        count++;
    for (size_t i = 0; end_ns != UINT64_MAX && i < count; i++)
        count = events[i].wall_ns < end_ns ? count : i;
    if (facts->event.payload != NULL) /* left by the previous event */
        probity_event_clear(&facts->event);
    if (facts->run != run)
        probity_ahead_take_run(facts, run);
    *at += count * sizeof *events;
    *ret_run = (struct probity_run){events, count, facts->codes, facts->kinds, &facts->event};
    return count;
}

static size_t next(struct probity_merge *merge, struct probity_runs **runs, uint64_t end_ns,
                   struct probity_run *ret_run)
{
    struct probity_runs *all = *runs;

    if (all == NULL) {
        all = *runs = aligned_alloc(64, sizeof *all);
        if (all == NULL)
            return 0;
        *all = (struct probity_runs){.facts = {.run = UINT32_MAX}};
    }
    if (all->at == all->end) {
        struct probity_ahead_room room = {all->items, all->items + BATCH_BYTES};
        if (all->is_before_other) { /* the attempt would cost as much as a short run */
            all->is_before_other = 0;
            return 0;
        }
        probity_ahead_hits(merge, &all->places, end_ns, &room);
        all->at = all->items;
        all->end = room.at;
        all->is_before_other = room.at > all->items &&
                               room.end - room.at >= PROBITY_AHEAD_EVENT_BYTES_MAX;
    }
    return probity_ahead_next_run(&all->facts, &all->at, all->end, end_ns, ret_run);
}

static void release(struct probity_runs *runs)
{
    free(runs);
}

const struct probity_run_steps probity_run_steps = {next, release};
