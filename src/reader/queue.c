/* SPDX-License-Identifier: MIT
 *
 * queue.c: a binary heap; the earliest key is items[0].
 */
#include "reader/queue.h"

#include <stdlib.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"

static uint64_t trace_bytes_of(const struct probity_waiting *item)
{
    return (item->offset & (PROBITY_WAITING_IN_INDEX | PROBITY_WAITING_IN_SCHED)) == 0
               ? item->bytes : 0;
}

#ifdef PROBITY_DEBUG
/* Checks only the beginning of a long queue, so that a push stays cheap. */
int probity_queue_is_valid(const struct probity_queue *queue)
{
    enum { CHECKED = 64 };
    size_t count = queue->count < CHECKED ? queue->count : CHECKED;

    if (queue->count > queue->capacity)
        return 0;
    for (size_t i = 1; i < count; i++) {
        if (queue->items[i].key < queue->items[(i - 1) / 2].key)
            return 0;
    }
    return 1;
}
#endif

int probity_queue_push(struct probity_queue *queue, const struct probity_waiting *item)
{
    probity_assert(probity_queue_is_valid(queue));
    void *items =
        probity_array_room(queue->items, sizeof *queue->items, queue->count, &queue->capacity);
    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    queue->items = items;
    probity_assert(queue->count < queue->capacity);
    queue->trace_bytes += trace_bytes_of(item);
    size_t at = queue->count++;
    for (; at > 0 && queue->items[(at - 1) / 2].key > item->key; at = (at - 1) / 2)
        queue->items[at] = queue->items[(at - 1) / 2];
    queue->items[at] = *item;
    return 0;
}

struct probity_waiting probity_queue_pop(struct probity_queue *queue)
{
    struct probity_waiting first = queue->items[0], last = queue->items[--queue->count];
    size_t at = 0, child;

    probity_assert(first.key <= last.key);
    queue->trace_bytes -= trace_bytes_of(&first);
    while ((child = 2 * at + 1) < queue->count) {
        child += child + 1 < queue->count && queue->items[child + 1].key < queue->items[child].key;
        if (last.key <= queue->items[child].key)
            break;
        queue->items[at] = queue->items[child];
        at = child;
    }
    queue->items[at] = last;
    probity_assert(probity_queue_is_valid(queue));
    return first;
}

void probity_queue_release(struct probity_queue *queue)
{
    free(queue->items);
    *queue = (struct probity_queue){0};
}
