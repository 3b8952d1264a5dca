/* SPDX-License-Identifier: MIT
 *
 * refusing_internal.c: in mode drop, an inline event of a thread is interrupted after each of its
 * instructions in turn. The handler fills the chunk and gets no other. Once the chunk belongs to
 * another thread, the interrupted event must not store into it.
 *
 *     refusing_internal
 *
 * Prints nothing; exit status 0 if all words of the chunk are unchanged.
 */
#include "probity_scope.h"
#include "programs/hits.h"
#include "programs/stepped.h"
#include "runtime/session.h"
#include "runtime/thread.h"

#if STEPPED && PROBITY_HAS_FAST_PATH
enum { HITS = 1, CHUNKS_MAX = 64, VALUE_BYTES = 8 };

#define OF_ANOTHER UINT64_C(0x5a5a5a5a5a5a5a5a)

static struct probity_pool *pool;
static uint32_t hoard[CHUNKS_MAX], hoarded;

/* Takes all free chunks, as threads with open chunks would. */
static void take_all(void)
{
    uint32_t chunk;

    while ((chunk = probity_pool_take(pool)) != PROBITY_POOL_NONE) {
        hits_need(hoarded < CHUNKS_MAX, "chunks");
        hoard[hoarded++] = chunk;
    }
}

static void use_up(void)
{
    while (__atomic_load_n(&probity_thread_self->valid_bit, __ATOMIC_RELAXED) != 0)
        PROBITY_PROBE(HITS);
}

static __attribute__((noinline)) void record_event(void)
{
    struct probity_event_room room;
    uint8_t *at = probity_event_begin(&room, PROBITY_EVENT_STALL, VALUE_BYTES);

    if (at != NULL) {
        memset(at, 0, VALUE_BYTES);
        probity_event_publish(&room);
    }
}

static int event_in_steps(long steps)
{
    stepped_begin(steps, use_up);
    record_event();
    return stepped_end();
}

/* Gives the thread a chunk, and leaves no other one free. */
static uint32_t begin_chunk(void)
{
    while (hoarded > 0)
        probity_pool_free(pool, hoard[--hoarded]);
    PROBITY_PROBE(HITS);
    take_all();
    return probity_thread_slot()->chunk;
}

/* Fills the chunk as its next owner would. */
static void fill(uint32_t chunk)
{
    for (uint32_t i = 0; i < pool->chunk_words; i++)
        probity_pool_words(pool, chunk)[i] = OF_ANOTHER;
}

static int is_as_filled(uint32_t chunk)
{
    uint32_t i = 0;

    while (i < pool->chunk_words && probity_pool_words(pool, chunk)[i] == OF_ANOTHER)
        i++;
    return i == pool->chunk_words;
}

int main(void)
{
    struct probity_options options = {.out = "refusing", .mode = PROBITY_MODE_DROP,
                                      .chunk_records = 512, .spool_records = 4096,
                                      .spool_bytes_max = 1 << 16};
    long steps = 0;
    int is_inside;

    hits_need(probity_start(&options) == 0, "start");
    PROBITY_PROBE(HITS);
    pool = &probity_session_get()->live.pool;
    do {
        uint32_t chunk = begin_chunk();
        is_inside = event_in_steps(++steps);
        use_up();
        probity_flush();
        take_all();
        fill(chunk);
        record_event();
        hits_need(is_as_filled(chunk), "another thread's words");
    } while (is_inside);
    while (hoarded > 0)
        probity_pool_free(pool, hoard[--hoarded]);
    hits_need(probity_stop() == 0, "stop");
    hits_need(steps > 10, "steps");
    return 0;
}
#else
int main(void)
{
    return 77;
}
#endif
