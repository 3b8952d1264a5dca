/* SPDX-License-Identifier: MIT
 *
 * thread_table.c: finds the thread of an event by the reader's slot, other threads by number.
 */
#include "analysis/thread_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "probity.h"

struct thread_item {
    struct probity_thread_label label;
    char *name;
    struct thread_item *next;
};

static struct thread_item *add_thread(struct probity_thread_table *table,
                                      const struct probity_thread_label *label)
{
    struct thread_item *item = calloc(1, sizeof *item);

    if (item == NULL)
        return NULL;
    item->label = *label;
    item->label.name = NULL;
    item->next = table->threads;
    table->threads = item;
    return item;
}

static struct thread_item *item_at(struct probity_thread_table *table,
                                   const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;

    if (slot >= table->slot_count) {
        void *grown = probity_array_grow(table->slots, sizeof *table->slots, slot,
                                         &table->slot_count);
        if (grown == NULL)
            return NULL;
        table->slots = grown;
    }
    if (table->slots[slot] == NULL)
        table->slots[slot] =
            add_thread(table, &(struct probity_thread_label){event->trace, event->thread,
                                                             event->tid, event->pid, NULL});
    return table->slots[slot];
}

static int set_name(struct thread_item *item, const char *bytes, size_t length)
{
    char *name = strndup(bytes, length);

    if (name == NULL)
        return PROBITY_ERROR_MEMORY;
    free(item->name);
    item->name = name;
    item->label.name = name;
    return 0;
}

const struct probity_thread_label *probity_thread_table_at(struct probity_thread_table *table,
                                                           const struct probity_event *event)
{
    const struct thread_item *item = item_at(table, event);

    return item != NULL ? &item->label : NULL;
}

const struct probity_thread_label *probity_thread_table_add(
    struct probity_thread_table *table, const struct probity_thread_label *wanted)
{
    struct thread_item *item = table->threads;

    while (item != NULL &&
           (item->label.trace != wanted->trace || item->label.thread != wanted->thread))
        item = item->next;
    item = item != NULL ? item : add_thread(table, wanted);
    if (item == NULL ||
        (wanted->name != NULL && set_name(item, wanted->name, strlen(wanted->name)) != 0))
        return NULL;
    return &item->label;
}

int probity_thread_table_name(struct probity_thread_table *table, const struct probity_event *event)
{
    struct thread_item *item = item_at(table, event);

    return item != NULL ? set_name(item, (const char *)event->payload, event->payload_bytes)
                        : PROBITY_ERROR_MEMORY;
}

void probity_thread_table_release(struct probity_thread_table *table)
{
    struct thread_item *item;

    while ((item = table->threads) != NULL) {
        table->threads = item->next;
        free(item->name);
        free(item);
    }
    free(table->slots);
    *table = (struct probity_thread_table){.threads = NULL};
}
