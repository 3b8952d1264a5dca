/* SPDX-License-Identifier: MIT
 *
 * dropping_internal.c: in mode drop, a probe in a thread without a chunk is interrupted after each
 * of its instructions in turn. By then a chunk is free again, so the handler can record. Its record
 * must be kept, whatever the interrupted probe does with the word it had reserved.
 *
 *     dropping_internal HITS    the number of hits that the handler makes
 *
 * Prints "COUNT ID" for the handler's hits, which must be in the trace. Any other hit may be
 * missing.
 */
#include "programs/hits.h"
#include "programs/stepped.h"
#include "runtime/session.h"

#if STEPPED && PROBITY_HAS_FAST_PATH
enum { OF_HANDLER = 1, OTHERS = 2, CHUNKS_MAX = 64 };

static struct probity_pool *pool;
static uint32_t hoard[CHUNKS_MAX], hoarded;
static uint64_t hits, made;

static void record_in_handler(void)
{
    if (hoarded == 0)
        return;
    probity_pool_free(pool, hoard[--hoarded]);
    for (uint64_t i = 0; i < hits; i++, made++)
        PROBITY_PROBE(OF_HANDLER);
}

static __attribute__((noinline)) int probe_in_steps(long steps)
{
    stepped_begin(steps, record_in_handler);
    PROBITY_PROBE(OTHERS);
    return stepped_end();
}

/* Takes all free chunks, as threads with open chunks would; this thread then has none. */
static void take_all(void)
{
    uint32_t chunk;

    while ((chunk = probity_pool_take(pool)) != PROBITY_POOL_NONE) {
        hits_need(hoarded < CHUNKS_MAX, "chunks");
        hoard[hoarded++] = chunk;
    }
}

/* Runs until the thread has used up its chunk and the writer has freed the full ones. */
static void run_dry(void)
{
    do {
        take_all();
        PROBITY_PROBE(OTHERS);
    } while (__atomic_load_n(&probity_thread_self->valid_bit, __ATOMIC_RELAXED) != 0);
    probity_flush();
    take_all();
}

int main(int argc, char **argv)
{
    struct probity_options options = {.out = "dropping", .mode = PROBITY_MODE_DROP,
                                      .chunk_records = 512, .spool_records = 4096,
                                      .spool_bytes_max = 1 << 16};
    long steps = 0;
    int is_inside;

    hits = hits_argument(argc, argv, 1, 1);
    hits_need(probity_start(&options) == 0, "start");
    PROBITY_PROBE(OTHERS);
    pool = &probity_session_get()->live.pool;
    do {
        run_dry();
        is_inside = probe_in_steps(++steps);
    } while (is_inside);
    while (hoarded > 0)
        probity_pool_free(pool, hoard[--hoarded]);
    hits_need(probity_stop() == 0, "stop");
    fprintf(stderr, "%ld steps\n", steps);
    hits_need(steps > 20, "steps");
    printf("%llu %d\n", (unsigned long long)made, OF_HANDLER);
    return 0;
}
#else
int main(void)
{
    return 77;
}
#endif
