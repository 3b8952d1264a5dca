/* SPDX-License-Identifier: MIT
 *
 * pool.c: the two stacks of chunks. A stack's head carries a tag that changes with each operation,
 * so that a chunk that went and came back meanwhile is not mistaken for one that stayed.
 */
#include "spool/pool.h"

#include <sys/mman.h>

#include "base/os.h"
#include "probity.h"

static uint64_t head_with(uint64_t old, uint32_t chunk)
{
    return ((old >> 32) + 1) << 32 | (uint32_t)(chunk + 1);
}

static void push(struct probity_pool *pool, uint64_t *list, uint32_t first, uint32_t last)
{
    uint64_t old = __atomic_load_n(list, __ATOMIC_RELAXED);

    do
        __atomic_store_n(&probity_pool_private(pool, last)->next, (uint32_t)old - 1,
                         __ATOMIC_RELAXED);
    /* Release: what the pusher stored in the chunk. Pairs with the acquire in pop and collect. */
    while (!__atomic_compare_exchange_n(list, &old, head_with(old, first), 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
}

static uint32_t pop(struct probity_pool *pool, uint64_t *list)
{
    uint64_t old = __atomic_load_n(list, __ATOMIC_ACQUIRE);

    while ((uint32_t)old != 0) {
        uint32_t chunk = (uint32_t)old - 1;
        /* May be stale when another thread took the chunk first; then the exchange fails. */
        uint32_t next = __atomic_load_n(&probity_pool_private(pool, chunk)->next, __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(list, &old, head_with(old, next), 1, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE))
            return chunk;
    }
    return PROBITY_POOL_NONE;
}

int probity_pool_add(struct probity_pool *pool, void *segment)
{
    uint32_t number = pool->segments, count = pool->chunks_per_segment;
    size_t bytes = count * sizeof(struct probity_pool_chunk);
    struct probity_pool_chunk *chunk =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (chunk == MAP_FAILED)
        return PROBITY_ERROR_MEMORY;
    pool->segment[number] = (struct probity_pool_segment){segment, chunk};
    __atomic_store_n(&pool->segments, number + 1, __ATOMIC_RELEASE);
    /* The lowest chunk on top: a program of few threads touches few of them, and they stay in
     * cache. */
    for (uint32_t i = 0; i + 1 < count; i++)
        chunk[i].next = number * count + i + 1;
    push(pool, &pool->free_list, number * count, number * count + count - 1);
    __atomic_add_fetch(&pool->free_chunks, count, __ATOMIC_RELAXED);
    return 0;
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

    probity_os_memory_give(header);
    /* Release: used and all words. Pairs with the reader's and the writer's acquire of state. */
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
        uint32_t next = own->next;
        probity_pool_link(pool, chunk, oldest);
        oldest = chunk;
        chunk = next;
    }
    return oldest;
}

void probity_pool_wait_begins(struct probity_pool *pool, uint32_t chunk, uint64_t tick)
{
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

    if (probity_pool_private(pool, chunk)->waits_since != 0)
        wait_ends(pool, chunk);
    __atomic_store_n(&header->state, PROBITY_CHUNK_FREE, __ATOMIC_RELEASE);
    __atomic_sub_fetch(&pool->full_chunks, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&pool->free_chunks, 1, __ATOMIC_RELAXED);
    push(pool, &pool->free_list, chunk, chunk);
    /* Sequentially consistent with the waiter's own pair (waiters, then freed): one of both sees
     * the other. */
    __atomic_add_fetch(&pool->freed, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pool->waiters, __ATOMIC_SEQ_CST) != 0)
        probity_os_wake(&pool->freed, 1);
}
