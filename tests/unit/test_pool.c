/* SPDX-License-Identifier: MIT
 *
 * test_pool.c: chunks circulate: each has one owner at a time, none is lost, and full ones are
 * taken oldest first. Waiting threads are woken.
 * link-flags: -Wl,--wrap=probity_os_wake
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "probity.h"
#include "spool/pool.h"

enum { CHUNKS = 16, WORDS = 512, SEGMENTS = 3, TAKERS = 3, ROUNDS = 30000 };

static struct probity_pool *pool_with(int segments, uint32_t present)
{
    struct probity_pool *pool = calloc(1, sizeof *pool);

    assert_non_null(pool);
    pool->chunks_per_segment = CHUNKS;
    pool->chunk_words = WORDS;
    for (int i = 0; i < segments; i++) {
        size_t bytes = probity_spool_segment_bytes(CHUNKS, WORDS);
        void *segment =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(segment != MAP_FAILED);
        struct probity_spool_header *header = segment;
        header->chunks = CHUNKS;
        header->chunk_words = WORDS;
        assert_int_equal(probity_pool_add(pool, segment, present), 0);
    }
    return pool;
}

static struct probity_pool *pool_new(int segments)
{
    return pool_with(segments, CHUNKS);
}

static void pool_free(struct probity_pool *pool)
{
    for (uint32_t i = 0; i < pool->segments; i++) {
        munmap(pool->segment[i].at, probity_spool_segment_bytes(CHUNKS, WORDS));
        munmap(pool->segment[i].chunk, CHUNKS * sizeof(struct probity_pool_chunk));
    }
    free(pool);
}

static void takes_each_once(void **state)
{
    struct probity_pool *pool = pool_new(SEGMENTS);
    uint8_t taken[SEGMENTS * CHUNKS] = {0};

    (void)state;
    for (int i = 0; i < SEGMENTS * CHUNKS; i++) {
        uint32_t chunk = probity_pool_take(pool);
        assert_true(chunk < SEGMENTS * CHUNKS);
        assert_int_equal(taken[chunk]++, 0);
    }
    assert_int_equal(probity_pool_take(pool), PROBITY_POOL_NONE);
    assert_int_equal(pool->open_chunks, SEGMENTS * CHUNKS);
    assert_int_equal(pool->free_chunks, 0);
    pool_free(pool);
}

static void oldest_first(void **state)
{
    struct probity_pool *pool = pool_new(1);
    uint32_t taken[5];

    (void)state;
    assert_int_equal(probity_pool_collect(pool), PROBITY_POOL_NONE);
    for (int i = 0; i < 5; i++)
        taken[i] = probity_pool_take(pool);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(probity_pool_hand_over(pool, taken[i]), i + 1);
        assert_int_equal(probity_pool_header(pool, taken[i])->state, PROBITY_CHUNK_FULL);
    }
    uint32_t chunk = probity_pool_collect(pool);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(chunk, taken[i]);
        chunk = probity_pool_private(pool, chunk)->next;
    }
    assert_int_equal(chunk, PROBITY_POOL_NONE);
    assert_int_equal(probity_pool_collect(pool), PROBITY_POOL_NONE);
    for (int i = 0; i < 5; i++)
        probity_pool_free(pool, taken[i]);
    assert_int_equal(probity_pool_header(pool, taken[0])->state, PROBITY_CHUNK_FREE);
    assert_int_equal(pool->free_chunks, CHUNKS);
    assert_int_equal(pool->freed, 5);
    pool_free(pool);
}

/* A thread delayed after reading a list head must detect that chunks were removed and added since
 * (ABA). */
static void no_head_comes_back(void **state)
{
    struct probity_pool *pool = pool_new(1);
    uint64_t free_head = pool->free_list, full_head = pool->full_list;

    (void)state;
    for (int i = 0; i < 100; i++) {
        uint32_t chunk = probity_pool_take(pool);
        probity_pool_hand_over(pool, chunk);
        assert_int_equal(probity_pool_collect(pool), chunk);
        probity_pool_free(pool, chunk);
        assert_int_equal((uint32_t)pool->free_list, (uint32_t)free_head);
        assert_int_equal((uint32_t)pool->full_list, (uint32_t)full_head);
        assert_true(pool->free_list != free_head && pool->full_list != full_head);
        free_head = pool->free_list;
        full_head = pool->full_list;
    }
    pool_free(pool);
}

/* While the writer waits for a hole in a chunk, no other thread can wait for that chunk. */
static void waiting_counts_as_open(void **state)
{
    struct probity_pool *pool = pool_new(1);
    uint32_t chunk = probity_pool_take(pool);

    (void)state;
    probity_pool_hand_over(pool, chunk);
    assert_true(pool->open_chunks == 0 && pool->full_chunks == 1);
    probity_pool_wait_begins(pool, chunk, 5);
    assert_true(pool->open_chunks == 1 && pool->full_chunks == 0);
    probity_pool_free(pool, chunk);
    assert_true(pool->open_chunks == 0 && pool->full_chunks == 0 && pool->free_chunks == CHUNKS);
    pool_free(pool);
}

/* Threads take, mark, unmark and hand over at full speed while another thread collects and
 * frees. */
static struct probity_pool *shared_pool;
static uint32_t owners[CHUNKS], takers_left, double_owners;

