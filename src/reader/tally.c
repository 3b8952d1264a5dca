/* SPDX-License-Identifier: MIT
 *
 * tally.c: counting for `info`. Pure memory; runs in tools only.
 */
#include "reader/tally.h"

#include <stdlib.h>
#include <string.h>

#include "probity.h"

static struct probity_thread_facts *thread_at(struct probity_tally *tally, uint32_t slot,
                                              const struct probity_data *data)
{
    if (slot >= tally->capacity) {
        size_t capacity = 2 * ((size_t)slot + 16);
        struct probity_thread_facts *threads =
            realloc(tally->threads, capacity * sizeof *threads);
        if (threads == NULL)
            return NULL;
        tally->threads = threads;
        tally->capacity = capacity;
    }
    for (; tally->count <= slot; tally->count++)
        tally->threads[tally->count] = (struct probity_thread_facts){0};
    tally->threads[slot].thread = data->thread;
    tally->threads[slot].tid = data->tid;
    return &tally->threads[slot];
}

/* A later name replaces the earlier one. */
static int take_name(struct probity_thread_facts *thread, const struct probity_record *record)
{
    char *name = strndup((const char *)record->payload, record->payload_bytes);

    if (name == NULL)
        return PROBITY_ERROR_MEMORY;
    free(thread->name);
    thread->name = name;
    return 0;
}

static void take_span(struct probity_tally *tally, uint64_t first_tick, uint64_t last_tick)
{
    if (tally->hits == 0 || first_tick < tally->first_tick)
        tally->first_tick = first_tick;
    if (tally->hits == 0 || last_tick > tally->last_tick)
        tally->last_tick = last_tick;
}

/* All records where there are events among them; else up to the first hit, which tells the span. */
static int walk(struct probity_tally *tally, struct probity_thread_facts *thread,
                const struct probity_data *data, struct probity_unpacker *unpacker)
{
    int has_events = (data->flags & PROBITY_DATA_HAS_EVENTS) != 0, error = 0;
    struct probity_record record;

    while (error == 0 && probity_unpack(unpacker, &record) > 0) {
        if (record.kind == PROBITY_EVENT_HIT) {
            uint64_t hits = has_events ? 1 : data->records;
            take_span(tally, record.tick, has_events ? record.tick : data->last_tick);
            tally->hits += hits;
            thread->hits += hits;
        } else if (record.kind == PROBITY_EVENT_THREAD_NAME) {
            error = take_name(thread, &record);
        }
        if (!has_events)
            break;
    }
    return error;
}

int probity_tally_add(struct probity_tally *tally, uint32_t slot, const struct probity_data *data,
                      const uint8_t *payload, size_t bytes)
{
    struct probity_thread_facts *thread = thread_at(tally, slot, data);
    struct probity_unpacker unpacker;

    if (thread == NULL)
        return PROBITY_ERROR_MEMORY;
    probity_unpacker_init(&unpacker, payload + PROBITY_DATA_FIXED_BYTES,
                          bytes - PROBITY_DATA_FIXED_BYTES, data->first_tick);
    return walk(tally, thread, data, &unpacker);
}

void probity_tally_release(struct probity_tally *tally)
{
    for (size_t i = 0; i < tally->count; i++)
        free(tally->threads[i].name);
    free(tally->threads);
    *tally = (struct probity_tally){0};
}
