/* SPDX-License-Identifier: MIT
 *
 * dump_chunks.c: selects the chunks of a dump. Their words and `drained` do not change: the chunks
 * stay in the ring until it discards them.
 */
#include "writer/dump_chunks.h"

#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/os.h"
#include "base/ticks.h"
#include "writer/ring.h"

/* Lets threads of the program that wait for this processor run: a dump takes milliseconds of CPU
 * time. Does nothing if one waits for a chunk, which the dump may be keeping. */
static void pause_dump(void *context)
{
    const struct probity_dump_chunks *chunks = context;

    if (chunks->pass->may_yield &&
        __atomic_load_n(&chunks->pass->live->pool.waiters, __ATOMIC_RELAXED) == 0)
        probity_os_yield();
}

static struct probity_drain_input input_of(const struct probity_pass *pass, uint32_t chunk,
                                           uint32_t end, int is_open)
{
    const struct probity_pool *pool = &pass->live->pool;
    const struct probity_chunk_header *header = probity_pool_header(pool, chunk);

    return (struct probity_drain_input){
        .words = probity_pool_words(pool, chunk),
        .end = end,
        .thread = header->thread,
        .tid = header->tid,
        .chunk = header->serial,
        .base_tick = header->base_tick,
        .cpu_ns = header->cpu_ns,
        .rate = probity_live_rate(pass->live),
        .cpu_known = header->flags & PROBITY_CHUNK_CPU_KNOWN,
        .stop_at_hole = is_open,
    };
}

static void add(struct probity_dump_chunks *chunks, uint32_t chunk, uint32_t end, int is_open)
{
    uint32_t at = chunks->content.chunk_count;
    const struct probity_pool *pool = &chunks->pass->live->pool;

    if (at == chunks->capacity || end == 0 ||
        probity_pool_header(pool, chunk)->serial > chunks->newest)
        return;
    chunks->inputs[at] = input_of(chunks->pass, chunk, end, is_open);
    chunks->numbers[at] = chunk;
    chunks->content.chunk_count++;
    probity_pool_private(&chunks->pass->live->pool, chunk)->is_pinned = 1;
}

/* Waits for a chunk that is just being handed over and in no list yet; its thread may have been
 * switched out. Returns whether it is in the list in time. */
static int await_release(const struct probity_thread_state *slot)
{
    enum { TRIES = 200, EACH_NS = 50000 };
    uint32_t never = 0;

    for (int i = 0; i < TRIES && __atomic_load_n(&slot->releasing, __ATOMIC_ACQUIRE); i++)
        probity_os_wait(&never, 0, EACH_NS);
    return !__atomic_load_n(&slot->releasing, __ATOMIC_ACQUIRE);
}

static void add_open(struct probity_dump_chunks *chunks, const struct probity_thread_state *slot)
{
    struct probity_pool *pool = &chunks->pass->live->pool;

    if (!await_release(slot))
        chunks->is_partial = 1;
    uint32_t chunk = __atomic_load_n(&slot->chunk, __ATOMIC_ACQUIRE);
    if (chunk == PROBITY_POOL_NONE ||
        __atomic_load_n(&probity_pool_header(pool, chunk)->state, __ATOMIC_ACQUIRE) !=
            PROBITY_CHUNK_OPEN)
        return;
    uint64_t start = (uint64_t)probity_pool_words(pool, chunk);
    uint64_t stored = (__atomic_load_n(&slot->hot.cursor, __ATOMIC_ACQUIRE) - start) / 8;
    add(chunks, chunk, stored < pool->chunk_words ? (uint32_t)stored : pool->chunk_words, 1);
}

/* Adds the full chunks after the open ones, oldest first. A chunk that was just open has been added
 * already. Of older chunks, only the declarations are needed. */
static void add_full(struct probity_dump_chunks *chunks, uint64_t from)
{
    struct probity_pool *pool = &chunks->pass->live->pool;
    uint32_t chunk = chunks->pass->waiting, older = 0;
    struct probity_pool_chunk *own;

    for (; chunk != PROBITY_POOL_NONE; chunk = own->next) {
        const struct probity_chunk_header *header = probity_pool_header(pool, chunk);
        own = probity_pool_private(pool, chunk);
        if (own->is_pinned)
            continue;
        if (header->handed_over >= from) {
            add(chunks, chunk, header->used, 0);
        } else if (own->plain_serial != header->serial &&
                   chunks->content.chunk_count + older < chunks->capacity) {
            enum probity_drain_found look =
                probity_drain_look(probity_pool_words(pool, chunk), header->used);
            pause_dump(chunks);
            if (look == PROBITY_DRAIN_PLAIN) {
                own->plain_serial = header->serial; /* the next dump does not read it again */
                continue;
            }
            older++;
            chunks->inputs[chunks->capacity - older] = input_of(chunks->pass, chunk, header->used,
                                                                0);
        }
    }
    chunks->content.declaring = &chunks->inputs[chunks->capacity - older];
    chunks->content.declaring_count = older;
}

