/* SPDX-License-Identifier: MIT
 *
 * threads.c: a hash table that maps (trace, thread) to a dense slot. It does not use
 * base/hashtable.h, because it stores indexes of an array that moves when it grows: 4 bytes per
 * place are enough.
 */
#include "reader/threads.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "probity.h"

static size_t place_of(const struct probity_threads_seen *threads, uint32_t trace, uint32_t thread)
{
    size_t mask = threads->capacity - 1;
    uint64_t key = (uint64_t)trace << 32 | thread;
    size_t place = (size_t)probity_hash(key) & mask;

    probity_assert(threads->capacity > 0 && (threads->capacity & mask) == 0);
    for (uint32_t slot; (slot = threads->places[place]) != 0; place = (place + 1) & mask) {
        const struct probity_thread_seen *seen = &threads->seen[slot - 1];
        if (seen->trace == trace && seen->thread == thread)
            break;
    }
    return place;
}

static int grow(struct probity_threads_seen *threads)
{
    size_t capacity = threads->capacity > 0 ? 2 * threads->capacity : 64;
    if (capacity / 2 >= UINT32_MAX)
        return PROBITY_ERROR_LIMIT;
    uint32_t *places = calloc(capacity, sizeof *places);
    struct probity_thread_seen *seen = realloc(threads->seen, capacity / 2 * sizeof *seen);

    if (seen != NULL)
        threads->seen = seen;
    if (places == NULL || seen == NULL) {
        free(places);
        return PROBITY_ERROR_MEMORY;
    }
    probity_assert(threads->count <= capacity / 2);
    free(threads->places);
    threads->places = places;
    threads->capacity = capacity;
    for (uint32_t slot = 0; slot < threads->count; slot++)
        places[place_of(threads, seen[slot].trace, seen[slot].thread)] = slot + 1;
    return 0;
}

int probity_threads_slot(struct probity_threads_seen *threads, uint32_t trace, uint32_t thread,
                         uint32_t tid, uint32_t *ret_slot)
{
    if (2 * threads->count >= threads->capacity) {
        int error = grow(threads);
        if (error != 0)
            return error;
    }
    size_t place = place_of(threads, trace, thread);
    if (threads->places[place] == 0) {
        threads->seen[threads->count] = (struct probity_thread_seen){
            .trace = trace, .thread = thread, .tid = tid};
        threads->places[place] = (uint32_t)++threads->count;
    }
    *ret_slot = threads->places[place] - 1;
    probity_assert(*ret_slot < threads->count);
    probity_assert(threads->seen[*ret_slot].trace == trace &&
                   threads->seen[*ret_slot].thread == thread);
    return 0;
}

int64_t probity_threads_find(const struct probity_threads_seen *threads, uint32_t trace,
                             uint32_t thread)
{
    if (threads->capacity == 0)
        return -1;
    return (int64_t)threads->places[place_of(threads, trace, thread)] - 1;
}

void probity_threads_release(struct probity_threads_seen *threads)
{
    free(threads->seen);
    free(threads->places);
    *threads = (struct probity_threads_seen){0};
}
