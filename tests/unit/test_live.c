/* SPDX-License-Identifier: MIT
 *
 * test_live.c: a chunk is handed over, freed and reused while a reader copies it: after each
 * instruction of the reader in turn, and by another thread at full speed. The header and words that
 * the reader copies must be from a single use of the chunk.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "programs/stepped.h"
#include "spool/attach.h"
#include "spool/live.h"

enum { CHUNKS = 8, WORDS = 512, COPIES = 400000, TAKEN = 1000 };

static struct probity_live live;
static uint32_t is_over, looks;

static struct probity_attach_segment segment = {.chunks = CHUNKS, .chunk_words = WORDS};
static struct probity_attach attach = {
    .segments = &segment, .segment_count = 1, .chunk_words = WORDS, .chunk_count = CHUNKS};

static int set_up(void **state)
{
    (void)state;
    segment.bytes = probity_spool_segment_bytes(CHUNKS, WORDS);
    segment.map =
        mmap(NULL, segment.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(&live, 0, sizeof live);
    live.header = segment.map;
    live.pool.chunks_per_segment = CHUNKS;
    live.pool.chunk_words = WORDS;
    return segment.map == MAP_FAILED || probity_pool_add(&live.pool, segment.map, CHUNKS) != 0;
}

static int tear_down(void **state)
{
    (void)state;
    munmap(live.pool.segment[0].chunk, CHUNKS * sizeof(struct probity_pool_chunk));
    return munmap(segment.map, segment.bytes);
}

/* Each use has a number, which is written to all header fields and to the first word. */
static uint32_t begin_use(void)
{
    struct probity_thread_state slot = {.thread = (uint32_t)live.pool.serial + 1};
    uint32_t chunk = probity_pool_take(&live.pool);

    slot.tid = slot.thread;
    slot.reading.tick = slot.reading.cpu_ns = slot.thread;
    probity_live_chunk_prepare(&live, chunk, &slot, 0);
    __atomic_store_n(probity_pool_words(&live.pool, chunk), live.pool.serial, __ATOMIC_RELAXED);
    return chunk;
}

static void end_use(uint32_t chunk)
{
    probity_pool_header(&live.pool, chunk)->used = 1;
    probity_pool_hand_over(&live.pool, chunk);
    probity_pool_free(&live.pool, probity_pool_collect(&live.pool));
}

/* Copies the first chunk as the reader does. Returns 1, or 0 if the chunk is unusable. */
static __attribute__((noinline)) int take(struct probity_attach_chunk *ret_chunk,
                                         uint64_t *ret_word)
{
    if (!probity_attach_chunk(&attach, 0, ret_chunk))
        return 0;
    *ret_word = __atomic_load_n(ret_chunk->words, __ATOMIC_ACQUIRE);
    return probity_attach_chunk_stands(&attach, 0, ret_chunk);
}

static void is_one_use(const struct probity_attach_chunk *chunk, uint64_t word)
{
    assert_true(word == 0 || word == chunk->serial);
    assert_int_equal(chunk->thread, chunk->serial);
    assert_int_equal(chunk->tid, chunk->serial);
    assert_int_equal(chunk->base_tick, chunk->serial);
    assert_int_equal(chunk->cpu_ns, chunk->serial);
}

#if STEPPED
static uint32_t in_use;

static void use_anew(void)
{
    end_use(in_use);
    in_use = begin_use();
}

static void behind_each_instruction(void **state)
{
    struct probity_attach_chunk found;
    int is_inside, is_taken, taken = 0;
    uint64_t word = 0;
    long steps = 0;

    (void)state;
    in_use = begin_use();
    do {
        stepped_begin(++steps, use_anew);
        is_taken = take(&found, &word);
        is_inside = stepped_end();
        if (is_taken)
            is_one_use(&found, word);
        taken += is_taken;
    } while (is_inside);
    assert_true(steps > 30 && taken > 1 && taken < steps);
}
#endif

/* Some uses wait for the reader, because a slow reader would otherwise never copy a complete
 * one. */
static void *use_again_and_again(void *unused)
{
    for (uint32_t i = 0; !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++) {
        uint32_t chunk = begin_use(), before = __atomic_load_n(&looks, __ATOMIC_RELAXED);
        while (i % 64 == 0 && __atomic_load_n(&looks, __ATOMIC_RELAXED) - before < 3 &&
               !__atomic_load_n(&is_over, __ATOMIC_RELAXED))
            sched_yield();
        end_use(chunk);
    }
    return unused;
}

static void beside_a_thread(void **state)
{
    struct probity_attach_chunk found;
    uint64_t taken = 0, word = 0;
    pthread_t thread;

    (void)state;
    if (STEPPED_IS_CHECKED) {
        print_message("skipped: the thread sanitizer reports the speculative copies as races\n");
        skip();
    }
    assert_int_equal(pthread_create(&thread, NULL, use_again_and_again, NULL), 0);
    for (uint32_t i = 0; i < COPIES || taken < TAKEN; i++) {
        int is_taken = take(&found, &word);
        __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
        if (!is_taken)
            continue;
        taken++;
        is_one_use(&found, word);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if STEPPED
        cmocka_unit_test_setup_teardown(behind_each_instruction, set_up, tear_down),
#endif
        cmocka_unit_test_setup_teardown(beside_a_thread, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