/* Releases chunks after each batch: writing a dump must not make threads wait for chunks. */
static int written(void *context, uint32_t count)
{
    struct probity_dump_chunks *chunks = context;
    struct probity_pool *pool = &chunks->pass->live->pool;

    for (; chunks->unpinned < count; chunks->unpinned++)
        probity_pool_private(pool, chunks->numbers[chunks->unpinned])->is_pinned = 0;
    if (__atomic_exchange_n(&pool->extend_asked, 0, __ATOMIC_ACQ_REL))
        probity_pool_extend(pool);
    /* If the trace cannot be written, the next pass reports it. */
    probity_ring_forget(chunks->pass);
    return 0;
}

static void take_anchors(struct probity_dump_chunks *chunks)
{
    struct probity_live *live = chunks->pass->live;
    struct probity_clock_moment now;

    probity_live_anchor_now(live, &now);
    uint64_t count = __atomic_load_n(&live->header->anchors, __ATOMIC_ACQUIRE);
    uint64_t first = count > PROBITY_SPOOL_ANCHORS - 1 ? count - (PROBITY_SPOOL_ANCHORS - 1) : 0;
    for (uint64_t i = first; i < count; i++)
        chunks->anchors[chunks->content.anchor_count++] =
            live->header->anchor[i % PROBITY_SPOOL_ANCHORS];
    /* Seven more anchors are taken before one of these is replaced, which takes far longer than
     * copying them. In debug builds, this store also makes that order visible to
     * ThreadSanitizer. */
#ifdef PROBITY_DEBUG
    __atomic_fetch_or(&live->anchor_busy, 0, __ATOMIC_RELEASE);
#endif
}

static void reverse(struct probity_dump_chunks *chunks, uint32_t from, uint32_t to)
{
    for (; from + 1 < to; from++) {
        struct probity_drain_input input = chunks->inputs[from];
        uint32_t number = chunks->numbers[from];
        to--;
        chunks->inputs[from] = chunks->inputs[to];
        chunks->numbers[from] = chunks->numbers[to];
        chunks->inputs[to] = input;
        chunks->numbers[to] = number;
    }
}

/* Orders chunks so that the oldest are written first, and the open ones last. */
static void put_open_last(struct probity_dump_chunks *chunks, uint32_t open)
{
    reverse(chunks, 0, open);
    reverse(chunks, open, chunks->content.chunk_count);
    reverse(chunks, 0, chunks->content.chunk_count);
}

int probity_dump_chunks_pin(struct probity_dump_chunks *ret_chunks, struct probity_pass *pass,
                            uint64_t from)
{
    struct probity_live *live = pass->live;
    struct probity_dump_chunks *chunks = ret_chunks;
    uint32_t slots = __atomic_load_n(&live->slots, __ATOMIC_ACQUIRE), *tail = &pass->waiting;

    memset(chunks, 0, sizeof *chunks);
    chunks->pass = pass;
    chunks->newest = __atomic_load_n(&live->pool.serial, __ATOMIC_ACQUIRE);
    chunks->capacity = live->pool.segments * live->pool.chunks_per_segment;
    chunks->bytes = (size_t)chunks->capacity * (sizeof *chunks->inputs + sizeof *chunks->numbers);
    chunks->inputs = mmap(NULL, chunks->bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (chunks->inputs == MAP_FAILED)
        return PROBITY_ERROR_MEMORY;
    chunks->numbers = (uint32_t *)(chunks->inputs + chunks->capacity);
    for (uint32_t i = 0; i < slots; i++) {
        if (__atomic_load_n(&live->slot[i].in_use, __ATOMIC_ACQUIRE))
            add_open(chunks, &live->slot[i]);
    }
    uint32_t open = chunks->content.chunk_count;
    while (*tail != PROBITY_POOL_NONE)
        tail = &probity_pool_private(&live->pool, *tail)->next;
    __atomic_store_n(tail, probity_pool_collect(&live->pool), __ATOMIC_RELAXED);
    add_full(chunks, from);
    put_open_last(chunks, open);
    take_anchors(chunks);
    probity_pass_totals(chunks->pass, &chunks->content.totals);
    probity_os_random(chunks->content.session, sizeof chunks->content.session);
    chunks->content.trace = pass->append.descriptor;
    chunks->content.trace_bytes = pass->append.committed;
    chunks->content.chunks = chunks->inputs;
    chunks->content.chunk_words = live->pool.chunk_words;
    chunks->content.anchors = chunks->anchors;
    chunks->content.written = written;
    chunks->content.pause = pause_dump;
    chunks->content.context = chunks;
    return 0;
}

void probity_dump_chunks_release(struct probity_dump_chunks *chunks)
{
    for (; chunks->unpinned < chunks->content.chunk_count; chunks->unpinned++)
        probity_pool_private(&chunks->pass->live->pool, chunks->numbers[chunks->unpinned])
            ->is_pinned = 0;
    munmap(chunks->inputs, chunks->bytes);
}
