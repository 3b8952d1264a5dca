/* SPDX-License-Identifier: MIT
 *
 * memory.h: records allocations and frees by functions of libc and C++, as hits with ids.
 */
#ifndef PROBITY_CALLS_MEMORY_H
#define PROBITY_CALLS_MEMORY_H

#include "calls/calls.h"
#include "calls/locks.h"
#include "probity_typed.h"

/* The site of a function in a role: "malloc:allocate". */
#define PROBITY_CALLS_ALLOCATES(variable, name)                                                    \
    static struct probity_site variable = {name ":allocate", "libc/memory", name, 0, 0, 0, 0}
#define PROBITY_CALLS_FREES(variable, name)                                                        \
    static struct probity_site variable = {name ":free", "libc/memory", name, 0, 0, 0, 0}

/* bytes: for an allocation, the size requested; for a free, the size of a mapping, or 0. at: NULL
 * if nothing was allocated. Preserves errno. */
static inline __attribute__((always_inline)) void
probity_calls_memory(struct probity_site *site, uint32_t role, const void *at, uint64_t bytes,
                     const void *place)
{
    const uint32_t flags = PROBITY_WITH_SITE | PROBITY_WITH_OBJECT | PROBITY_WITH_PLACE |
                           PROBITY_WITH_CORRELATION | role << PROBITY_WITH_ROLE_SHIFT;
    const uint64_t ids[] = {bytes, (uintptr_t)at, (uintptr_t)place};
    const uint32_t counter =
        role == PROBITY_ROLE_ALLOCATE ? PROBITY_CALLS_ALLOCATION : PROBITY_CALLS_FREE;
    uint32_t number = probity_site_number(site);
    struct probity_event_room room;

    if (__builtin_expect(number == UINT32_MAX, 0) ||
        !__builtin_expect(__atomic_load_n(&probity_active, __ATOMIC_RELAXED), 1))
        return;
    uint64_t since = probity_calls_cost_begin();
    if (__builtin_expect(probity_calls_only_counts(counter), 0) && probity_calls_count(counter)) {
        probity_calls_cost_end(since, 0);
        return;
    }
    uint8_t *to = probity_event_reserve(&room, PROBITY_KIND_HIT_WITH, 8 + sizeof ids);
    if (__builtin_expect(to == NULL, 0)) {
        probity_hit_at_slow(number, flags, ids[0], ids[1], ids[2]);
        probity_calls_cost_end(since, 1);
        return;
    }
    to = probity_put_bytes(to, &number, 4);
    to = probity_put_bytes(to, &flags, 4);
    to = probity_put_bytes(to, &ids[0], 8);
    to = probity_put_bytes(to, &ids[1], 8);
    probity_put_bytes(to, &ids[2], 8);
    probity_event_publish(&room);
    probity_calls_cost_end(since, 1);
}

static inline __attribute__((always_inline)) void
probity_calls_allocated(struct probity_site *site, const void *at, uint64_t bytes,
                        const void *place)
{
    probity_calls_memory(site, PROBITY_ROLE_ALLOCATE, at, bytes, place);
}

static inline __attribute__((always_inline)) void
probity_calls_freed(struct probity_site *site, const void *at, uint64_t bytes, const void *place)
{
    probity_calls_memory(site, PROBITY_ROLE_FREE, at, bytes, place);
}

/* An operator new in progress, which itself records the allocation: with the place of its caller,
 * not of the C++ library, and even if that library has its own malloc(). */
enum probity_calls_new {
    PROBITY_CALLS_NEW_NONE = 0,
    PROBITY_CALLS_NEW_BEGUN = 1,
    PROBITY_CALLS_NEW_ALLOCATED = 2 /* by a function of libc, which recorded nothing */
};
extern __thread uint32_t probity_calls_new
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The block that the operator delete in progress frees and has recorded; or NULL. */
extern __thread const void *probity_calls_deleted
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Returns whether an operator new records this allocation. If it failed, the new handler may be
 * called. */
static inline int probity_calls_is_of_new(const void *at)
{
    if (__builtin_expect(probity_calls_new != PROBITY_CALLS_NEW_BEGUN, 1))
        return 0;
    probity_calls_new = at != NULL ? PROBITY_CALLS_NEW_ALLOCATED : PROBITY_CALLS_NEW_NONE;
    return at != NULL;
}

/* Sets the actions of the operators in a program that has not loaded a C++ library yet. */
void probity_calls_operators_prepare(void) __attribute__((visibility("hidden")));

#endif
