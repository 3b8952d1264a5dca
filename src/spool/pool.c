/* SPDX-License-Identifier: MIT
 *
 * pool.c: the two stacks of chunks. The head of a stack has a tag that changes with each operation,
 * so that a chunk that was popped and pushed in between is not mistaken for one that stayed (ABA).
 */
#include "spool/pool.h"

#include <sys/mman.h>

#include "base/assert.h"
#include "base/os.h"
#include "probity.h"
#include "spool/segment.h"

static uint64_t head_with(uint64_t old, uint32_t chunk)
{
    return ((old >> 32) + 1) << 32 | (uint32_t)(chunk + 1);
}

static void push(struct probity_pool *pool, uint64_t *list, uint32_t first, uint32_t last)
{
    uint64_t old = __atomic_load_n(list, __ATOMIC_RELAXED);

    probity_assert(probity_pool_chunk_is_valid(pool, first));
    probity_assert(probity_pool_chunk_is_valid(pool, last));
    do
        __atomic_store_n(&probity_pool_private(pool, last)->next, (uint32_t)old - 1,
                         __ATOMIC_RELAXED);
    /* Release: publishes what was stored in the chunk. Pairs with the acquire in pop and
     * collect. */
    while (!__atomic_compare_exchange_n(list, &old, head_with(old, first), 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
}

static uint32_t pop(struct probity_pool *pool, uint64_t *list)
{
    uint64_t old = __atomic_load_n(list, __ATOMIC_ACQUIRE);

    while ((uint32_t)old != 0) {
        uint32_t chunk = (uint32_t)old - 1;
        probity_assert(probity_pool_chunk_is_valid(pool, chunk));
        /* May be stale if another thread took the chunk first; then the exchange fails. */
        uint32_t next = __atomic_load_n(&probity_pool_private(pool, chunk)->next, __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(list, &old, head_with(old, next), 1, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE))
            return chunk;
    }
    return PROBITY_POOL_NONE;
}

#ifdef PROBITY_DEBUG
int probity_pool_is_valid(const struct probity_pool *pool)
{
    uint64_t present = 0;

    if (pool->segments > PROBITY_LIMIT_SEGMENTS || pool->chunks_per_segment == 0)
        return 0;
    for (uint32_t i = 0; i < pool->segments; i++) {
        const struct probity_pool_segment *segment = &pool->segment[i];
        if (segment->at == NULL || segment->chunk == NULL ||
            segment->present > pool->chunks_per_segment)
            return 0;
        present += segment->present;
    }
    return present == pool->present && pool->present <= pool->total &&
           pool->total <= (uint64_t)pool->segments * pool->chunks_per_segment;
}
#endif

int probity_pool_add(struct probity_pool *pool, void *segment, uint32_t present)
{
    uint32_t number = pool->segments, count = pool->chunks_per_segment;
    size_t bytes = count * sizeof(struct probity_pool_chunk);
    struct probity_pool_chunk *chunk =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    probity_assert(segment != NULL && number < PROBITY_LIMIT_SEGMENTS);
    probity_assert(probity_chunk_words_is_valid(pool->chunk_words));
    probity_assert(present > 0 && present <= count);
    if (chunk == MAP_FAILED)
        return PROBITY_ERROR_MEMORY;
    probity_os_lock(&pool->extend_lock);
    pool->segment[number] = (struct probity_pool_segment){segment, chunk, present};
    __atomic_store_n(&pool->segments, number + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&pool->present, pool->present + present, __ATOMIC_RELAXED);
    __atomic_store_n(&pool->total, (number + 1) * count, __ATOMIC_RELAXED);
    probity_assert(probity_pool_is_valid(pool));
    probity_os_unlock(&pool->extend_lock);
    /* The lowest chunk is on top: a program with few threads uses few chunks, which stay in the
     * cache. */
    for (uint32_t i = 0; i + 1 < present; i++)
        chunk[i].next = number * count + i + 1;
    push(pool, &pool->free_list, number * count, number * count + present - 1);
    __atomic_add_fetch(&pool->free_chunks, present, __ATOMIC_RELAXED);
    return 0;
}

/* Call with extend_lock held. */
static int extend(struct probity_pool *pool, struct probity_pool_segment *segment, uint32_t chunk)
{
    int result = probity_segment_extend(segment->at, segment->present);

    probity_assert(segment->present < pool->chunks_per_segment);
    probity_backoff_update(&pool->extend_backoff, result);
    if (result != 0) {
        __atomic_store_n(&pool->total, pool->present, __ATOMIC_RELAXED);
        return result;
    }
    segment->present++;
    __atomic_store_n(&pool->present, pool->present + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&pool->total, pool->segments * pool->chunks_per_segment, __ATOMIC_RELAXED);
    probity_assert(probity_pool_is_valid(pool));
    push(pool, &pool->free_list, chunk, chunk);
    __atomic_add_fetch(&pool->free_chunks, 1, __ATOMIC_RELAXED);
    return 0;
}

int probity_pool_extend(struct probity_pool *pool)
{
    uint32_t count = pool->chunks_per_segment;
    int result = PROBITY_ERROR_STATE;

    probity_os_lock(&pool->extend_lock);
    uint32_t i = 0;
    while (i < pool->segments && pool->segment[i].present == count)
        i++;
    if (i < pool->segments && !probity_backoff_skip(&pool->extend_backoff))
        result = extend(pool, &pool->segment[i], i * count + pool->segment[i].present);
    probity_os_unlock(&pool->extend_lock);
    return result;
}

uint32_t probity_pool_take(struct probity_pool *pool)
{
    uint32_t chunk = pop(pool, &pool->free_list);

    if (chunk != PROBITY_POOL_NONE) {
        __atomic_sub_fetch(&pool->free_chunks, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&pool->open_chunks, 1, __ATOMIC_RELAXED);
        probity_os_memory_take(probity_pool_header(pool, chunk));
    }
    return chunk;
}

uint32_t probity_pool_hand_over(struct probity_pool *pool, uint32_t chunk)
{
    struct probity_chunk_header *header = probity_pool_header(pool, chunk);

    /* A field of this process; those of a drainer may have any value. */
    probity_assert(header->used <= pool->chunk_words);
    probity_os_memory_give(header);
    /* Release: publishes `used` and all words. Pairs with the reader's and the writer's acquire of
     * state. */
    __atomic_store_n(&header->state, PROBITY_CHUNK_FULL, __ATOMIC_RELEASE);
    __atomic_sub_fetch(&pool->open_chunks, 1, __ATOMIC_RELAXED);
    uint32_t full = __atomic_add_fetch(&pool->full_chunks, 1, __ATOMIC_RELAXED);
    push(pool, &pool->full_list, chunk, chunk);
    return full;
}

uint32_t probity_pool_collect(struct probity_pool *pool)
{
    uint64_t old = __atomic_load_n(&pool->full_list, __ATOMIC_ACQUIRE);
    uint32_t oldest = PROBITY_POOL_NONE;

    while (!__atomic_compare_exchange_n(&pool->full_list, &old, head_with(old, PROBITY_POOL_NONE),
                                        1, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
        ;
    for (uint32_t chunk = (uint32_t)old - 1; chunk != PROBITY_POOL_NONE;) {
        struct probity_pool_chunk *own = probity_pool_private(pool, chunk);
        probity_assert(probity_pool_chunk_is_valid(pool, chunk));
        uint32_t next = own->next;
        probity_pool_link(pool, chunk, oldest);
        oldest = chunk;
        chunk = next;
    }
    return oldest;
}

void probity_pool_wait_begins(struct probity_pool *pool, uint32_t chunk, uint64_t tick)
{
    probity_assert(tick != 0 && probity_pool_private(pool, chunk)->waits_since == 0);
    probity_pool_private(pool, chunk)->waits_since = tick;
    __atomic_sub_fetch(&pool->full_chunks, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&pool->open_chunks, 1, __ATOMIC_RELAXED);
}

static void wait_ends(struct probity_pool *pool, uint32_t chunk)
{
    probity_pool_private(pool, chunk)->waits_since = 0;
    probity_pool_private(pool, chunk)->is_held = 0;
    __atomic_sub_fetch(&pool->open_chunks, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&pool->full_chunks, 1, __ATOMIC_RELAXED);
}

void probity_pool_free(struct probity_pool *pool, uint32_t chunk)
{
    struct probity_chunk_header *header = probity_pool_header(pool, chunk);

    probity_assert(probity_pool_chunk_is_valid(pool, chunk));
    probity_assert(__atomic_load_n(&header->state, __ATOMIC_RELAXED) != PROBITY_CHUNK_OPEN);
    if (probity_pool_private(pool, chunk)->waits_since != 0)
        wait_ends(pool, chunk);
    __atomic_store_n(&header->state, PROBITY_CHUNK_FREE, __ATOMIC_RELEASE);
    __atomic_sub_fetch(&pool->full_chunks, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&pool->free_chunks, 1, __ATOMIC_RELAXED);
    push(pool, &pool->free_list, chunk, chunk);
    /* Sequentially consistent with the waiter's two accesses (waiters, then freed): one of the two
     * sees the other's. */
    __atomic_add_fetch(&pool->freed, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pool->waiters, __ATOMIC_SEQ_CST) != 0)
        probity_os_wake(&pool->freed, 1);
}

/* Puts a list of chunks back, so that the oldest remains last. */
static void push_back(struct probity_pool *pool, uint32_t chunk)
{
    while (chunk != PROBITY_POOL_NONE) {
        uint32_t next = probity_pool_private(pool, chunk)->next;
        probity_assert(next != chunk);
        push(pool, &pool->full_list, chunk, chunk);
        chunk = next;
    }
}

uint32_t probity_pool_reclaim(struct probity_pool *pool)
{
    uint32_t chunk = probity_pool_collect(pool), left = PROBITY_POOL_NONE, *tail = &left, freed = 0;

    while (chunk != PROBITY_POOL_NONE) {
        struct probity_pool_chunk *own = probity_pool_private(pool, chunk);
        uint32_t next = own->next;
        /* Acquire: the drainer has copied the words. Pairs with its release. */
        if (__atomic_load_n(&probity_pool_header(pool, chunk)->state, __ATOMIC_ACQUIRE) ==
            PROBITY_CHUNK_FREE) {
            probity_pool_free(pool, chunk);
            freed++;
        } else {
            __atomic_store_n(tail, chunk, __ATOMIC_RELAXED);
            tail = &own->next;
        }
        chunk = next;
    }
    __atomic_store_n(tail, PROBITY_POOL_NONE, __ATOMIC_RELAXED);
    push_back(pool, left);
    return freed;
}

int probity_pool_forget(struct probity_pool *pool,
                        int (*may_go)(struct probity_pool *pool, uint32_t chunk))
{
    uint32_t first = probity_pool_collect(pool), *link = &first;

    while (*link != PROBITY_POOL_NONE && !may_go(pool, *link))
        link = &probity_pool_private(pool, *link)->next;
    uint32_t gone = *link;
    probity_assert(gone == PROBITY_POOL_NONE || probity_pool_chunk_is_valid(pool, gone));
    if (gone != PROBITY_POOL_NONE)
        __atomic_store_n(link, probity_pool_private(pool, gone)->next, __ATOMIC_RELAXED);
    push_back(pool, first);
    if (gone != PROBITY_POOL_NONE)
        probity_pool_free(pool, gone);
    return gone != PROBITY_POOL_NONE;
}
