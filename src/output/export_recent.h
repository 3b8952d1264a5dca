/* SPDX-License-Identifier: MIT
 *
 * export_recent.h: the open calls of a thread and the newest that have ended. A deferred scope is
 * opened when calls that it made have ended and are in the output already: here an exporter finds
 * which, and where.
 */
#ifndef PROBITY_OUTPUT_EXPORT_RECENT_H
#define PROBITY_OUTPUT_EXPORT_RECENT_H

#include "output/export.h"
#include "probity.h"

enum { EXPORT_RECENT_FIRST = 8, EXPORT_RECENT_CALLS = 256 }; /* powers of two */

struct export_call {
    uint64_t enter_tick;
    uint64_t place;      /* the exporter's: where the call is in its output */
    uint64_t before, at; /* likewise: times between which another may stand in front of it */
    uint32_t depth;
};

/* Begins what an exporter keeps as `user` of a thread. Zeroed at first. Most of very many threads
 * have few calls: the ring grows as far as it is used. */
struct export_recent {
    struct export_call *open; /* by depth; place is 0 where a call is not in the range */
    uint32_t capacity, depth; /* depth: behind the innermost of them */
    uint32_t ring;  /* places in `ended` */
    uint64_t count; /* of calls that have ended; the newest `ring` of them are there */
    struct export_call *ended; /* a ring */
};

struct export_call *export_recent_grow(struct export_recent *recent, uint32_t depth);
int export_recent_widen(struct export_recent *recent);

/* The place of a call that begins. NULL without memory. */
static inline struct export_call *export_recent_open(struct export_recent *recent,
                                                     const struct probity_scope *scope)
{
    struct export_call *call = scope->depth < recent->capacity
                                   ? &recent->open[scope->depth]
                                   : export_recent_grow(recent, scope->depth);

    if (__builtin_expect(call == NULL, 0))
        return NULL;
    call->enter_tick = scope->enter_tick;
    call->depth = scope->depth;
    recent->depth = scope->depth + 1;
    return call;
}

/* A call ends that was opened. */
static inline void export_recent_close(struct probity_export *export, struct export_recent *recent,
                                       const struct probity_scope *scope)
{
    if (__builtin_expect(scope->depth >= recent->capacity, 0))
        return;
    if (__builtin_expect(recent->count == recent->ring, 0) && export_recent_widen(recent) != 0) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return;
    }
    recent->ended[recent->count++ & (recent->ring - 1)] = recent->open[scope->depth];
    recent->open[scope->depth].place = 0;
    recent->depth = scope->depth;
}

/* Calls that began inside the scope, were not below any other, and have ended; newest first, NULL
 * behind the last. They are below it from now on. *next is 0 at first. */
struct export_call *export_recent_adopt(struct export_recent *recent,
                                        const struct probity_scope *scope, uint64_t *next);

/* The first of them, NULL without. */
struct export_call *export_recent_first(struct export_recent *recent,
                                        const struct probity_scope *scope);

/* Places from `place` on are further back by so many bytes. */
void export_recent_shift(struct export_recent *recent, uint64_t place, uint64_t bytes);

/* Releases what the recent calls of all threads hold. */
void export_recents_release(struct probity_export *export);

#endif
