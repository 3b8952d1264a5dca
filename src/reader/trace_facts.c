/* SPDX-License-Identifier: MIT
 *
 * trace_facts.c: derives values from the facts of a trace, and manages its list of late blocks.
 */
#include "base/array_grow.h"
#include "base/assert.h"
#include "base/ticks.h"
#include "probity.h"
#include "reader/trace.h"

int probity_waiting_list_add(struct probity_waiting_list *list, const struct probity_waiting *item)
{
    void *items =
        probity_array_room(list->items, sizeof *list->items, list->count, &list->capacity);
    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    list->items = items;
    probity_assert(list->count < list->capacity);
    list->items[list->count++] = *item;
    return 0;
}

int probity_waiting_compare(const void *left, const void *right)
{
    const struct probity_waiting *a = left, *b = right;

    if (a->tick != b->tick)
        return a->tick < b->tick ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

uint64_t probity_trace_ns_of_ticks(const struct probity_trace_facts *facts, uint64_t ticks)
{
    return ticks > INT64_MAX ? UINT64_MAX : probity_ns_of_ticks(ticks, facts->info.rate);
}

int probity_trace_is_damaged(const struct probity_trace_facts *facts)
{
    return facts->damages > 0 || facts->cut_bytes > 0 || facts->is_short ||
           facts->totals_records_missing > 0 || facts->has_failed || facts->is_partial;
}
