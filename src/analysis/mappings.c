/* SPDX-License-Identifier: MIT
 *
 * mappings.c: stores mappings by trace and time. Programs have a few dozen mappings, so the search
 * is linear, starting with the newest. Texts are copied from untrusted bytes. For the reader's
 * thread only.
 */
#include "analysis/mappings.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"

/* Copies two texts into one allocation, which begins with the path. */
static int copy_texts(const struct probity_mapping_event *event, struct probity_mapping *mapping)
{
    char *texts = malloc(event->path_bytes + event->build_id_bytes + 2);

    if (texts == NULL)
        return PROBITY_ERROR_MEMORY;
    char *build_id = texts + event->path_bytes + 1;
    memcpy(texts, event->path, event->path_bytes);
    texts[event->path_bytes] = '\0';
    memcpy(build_id, event->build_id, event->build_id_bytes);
    build_id[event->build_id_bytes] = '\0';
    mapping->path = texts;
    mapping->build_id = build_id;
    return 0;
}

/* Inserts a mapping by time. Events arrive in time order, except those of late blocks. */
static void insert(struct probity_mapping_list *list, const struct probity_mapping *mapping)
{
    size_t at = list->count++;

    probity_assert(list->count <= list->capacity);
    for (; at > 0 && list->items[at - 1].tick > mapping->tick; at--)
        list->items[at] = list->items[at - 1];
    list->items[at] = *mapping;
}

static struct probity_mapping_list *list_of(struct probity_mappings *mappings, uint32_t trace)
{
    if (trace < mappings->trace_count)
        return &mappings->traces[trace];
    struct probity_mapping_list *traces =
        probity_array_grow(mappings->traces, sizeof *traces, trace, &mappings->trace_count);
    if (traces == NULL)
        return NULL;
    mappings->traces = traces;
    return &traces[trace];
}

int probity_mappings_put(struct probity_mappings *mappings, const struct probity_event *event)
{
    struct probity_mapping_event declared;

    if (event->kind != PROBITY_EVENT_MAPPING ||
        probity_mapping_event_get(event->payload, event->payload_bytes, &declared) != 0)
        return 0;
    struct probity_mapping_list *list = list_of(mappings, event->trace);
    if (list == NULL)
        return PROBITY_ERROR_MEMORY;
    if (list->count >= PROBITY_MAPPINGS_MAX) {
        mappings->beyond++;
        return 0;
    }
    void *items = probity_array_room(list->items, sizeof *list->items, list->count,
                                     &list->capacity);
    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    list->items = items;
    struct probity_mapping mapping = {.tick = event->tick, .first = declared.first,
                                      .end = declared.end, .bias = declared.bias};
    int error = copy_texts(&declared, &mapping);
    if (error == 0)
        insert(list, &mapping);
    return error;
}

const struct probity_mapping *probity_mappings_find(const struct probity_mappings *mappings,
                                                    uint32_t trace, uint64_t tick,
                                                    uint64_t address)
{
    if (trace >= mappings->trace_count)
        return NULL;
    const struct probity_mapping_list *list = &mappings->traces[trace];
    for (size_t i = list->count; i > 0; i--) {
        const struct probity_mapping *mapping = &list->items[i - 1];
        if (mapping->tick <= tick && address >= mapping->first && address < mapping->end)
            return mapping;
    }
    return NULL;
}

void probity_mappings_release(struct probity_mappings *mappings)
{
    for (size_t i = 0; i < mappings->trace_count; i++) {
        struct probity_mapping_list *list = &mappings->traces[i];
        for (size_t j = 0; j < list->count; j++)
            free((char *)(uintptr_t)list->items[j].path);
        free(list->items);
    }
    free(mappings->traces);
    *mappings = (struct probity_mappings){0};
}
