/* SPDX-License-Identifier: MIT
 *
 * open_sums.c: keeps one list in order of creation, and one for each owner.
 */
#include "fleet/open_sums.h"

#include <stdlib.h>

#include "fleet/rows.h"

void probity_fleet_open_end(struct probity_fleet_open_list *list, int is_put)
{
    struct probity_fleet_open *open;

    while ((open = list->first) != NULL) {
        list->first = open->next;
        *open->owner = NULL;
        list->end(list->context, open, is_put);
        free(open);
    }
    list->last = NULL;
    list->count = 0;
}

void *probity_fleet_open_add(struct probity_fleet_open_list *list,
                             struct probity_fleet_open **owner, uint64_t period)
{
    if (list->count == PROBITY_FLEET_SUMS_MAX)
        probity_fleet_open_end(list, 1);
    struct probity_fleet_open *open = calloc(1, list->item_bytes);
    if (open == NULL)
        return NULL;
    *open = (struct probity_fleet_open){.of_owner = *owner, .owner = owner, .period = period};
    *owner = open;
    if (list->last != NULL)
        list->last->next = open;
    else
        list->first = open;
    list->last = open;
    list->count++;
    return open;
}

uint64_t probity_fleet_open_seconds(uint64_t period, unsigned minutes)
{
    uint64_t unit = 60 * (uint64_t)minutes, seconds = period * unit;

    return seconds < UINT32_MAX ? seconds : UINT32_MAX / unit * unit;
}
