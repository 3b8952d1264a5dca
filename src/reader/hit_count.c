/* SPDX-License-Identifier: MIT
 *
 * hit_count.c: counts hits for `info`. No I/O; runs only in the tool.
 */
#include "reader/hit_count.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "format/stream.h"
#include "probity.h"

static struct probity_thread_facts *thread_at(struct probity_hit_count *tally, uint32_t slot,
                                              const struct probity_data *data)
{
    if (slot >= tally->capacity) {
        void *threads = probity_array_grow(tally->threads, sizeof *tally->threads, slot,
                                           &tally->capacity);
        if (threads == NULL)
            return NULL;
        tally->threads = threads;
    }
    for (; tally->count <= slot; tally->count++)
        tally->threads[tally->count] = (struct probity_thread_facts){0};
    probity_assert(slot < tally->count && tally->count <= tally->capacity);
    tally->threads[slot].thread = data->thread;
    tally->threads[slot].tid = data->tid;
    return &tally->threads[slot];
}

/* Takes a name, which replaces an earlier one. */
static int take_name(struct probity_thread_facts *thread, const struct probity_record *record)
{
    char *name = strndup((const char *)record->payload, record->payload_bytes);

    if (name == NULL)
        return PROBITY_ERROR_MEMORY;
    free(thread->name);
    thread->name = name;
    return 0;
}

static void take_span(struct probity_hit_count *tally, uint64_t first_tick, uint64_t last_tick)
{
    if (!tally->has_span || first_tick < tally->first_tick)
        tally->first_tick = first_tick;
    if (!tally->has_span || last_tick > tally->last_tick)
        tally->last_tick = last_tick;
    tally->has_span = 1;
}

/* Counts a hit, or a record that looks like one. */
static void take_hit(struct probity_hit_count *tally, struct probity_thread_facts *thread,
                     const struct probity_record *record)
{
    const struct probity_name *name =
        record->code & 1 ? probity_names_find(&tally->names, record->code) : NULL;

    take_span(tally, record->tick, record->tick);
    if (name != NULL) {
        tally->enters += record->code == 2 * (uint64_t)name->function->number + 1;
        return;
    }
    tally->hits++;
    thread->hits++;
}

/* Whether this is the first such decision on the site: a function that was switched on again may be
 * demoted to counting a second time. */
static int is_first(struct probity_hit_count *tally, const struct probity_budget_event *event)
{
    uint8_t bit = (uint8_t)(1u << event->what);
    int is_new = !(tally->decided[event->site] & bit);

    tally->decided[event->site] |= bit;
    return is_new;
}

static int take_budget(struct probity_hit_count *tally, const struct probity_record *record)
{
    struct probity_budget_event event;

    if (probity_budget_event_get(record->payload, record->payload_bytes, &event) != 0)
        return 0;
    if (event.what == PROBITY_BUDGET_WHAT_EXCEEDED || event.what == PROBITY_BUDGET_WHAT_TOTAL)
        tally->budget = event;
    if (event.site >= PROBITY_LIMIT_SITES || event.what > PROBITY_BUDGET_WHAT_HITS)
        return 0;
    if (tally->decided == NULL)
        tally->decided = calloc(PROBITY_LIMIT_SITES, 1);
    if (tally->decided == NULL)
        return PROBITY_ERROR_MEMORY;
    if (!is_first(tally, &event))
        return 0;
    tally->counted_functions += event.what == PROBITY_BUDGET_WHAT_COUNTED;
    tally->counted_hits += event.what == PROBITY_BUDGET_WHAT_HITS;
    tally->removed_functions += event.what == PROBITY_BUDGET_WHAT_REMOVED;
    return 0;
}

/* Counts sites that are switched off for the first time. */
static int take_switched(struct probity_hit_count *tally, const struct probity_record *record)
{
    enum { BIT_OFF = 1 << 7 }; /* not used for decisions of a budget */

    if (record->payload_bytes < 8 || probity_get_u32(record->payload) != 0)
        return 0;
    if (tally->decided == NULL)
        tally->decided = calloc(PROBITY_LIMIT_SITES, 1);
    if (tally->decided == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t at = 4; at + 4 <= record->payload_bytes; at += 4) {
        uint32_t site = probity_get_u32(record->payload + at);
        if (site >= PROBITY_LIMIT_SITES)
            continue;
        tally->switched_sites += !(tally->decided[site] & BIT_OFF);
        tally->decided[site] |= BIT_OFF;
    }
    return 0;
}

