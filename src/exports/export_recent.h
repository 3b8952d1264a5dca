/* SPDX-License-Identifier: MIT
 *
 * export_recent.h: the open calls of a thread, and those that ended most recently. When a deferred
 * scope is opened, calls that it made have already ended and been written. This finds them and
 * their places in the output.
 */
#ifndef PROBITY_EXPORTS_EXPORT_RECENT_H
#define PROBITY_EXPORTS_EXPORT_RECENT_H

#include "exports/export.h"
#include "probity.h"

enum { EXPORT_RECENT_FIRST = 8, EXPORT_RECENT_CALLS = 256 }; /* powers of two */

struct export_call {
    uint64_t enter_tick;
    uint64_t place;      /* for the exporter: offset of the call in its output */
    uint64_t before, at; /* for the exporter: times between which another call may precede it */
    uint32_t depth;
};

/* Must be the first member of the exporter's data for a thread (`user`). Zeroed at first. The ring
 * grows as needed, because with many threads most have few calls. */
struct export_recent {
    struct export_call *open; /* by depth; place is 0 if a call is not in the range */
    uint32_t capacity, depth; /* depth: index after the innermost call */
    uint32_t ring;  /* number of places in `ended` */
    uint64_t count; /* number of calls that have ended; the newest `ring` calls are kept */
    struct export_call *ended; /* a ring */
};

struct export_call *export_recent_grow(struct export_recent *recent, uint32_t depth);
int export_recent_widen(struct export_recent *recent);

/* Stores the place of a call that begins. Returns NULL if out of memory. */
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

/* Moves an open call to the ring when it ends. */
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

/* Iterates over the calls that began inside the scope, outside any other scope, and have ended;
 * newest first, NULL after the last. From now on they belong to the scope. *next is 0 at first. */
struct export_call *export_recent_adopt(struct export_recent *recent,
                                        const struct probity_scope *scope, uint64_t *next);

/* Returns the first of these calls, NULL if there are none. */
struct export_call *export_recent_first(struct export_recent *recent,
                                        const struct probity_scope *scope);

/* Adds a number of bytes to all places from `place` on. */
void export_recent_shift(struct export_recent *recent, uint64_t place, uint64_t bytes);

/* Releases the recent calls of all threads. */
void export_recents_release(struct probity_export *export);

#endif