static void *take_and_hand_over(void *unused)
{
    for (int i = 0; i < ROUNDS;) {
        uint32_t chunk = probity_pool_take(shared_pool);
        if (chunk == PROBITY_POOL_NONE) {
            sched_yield();
            continue;
        }
        if (__atomic_add_fetch(&owners[chunk], 1, __ATOMIC_SEQ_CST) != 1)
            __atomic_add_fetch(&double_owners, 1, __ATOMIC_SEQ_CST);
        probity_pool_words(shared_pool, chunk)[i % WORDS]++;
        __atomic_sub_fetch(&owners[chunk], 1, __ATOMIC_SEQ_CST);
        probity_pool_hand_over(shared_pool, chunk);
        i++;
    }
    __atomic_sub_fetch(&takers_left, 1, __ATOMIC_SEQ_CST);
    return unused;
}

static void many_threads(void **state)
{
    pthread_t thread[TAKERS];
    uint64_t freed = 0, marks = 0;

    (void)state;
    shared_pool = pool_new(1);
    takers_left = TAKERS;
    for (int i = 0; i < TAKERS; i++)
        pthread_create(&thread[i], NULL, take_and_hand_over, NULL);
    while (freed < (uint64_t)TAKERS * ROUNDS) {
        uint32_t chunk = probity_pool_collect(shared_pool);
        if (chunk == PROBITY_POOL_NONE)
            sched_yield();
        while (chunk != PROBITY_POOL_NONE) {
            uint32_t next = probity_pool_private(shared_pool, chunk)->next;
            probity_pool_free(shared_pool, chunk);
            freed++;
            chunk = next;
        }
    }
    for (int i = 0; i < TAKERS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(double_owners, 0);
    assert_int_equal(shared_pool->free_chunks, CHUNKS);
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        for (int word = 0; word < WORDS; word++)
            marks += probity_pool_words(shared_pool, chunk)[word];
    }
    assert_true(marks == (uint64_t)TAKERS * ROUNDS);
    pool_free(shared_pool);
}

static int wakes;

void __wrap_probity_os_wake(const uint32_t *word, int threads);

void __wrap_probity_os_wake(const uint32_t *word, int threads)
{
    (void)word;
    wakes += threads;
}

static void a_chunk_that_is_free_wakes_who_waits(void **state)
{
    struct probity_pool *pool = pool_new(1);

    (void)state;
    for (uint32_t waiters = 0; waiters < 3; waiters++) {
        uint32_t freed = pool->freed;
        wakes = 0;
        pool->waiters = waiters;
        probity_pool_hand_over(pool, probity_pool_take(pool));
        probity_pool_free(pool, probity_pool_collect(pool));
        assert_int_equal(pool->freed, freed + 1);
        assert_int_equal(wakes, waiters > 0);
    }
    pool_free(pool);
}

static void chunks_without_pages_are_added_one_by_one(void **state)
{
    enum { PRESENT = 4 };
    struct probity_pool *pool = pool_with(2, PRESENT);
    uint8_t taken[2 * CHUNKS] = {0};
    uint32_t chunk;

    (void)state;
    for (int i = 0; i < 2 * PRESENT; i++) {
        chunk = probity_pool_take(pool);
        assert_true(chunk % CHUNKS < PRESENT);
        taken[chunk]++;
    }
    for (uint32_t i = 2 * PRESENT; i < 2 * CHUNKS; i++) {
        assert_int_equal(probity_pool_take(pool), PROBITY_POOL_NONE);
        assert_true(probity_pool_is_low(pool));
        assert_int_equal(probity_pool_extend(pool), 0);
        assert_false(probity_pool_is_low(pool));
        chunk = probity_pool_take(pool);
        assert_in_range(chunk, 0, 2 * CHUNKS - 1);
        taken[chunk]++;
        assert_int_equal(pool->present, i + 1);
        assert_int_equal(probity_pool_total(pool), 2 * CHUNKS);
    }
    for (int i = 0; i < 2 * CHUNKS; i++)
        assert_int_equal(taken[i], 1);
    assert_int_equal(probity_pool_extend(pool), PROBITY_ERROR_STATE);
    assert_false(probity_pool_is_low(pool));
    pool_free(pool);
}

/* Unmapped pages simulate a full file system: in both cases the kernel fails before anything is
 * stored. */
static void a_chunk_without_room_is_left_out_and_tried_again_later(void **state)
{
    enum { PRESENT = 4 };
    struct probity_pool *pool = pool_with(1, PRESENT);
    void *words = probity_pool_words(pool, PRESENT);
    int tries = 0, failures = 0;

    (void)state;
    assert_int_equal(munmap(words, WORDS * 8), 0);
    for (; failures < 5; tries++) {
        int result = probity_pool_extend(pool);
        assert_true(result == PROBITY_ERROR_MEMORY || result == PROBITY_ERROR_STATE);
        failures += result == PROBITY_ERROR_MEMORY;
        assert_int_equal(probity_pool_total(pool), PRESENT);
    }
    assert_int_equal(tries, 5 + 0 + 1 + 2 + 4);
    assert_int_equal(pool->free_chunks, PRESENT);
    assert_true(mmap(words, WORDS * 8, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == words);
    while (probity_pool_extend(pool) != 0)
        tries++;
    assert_int_equal(tries, 5 + 0 + 1 + 2 + 4 + 8);
    assert_int_equal(probity_pool_total(pool), CHUNKS);
    assert_int_equal(probity_pool_take(pool), PRESENT);
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_each_once),
        cmocka_unit_test(oldest_first),
        cmocka_unit_test(no_head_comes_back),
        cmocka_unit_test(waiting_counts_as_open),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(a_chunk_that_is_free_wakes_who_waits),
        cmocka_unit_test(chunks_without_pages_are_added_one_by_one),
        cmocka_unit_test(a_chunk_without_room_is_left_out_and_tried_again_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