static void take_mode(struct probity_mode_changes *modes, const struct probity_record *record)
{
    int mode = probity_mode_set_by(record->payload, record->payload_bytes);

    if (mode < 0)
        return;
    modes->count++;
    modes->last_tick = record->tick;
    modes->mode = (uint32_t)mode;
}

static int take_event(struct probity_hit_count *tally, struct probity_thread_facts *thread,
                      const struct probity_record *record)
{
    switch (record->kind) {
    case PROBITY_EVENT_THREAD_NAME: return take_name(thread, record);
    case PROBITY_EVENT_FUNCTION:
        return probity_functions_declare(&tally->functions, &tally->names, 0, NULL,
                                         record->payload, record->payload_bytes);
    case PROBITY_EVENT_ENTER: tally->enters++; break;
    case PROBITY_EVENT_LEAVE: break;
    case PROBITY_EVENT_BUDGET: return take_budget(tally, record);
    case PROBITY_EVENT_SITES_SWITCHED: return take_switched(tally, record);
    case PROBITY_EVENT_LEVELS: take_mode(&tally->modes, record); return 0;
    case PROBITY_EVENT_HIT_WITH:
        if (record->payload_bytes < 8)
            return 0;
        tally->hits++;
        thread->hits++;
        break;
    case PROBITY_EVENT_CHECKPOINT: /* if it has a tick, it opens a scope */
        tally->enters += record->payload_bytes >= 16 && probity_get_u64(record->payload + 8) != 0;
        break;
    default: return 0;
    }
    take_span(tally, record->tick, record->tick);
    return 0;
}

/* For a block without events, if no site is a function: decodes only the first record, for its
 * tick.
 */
static void skim(struct probity_hit_count *tally, struct probity_thread_facts *thread,
                 const struct probity_data *data, struct probity_unpacker *unpacker)
{
    struct probity_record record;

    if (probity_unpack(unpacker, &record) <= 0)
        return;
    thread->has_records = 1;
    take_span(tally, record.tick, data->last_tick);
    tally->hits += data->records;
    thread->hits += data->records;
}

static int walk(struct probity_hit_count *tally, struct probity_thread_facts *thread,
                struct probity_unpacker *unpacker)
{
    struct probity_record record;
    int error = 0;

    while (error == 0 && probity_unpack(unpacker, &record) > 0) {
        thread->has_records |= probity_event_is_record(record.kind) ||
                               record.kind == PROBITY_EVENT_HIT_WITH;
        if (record.kind == PROBITY_EVENT_HIT)
            take_hit(tally, thread, &record);
        else
            error = take_event(tally, thread, &record);
    }
    return error;
}

int probity_hit_count_add(struct probity_hit_count *tally, uint32_t slot,
                          const struct probity_data *data, const uint8_t *payload, size_t bytes)
{
    struct probity_thread_facts *thread = thread_at(tally, slot, data);
    struct probity_unpacker unpacker;

    probity_assert(bytes >= PROBITY_DATA_FIXED_BYTES);
    if (thread == NULL)
        return PROBITY_ERROR_MEMORY;
    probity_unpacker_init(&unpacker, payload + PROBITY_DATA_FIXED_BYTES,
                          bytes - PROBITY_DATA_FIXED_BYTES, data->first_tick);
    if (tally->is_again || (data->flags & PROBITY_DATA_HAS_EVENTS))
        return walk(tally, thread, &unpacker);
    skim(tally, thread, data, &unpacker);
    return 0;
}

int probity_hit_count_again(struct probity_hit_count *tally)
{
    if (tally->is_again || tally->names.table.items == 0)
        return 0;
    for (size_t i = 0; i < tally->count; i++)
        tally->threads[i].hits = 0;
    tally->counted_functions = tally->removed_functions = tally->counted_hits = 0;
    tally->switched_sites = 0;
    tally->modes = (struct probity_mode_changes){0};
    free(tally->decided);
    tally->decided = NULL;
    tally->hits = tally->enters = tally->first_tick = tally->last_tick = 0;
    tally->has_span = 0;
    tally->is_again = 1;
    return 1;
}

void probity_hit_count_release(struct probity_hit_count *tally)
{
    for (size_t i = 0; i < tally->count; i++)
        free(tally->threads[i].name);
    free(tally->threads);
    free(tally->decided);
    probity_names_release(&tally->names);
    probity_functions_release(&tally->functions);
    *tally = (struct probity_hit_count){0};
}
