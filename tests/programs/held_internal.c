/* SPDX-License-Identifier: MIT
 *
 * held_internal.c: two nested probes are in progress when their chunk is passed to the writer, as
 * if a signal handler's probe had interrupted another one. The inner probe finishes first, and both
 * only after the writer has given up waiting. Prints how many hits must be in the trace.
 *
 *     held_internal [STRAY]    1: the inner one never finishes
 */
#include "programs/hits.h"
#include "runtime/session.h"
#include "runtime/thread.h"

enum { OUTER = 1, INNER = 2, OTHERS = 3, PLACES_MAX = 700 };

int main(int argc, char **argv)
{
#if PROBITY_HAS_FAST_PATH
    uint64_t is_stray = hits_argument(argc, argv, 1, 0);
    struct probity_options options = {.out = "held", .chunk_records = 512, .spool_records = 8192};
    uint64_t outer, inner;
    uint32_t others = 1;

    hits_need(probity_start(&options) == 0, "start");
    PROBITY_PROBE(OTHERS);
    const struct probity_pool *pool = &probity_session_get()->live.pool;
    const struct probity_chunk_header *header =
        probity_pool_header(pool, probity_thread_slot()->chunk);
    outer = probity_reserve(probity_thread_self, 8);
    PROBITY_PROBE(OTHERS);
    inner = probity_reserve(probity_thread_self, 8);
    for (; others < PLACES_MAX; others++)
        PROBITY_PROBE(OTHERS);
    others++;
    uint32_t hole = (uint32_t)(outer - (uint64_t)probity_pool_words(pool, 0)) / 8;
    hits_need(header == probity_pool_header(pool, 0), "first chunk");
    hits_need(header->state == PROBITY_CHUNK_FULL, "full");
    /* What precedes the first hole is written only once the writer has stopped waiting. */
    while (__atomic_load_n(&header->drained, __ATOMIC_ACQUIRE) != hole ||
           !probity_pool_private(pool, 0)->is_held)
        hits_need(probity_flush() == 0, "flush");
    uint64_t tick = probity_ticks();
    if (!is_stray)
        __atomic_store_n((uint64_t *)inner, tick << 24 | (PROBITY_CODE_FIRST + 2 * INNER),
                         __ATOMIC_RELAXED);
    hits_need(probity_flush() == 0, "flush");
    __atomic_store_n((uint64_t *)outer, tick << 24 | (PROBITY_CODE_FIRST + 2 * OUTER),
                     __ATOMIC_RELAXED);
    hits_need(probity_flush() == 0 && probity_flush() == 0, "flush");
    /* If no hole is left, the chunk is free again. */
    hits_need((header->state == PROBITY_CHUNK_FREE) == !is_stray, "free");
    hits_need(probity_stop() == 0, "stop");
    printf("1 %d\n", OUTER);
    if (!is_stray)
        printf("1 %d\n", INNER);
    printf("%u %d\n", others, OTHERS);
#else
    (void)argc;
    (void)argv;
#endif
    return 0;
}
