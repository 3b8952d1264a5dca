/* SPDX-License-Identifier: MIT
 *
 * export_recent.c: the slow paths of export_recent.h.
 */
#include "exports/export_recent.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"

struct export_call *export_recent_grow(struct export_recent *recent, uint32_t depth)
{
    struct export_call *open = probity_array_grow(recent->open, sizeof *open, depth,
                                                  &recent->capacity);

    if (open == NULL)
        return NULL;
    recent->open = open;
    return &open[depth];
}

/* Called when the ring is full for the first time at its size, so nothing has to move. */
int export_recent_widen(struct export_recent *recent)
{
    uint32_t ring = recent->ring > 0 ? 2 * recent->ring : EXPORT_RECENT_FIRST;

    if (recent->ring == EXPORT_RECENT_CALLS)
        return 0;
    struct export_call *ended = realloc(recent->ended, ring * sizeof *ended);
    if (ended == NULL)
        return PROBITY_ERROR_MEMORY;
    recent->ended = ended;
    recent->ring = ring;
    return 0;
}

struct export_call *export_recent_adopt(struct export_recent *recent,
                                        const struct probity_scope *scope, uint64_t *next)
{
    while (*next < recent->ring && *next < recent->count) {
        struct export_call *call = &recent->ended[(recent->count - ++*next) & (recent->ring - 1)];
        if (call->depth < scope->depth || call->enter_tick < scope->enter_tick)
            return NULL;
        if (call->depth++ == scope->depth)
            return call;
    }
    return NULL;
}

struct export_call *export_recent_first(struct export_recent *recent,
                                        const struct probity_scope *scope)
{
    struct export_call *first = NULL, *call;
    uint64_t next = 0;

    while ((call = export_recent_adopt(recent, scope, &next)) != NULL)
        first = call;
    return first;
}

void export_recent_shift(struct export_recent *recent, uint64_t place, uint64_t bytes)
{
    for (size_t i = 0; i < recent->ring && i < recent->count; i++)
        recent->ended[i].place += recent->ended[i].place >= place ? bytes : 0;
    /* An open scope comes after the scopes that enclose it. */
    for (uint32_t i = recent->depth; i > 0 && recent->open[i - 1].place >= place; i--)
        recent->open[i - 1].place += bytes;
}

void export_recents_release(struct probity_export *export)
{
    for (uint32_t slot = 0; slot < export->thread_count; slot++) {
        struct export_recent *recent =
            export->threads[slot] != NULL ? export->threads[slot]->user : NULL;
        if (recent == NULL)
            continue;
        free(recent->open);
        free(recent->ended);
    }
}
