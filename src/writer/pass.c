/* SPDX-License-Identifier: MIT
 *
 * pass.c: drain, gather, write, and only then release: a chunk's words stay in the spool until
 * write(2) has returned. After a kill at any point, each record is in the file, in the spool, or in
 * both; if in both, its block's chunk and words identify it.
 */
#include "writer/pass.h"

#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/os.h"
#include "base/ticks.h"

enum {
    COMMITS = 1024,
    HOLE_WAIT_NS = 1000000000,      /* how long to wait for a hole in a full chunk to fill */
    WATERMARK_MARGIN_NS = 100000    /* store buffers drain in far less time */
};

static size_t batch_room(const struct probity_pass *pass)
{
    enum { SYNC_ROOM = 4096 };

    return PROBITY_LIMIT_BATCH_BYTES + probity_drain_room(pass->live->pool.chunk_words) + SYNC_ROOM;
}

static size_t scratch_bytes(const struct probity_pass *pass)
{
    return (size_t)pass->live->pool.chunk_words * sizeof(struct probity_drain_entry);
}

static size_t memory_bytes(const struct probity_pass *pass)
{
    return scratch_bytes(pass) + COMMITS * sizeof *pass->commit + batch_room(pass);
}

#ifdef PROBITY_DEBUG
int probity_pass_is_valid(const struct probity_pass *pass)
{
    return pass->batch_bytes <= batch_room(pass) && pass->commits <= COMMITS &&
           pass->synced_bytes <= pass->append.committed &&
           (pass->waiting == PROBITY_POOL_NONE ||
            probity_pool_chunk_is_valid(&pass->live->pool, pass->waiting)) &&
           (pass->held == PROBITY_POOL_NONE ||
            probity_pool_chunk_is_valid(&pass->live->pool, pass->held));
}
#endif

int probity_pass_init(struct probity_pass *pass, struct probity_live *live)
{
    struct probity_append append = pass->append;

    probity_assert(probity_chunk_words_is_valid(live->pool.chunk_words));
    memset(pass, 0, sizeof *pass);
    pass->live = live;
    pass->append = append;
    pass->waiting = PROBITY_POOL_NONE;
    pass->held = PROBITY_POOL_NONE;
    pass->needed_from = pass->noticed = UINT64_MAX;
    pass->block_serial = 1; /* block 0 is INFO */
    pass->synced_bytes = append.committed;
    uint8_t *at = live->memory;
    if (at == NULL || memory_bytes(pass) > live->memory_bytes)
        at = mmap(NULL, memory_bytes(pass), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                  0);
    if (at == MAP_FAILED)
        return PROBITY_ERROR_MEMORY;
    pass->scratch.entries = (struct probity_drain_entry *)at;
    pass->scratch.capacity = live->pool.chunk_words;
    pass->commit = (struct probity_pass_commit *)(at + scratch_bytes(pass));
    pass->batch = at + scratch_bytes(pass) + COMMITS * sizeof *pass->commit;
    return 0;
}

void probity_pass_release(struct probity_pass *pass)
{
    probity_assert(pass->scratch.entries != NULL);
    if (pass->scratch.entries != pass->live->memory)
        munmap(pass->scratch.entries, memory_bytes(pass));
    else if (pass->append.committed >= PROBITY_LIMIT_BATCH_BYTES)
        madvise(pass->scratch.entries, memory_bytes(pass), MADV_DONTNEED);
}

/* Writes in the order of doc/spool.md, "Order of the writer's stores". */
int probity_pass_write(struct probity_pass *pass)
{
    struct probity_pool *pool = &pass->live->pool;

    probity_assert(probity_pass_is_valid(pass));
    if (pass->batch_bytes > 0) {
        int result = probity_append_bytes(&pass->append, pass->batch, pass->batch_bytes);
        if (result != 0)
            return result;
    }
    for (uint32_t i = 0; i < pass->commits; i++) {
        struct probity_pass_commit *commit = &pass->commit[i];
        struct probity_chunk_header *header = probity_pool_header(pool, commit->chunk);
        probity_assert(commit->end >= header->drained && commit->end <= pool->chunk_words);
        /* Release: the block is in the file. Pairs with probity_attach_chunk(). */
        __atomic_store_n(&header->drained, commit->end, __ATOMIC_RELEASE);
        if (commit->then == PROBITY_PASS_FREE)
            probity_pool_free(pool, commit->chunk);
    }
    __atomic_store_n(&pass->live->header->committed, pass->append.committed, __ATOMIC_RELEASE);
    pass->batch_bytes = 0;
    pass->commits = 0;
    return 0;
}

/* Holds back the watermark for a chunk that cannot be drained to its end. */
static void hold_watermark(struct probity_pass *pass, uint64_t tick)
{
    if (tick < pass->watermark)
        pass->watermark = tick;
}

int probity_pass_drain(struct probity_pass *pass, uint32_t chunk, uint32_t end, int stop_at_hole,
                       struct probity_drain_output *ret_output)
{
    struct probity_pool *pool = &pass->live->pool;
    const struct probity_chunk_header *header = probity_pool_header(pool, chunk);
    struct probity_drain_input input = {
        .words = probity_pool_words(pool, chunk),
        .end = end,
        .first = header->drained,
        .thread = header->thread,
        .tid = header->tid,
        .chunk = header->serial,
        .base_tick = header->base_tick,
        .cpu_ns = header->cpu_ns,
        .rate = probity_live_rate(pass->live),
        .cpu_known = header->flags & PROBITY_CHUNK_CPU_KNOWN,
        .is_late = probity_pool_private(pool, chunk)->is_held != 0,
        .stop_at_hole = stop_at_hole,
    };

    probity_assert(probity_pool_chunk_is_valid(pool, chunk) && end <= pool->chunk_words);
    if (pass->commits == COMMITS || pass->batch_bytes >= PROBITY_LIMIT_BATCH_BYTES) {
        int result = probity_pass_write(pass);
        if (result != 0)
            return result;
    }
    probity_assert(pass->batch_bytes + probity_drain_room(end) <= batch_room(pass));
    probity_drain_chunk(&input, &pass->scratch, pass->block_serial, pass->batch + pass->batch_bytes,
                        ret_output);
    probity_assert(ret_output->records == 0 ||
                   probity_block_is_valid(pass->batch + pass->batch_bytes,
                   ret_output->block_bytes));
    if (pass->tally != NULL)
        probity_tally_add(pass->tally, input.words, input.first, ret_output->end);
    return 0;
}

static void chunk_commit(struct probity_pass *pass, uint32_t chunk, enum probity_pass_then then,
                         const struct probity_drain_output *output)
{
    probity_assert(pass->commits < COMMITS);
    probity_assert(output->end <= pass->live->pool.chunk_words);
    if (output->records > 0) {
        pass->batch_bytes += output->block_bytes;
        pass->block_serial++;
        pass->records += output->records;
    }
    pass->commit[pass->commits++] = (struct probity_pass_commit){chunk, output->end, then};
}

static void hold(struct probity_pass *pass, uint32_t chunk)
{
    probity_assert(chunk != pass->held && probity_pool_chunk_is_valid(&pass->live->pool, chunk));
    probity_pool_link(&pass->live->pool, chunk, pass->held);
    pass->held = chunk;
}

/* Returns whether a probe is still in progress at word `at`. */
static int is_hole(const struct probity_pool *pool, uint32_t chunk, uint32_t at)
{
    uint64_t head = __atomic_load_n(&probity_pool_words(pool, chunk)[at], __ATOMIC_ACQUIRE);

    probity_assert(at < pool->chunk_words);
    return head == 0 || ((head & PROBITY_WORD_CODE_MASK) < PROBITY_WORD_CODE_FIRST &&
                         (head & 15) == PROBITY_WORD_PENDING);
}

/* Drains one held chunk: its hole may have been filled, or never will be because its thread is dead
 * (checked first, so that its earlier stores are visible). Words after a hole wait in the spool: if
 * a block included the hole, the record that fills it might be lost. */
static int held_chunk_drain(struct probity_pass *pass, uint32_t chunk, int last)
{
    struct probity_pool *pool = &pass->live->pool;
    const struct probity_chunk_header *header = probity_pool_header(pool, chunk);
    int is_final = last || !probity_os_thread_exists(pass->live->pid, header->tid);
    struct probity_drain_output output;

    probity_assert(probity_pool_private(pool, chunk)->is_held);
    probity_assert(header->drained <= header->used);
    if (!is_final && is_hole(pool, chunk, header->drained)) {
        hold(pass, chunk);
        return 0;
    }
    int result = probity_pass_drain(pass, chunk, header->used, !is_final, &output);
    if (result != 0)
        return result;
    int is_done = is_final || output.end >= header->used;
    chunk_commit(pass, chunk, is_done ? PROBITY_PASS_FREE : PROBITY_PASS_KEEP, &output);
    if (!is_done)
        hold(pass, chunk);
    return 0;
}

/* Drains held chunks: holes that were filled late become late blocks. Frees chunks without
 * holes. */
static int held_drain(struct probity_pass *pass, int last)
{
    uint32_t chunk = pass->held;
    int result = 0;

    pass->held = PROBITY_POOL_NONE;
    while (chunk != PROBITY_POOL_NONE && result == 0) {
        uint32_t next = probity_pool_private(&pass->live->pool, chunk)->next;
        result = held_chunk_drain(pass, chunk, last);
        chunk = next;
    }
    return result;
}

/* Puts a full chunk with a hole into the waiting list: a probe in it is still in progress, or was
 * left by a jump out of a signal handler. As long as that probe may store, the chunk must not be
 * given to another thread. */
static void hole_wait(struct probity_pass *pass, uint32_t chunk,
                      const struct probity_drain_output *output)
{
    struct probity_pool *pool = &pass->live->pool;
    struct probity_pool_chunk *own = probity_pool_private(pool, chunk);
    uint64_t now = probity_clock_ticks(pass->live->clock);
    uint64_t patience = probity_ticks_of_ns(HOLE_WAIT_NS, probity_live_rate(pass->live));

    probity_assert(output->end < pool->chunk_words);
    if (own->waits_since == 0)
        probity_pool_wait_begins(pool, chunk, now);
    if (now - own->waits_since < patience) {
        hold_watermark(pass, probity_pool_header(pool, chunk)->base_tick);
        probity_pool_link(pool, chunk, pass->waiting);
        pass->waiting = chunk;
        return;
    }
    chunk_commit(pass, chunk, PROBITY_PASS_KEEP, output);
    own->is_held = 1;
    hold(pass, chunk);
}

/* Drains a full chunk. last: do not wait for holes. */
static int full_drain(struct probity_pass *pass, uint32_t chunk, int last)
{
    uint32_t used = probity_pool_header(&pass->live->pool, chunk)->used;
    struct probity_drain_output output;
    int result = probity_pass_drain(pass, chunk, used, !last, &output);

    probity_assert(probity_chunk_is_valid(probity_pool_header(&pass->live->pool, chunk),
                                          pass->live->pool.chunk_words));
    if (result != 0)
        return result;
    if (output.end < used && !last)
        hole_wait(pass, chunk, &output);
    else
        chunk_commit(pass, chunk, PROBITY_PASS_FREE, &output);
    return 0;
}

static int list_drain(struct probity_pass *pass, uint32_t chunk, int last)
{
    int result = 0;

    while (chunk != PROBITY_POOL_NONE && result == 0) {
        uint32_t next = probity_pool_private(&pass->live->pool, chunk)->next;
        result = full_drain(pass, chunk, last);
        chunk = next;
    }
    return result;
}

static int drain_lists(struct probity_pass *pass, int last)
{
    uint32_t waiting = pass->waiting;

    pass->waiting = PROBITY_POOL_NONE;
    int result = list_drain(pass, waiting, last);
    return result != 0 ? result : list_drain(pass, probity_pool_collect(&pass->live->pool), last);
}

int probity_pass_full(struct probity_pass *pass)
{
    /* Only a pass over all chunks advances the watermark. Chunks waiting here for a hole were
     * included in the last such pass, or are newer. */
    uint64_t watermark = pass->watermark;
    int result = drain_lists(pass, 0);

    pass->watermark = watermark;
    return result != 0 ? result : probity_pass_write(pass);
}

/* Drains what an open chunk contains so far. Its owner may store more, or hand it over, in the
 * meantime: only the writer frees it. */
static int open_drain(struct probity_pass *pass, struct probity_thread_state *slot)
{
    struct probity_pool *pool = &pass->live->pool;
    uint32_t chunk = __atomic_load_n(&slot->chunk, __ATOMIC_ACQUIRE);
    struct probity_drain_output output;

    if (chunk == PROBITY_POOL_NONE)
        return 0;
    struct probity_chunk_header *header = probity_pool_header(pool, chunk);
    if (__atomic_load_n(&header->state, __ATOMIC_ACQUIRE) != PROBITY_CHUNK_OPEN)
        return 0;
    probity_assert(header->drained <= pool->chunk_words); /* the owner may store the other fields */
    uint64_t start = (uint64_t)probity_pool_words(pool, chunk);
    uint64_t stored = (__atomic_load_n(&slot->hot.cursor, __ATOMIC_ACQUIRE) - start) / 8;
    uint32_t reserved = stored < pool->chunk_words ? (uint32_t)stored : pool->chunk_words;
    if (reserved <= header->drained)
        return 0;
    int result = probity_pass_drain(pass, chunk, reserved, 1, &output);
    if (result != 0)
        return result;
    if (output.end < reserved)
        hold_watermark(pass, output.records > 0 ? output.last_tick : header->base_tick);
    if (output.end > header->drained)
        chunk_commit(pass, chunk, PROBITY_PASS_KEEP, &output);
    return 0;
}

/* Drains an open chunk, and accounts for a hit that its cursor does not show: a hit being moved to
 * other words may be older than the watermark and in none of the chunks that this pass sees. Pairs
 * with move_hit in src/runtime/record.c. */
static int slot_drain(struct probity_pass *pass, struct probity_thread_state *slot,
                      uint64_t watermark_before)
{
    uint32_t relocations = __atomic_load_n(&slot->relocations, __ATOMIC_ACQUIRE);
    int result = open_drain(pass, slot);
    /* The chunk is being moved to the list of full chunks, and this pass may miss it. Pairs with
     * probity_live_chunk_release(). */
    if (__atomic_load_n(&slot->releasing, __ATOMIC_ACQUIRE))
        hold_watermark(pass, watermark_before);
    uint64_t moving = __atomic_load_n(&slot->relocating_tick, __ATOMIC_ACQUIRE);
    uint32_t relocations_now = __atomic_load_n(&slot->relocations, __ATOMIC_ACQUIRE);

    uint64_t patience = probity_ticks_of_ns(HOLE_WAIT_NS, probity_live_rate(pass->live));
    if (relocations_now != relocations)
        hold_watermark(pass, watermark_before); /* `moving` may be that of the next hit */
    else if ((relocations_now & 1) && probity_clock_ticks(pass->live->clock) - moving < patience)
        hold_watermark(pass, moving); /* older: left by a jump out of a signal handler */
    return result;
}

/* Handles a thread that ended without its destructor (a raw exit, a late probe) and left its chunk
 * open. */
static void reap_thread(struct probity_live *live, struct probity_thread_state *slot)
{
    if (probity_os_thread_exists(live->pid, __atomic_load_n(&slot->tid, __ATOMIC_RELAXED)))
        return;
    probity_os_lock(&live->slots_lock);
    if (slot->in_use && !probity_os_thread_exists(live->pid, slot->tid)) {
        probity_assert(probity_thread_state_is_valid(live, slot));
        if (slot->chunk != PROBITY_POOL_NONE)
            probity_live_chunk_release(live, slot);
        __atomic_store_n(&slot->busy, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&slot->in_use, 0, __ATOMIC_RELEASE);
    }
    probity_os_unlock(&live->slots_lock);
}

void probity_pass_totals(const struct probity_pass *pass, struct probity_totals *ret_totals)
{
    const struct probity_spool_header *header = pass->live->header;

    *ret_totals = (struct probity_totals){
        .dropped_full = __atomic_load_n(&header->dropped_full, __ATOMIC_RELAXED),
        .dropped_memory = __atomic_load_n(&header->dropped_memory, __ATOMIC_RELAXED),
        .dropped_write = __atomic_load_n(&header->dropped_write, __ATOMIC_RELAXED),
        .stalls = __atomic_load_n(&header->stalls, __ATOMIC_RELAXED),
        .stall_ticks = __atomic_load_n(&header->stall_ticks, __ATOMIC_RELAXED),
        .unmeasured_ticks_max = __atomic_load_n(&header->unmeasured_ticks_max, __ATOMIC_RELAXED),
        .threads = (uint32_t)__atomic_load_n(&header->threads, __ATOMIC_RELAXED),
    };
}

static void sync_fill(struct probity_pass *pass, struct probity_sync *ret_sync)
{
    struct probity_clock_moment now;

    probity_live_anchor_now(pass->live, &now);
    ret_sync->anchor = (struct probity_anchor){now.ticks, now.raw_ns, now.monotonic_ns,
                                               now.realtime_ns, now.width_ns};
    ret_sync->watermark = pass->watermark;
    probity_pass_totals(pass, &ret_sync->totals);
    ret_sync->totals.records = pass->records;
}

static int sync_write(struct probity_pass *pass, uint16_t type, uint32_t reason)
{
    struct probity_sync sync = {.reason = reason};
    uint8_t *block = pass->batch + pass->batch_bytes;

    probity_assert(type == PROBITY_BLOCK_SYNC || (type == PROBITY_BLOCK_END && reason != 0));
    sync_fill(pass, &sync);
    sync.reason = reason;
    probity_assert(pass->batch_bytes + PROBITY_BLOCK_HEADER_BYTES + PROBITY_SYNC_BYTES <=
                   batch_room(pass));
    probity_sync_put(block + PROBITY_BLOCK_HEADER_BYTES, &sync);
    probity_block_seal(block, type, pass->block_serial++, PROBITY_SYNC_BYTES);
    pass->batch_bytes += PROBITY_BLOCK_HEADER_BYTES + PROBITY_SYNC_BYTES;
    return probity_pass_write(pass);
}

/* The order of steps makes the watermark correct: first its time, then the open chunks up to their
 * cursors, then the full ones. A chunk that is open at the first step and full at the last is
 * drained in both. */
int probity_pass_all(struct probity_pass *pass, int last)
{
    struct probity_live *live = pass->live;
    uint64_t rate = probity_live_rate(live);
    uint64_t before = pass->watermark;

    probity_assert(probity_pass_is_valid(pass));
    pass->watermark =
        probity_clock_ticks(live->clock) - probity_ticks_of_ns(WATERMARK_MARGIN_NS, rate);
    uint32_t slots = __atomic_load_n(&live->slots, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < slots; i++) {
        struct probity_thread_state *slot = &live->slot[i];
        if (!__atomic_load_n(&slot->in_use, __ATOMIC_ACQUIRE))
            continue;
        int result = slot_drain(pass, slot, before);
        if (result != 0)
            return result;
        reap_thread(live, slot);
    }
    /* Drained words must be recorded before a chunk can be drained a second time, as full or
     * held. */
    int result = probity_pass_write(pass);
    if (result == 0)
        result = drain_lists(pass, last);
    if (result == 0 && pass->held != PROBITY_POOL_NONE)
        result = probity_pass_write(pass);
    if (result == 0)
        result = held_drain(pass, last);
    if (pass->watermark < before)
        pass->watermark = before;
    if (result != 0 || last)
        return result; /* END has what a SYNC has, and is written with what was gathered */
    if (pass->batch_bytes == 0 && pass->append.committed == pass->synced_bytes)
        return probity_pass_write(pass);
    result = sync_write(pass, PROBITY_BLOCK_SYNC, 0);
    pass->synced_bytes = pass->append.committed;
    return result;
}

/* Gives the writer a thread number like any other thread. */
static void number_take(struct probity_pass *pass, uint32_t *thread_numbers)
{
    struct probity_live *live = pass->live;

    probity_os_lock(&live->slots_lock);
    pass->thread = (*thread_numbers)++;
    probity_os_unlock(&live->slots_lock);
    __atomic_add_fetch(&live->header->threads, 1, __ATOMIC_RELAXED);
}

/* Such a block has no chunk: it gets a serial that no chunk has, and one word. */
int probity_pass_event(struct probity_pass *pass, uint64_t tick, uint32_t kind,
                       const uint8_t *event, size_t bytes, uint32_t *thread_numbers)
{
    static const char name[] = "probity-writer";
    struct probity_live *live = pass->live;
    uint8_t *block = pass->batch + pass->batch_bytes;
    uint8_t *payload = block + PROBITY_BLOCK_HEADER_BYTES;
    uint64_t table[PROBITY_STREAM_TABLE];
    int is_first = !pass->has_thread;

    probity_assert(bytes <= PROBITY_EVENT_BYTES_MAX);
    if (is_first)
        number_take(pass, thread_numbers);
    pass->has_thread = 1;
    struct probity_data data = {
        .thread = pass->thread,
        .tid = probity_os_thread_id(),
        .chunk = __atomic_add_fetch(&live->pool.serial, 1, __ATOMIC_RELAXED),
        .end_word = 1,
        .records = 1 + (uint32_t)is_first,
        .flags = PROBITY_DATA_HAS_EVENTS,
        .first_tick = tick,
        .last_tick = tick,
        .rate = probity_live_rate(live)};
    probity_data_put(payload, &data);
    struct probity_packer packer =
        probity_packer_start(payload + PROBITY_DATA_FIXED_BYTES, tick, table);
    if (is_first)
        probity_pack_event(&packer, tick, PROBITY_EVENT_THREAD_NAME, name, sizeof name - 1);
    probity_pack_event(&packer, tick, kind, event, bytes);
    probity_block_seal(block, PROBITY_BLOCK_DATA, pass->block_serial++,
                       (uint32_t)(packer.at - payload));
    pass->batch_bytes += (size_t)(packer.at - block);
    pass->records += data.records;
    probity_assert(probity_block_is_valid(block, (size_t)(packer.at - block)));
    return probity_pass_write(pass);
}

int probity_pass_levels(struct probity_pass *pass, uint64_t tick, uint32_t levels,
                        const char *settings, uint32_t *thread_numbers)
{
    enum { ORIGIN_TOOL = 3, FIXED = 3, TEXT_MAX = PROBITY_EVENT_BYTES_MAX - FIXED };
    uint8_t event[PROBITY_EVENT_BYTES_MAX] = {(uint8_t)levels, (uint8_t)(levels >> 8), ORIGIN_TOOL};
    size_t length = strnlen(settings, TEXT_MAX);

    probity_assert(levels >> 24 == 0);
    memcpy(event + FIXED, settings, length);
    return probity_pass_event(pass, tick, PROBITY_EVENT_LEVELS, event, FIXED + length,
                              thread_numbers);
}

uint8_t *probity_pass_room(struct probity_pass *pass)
{
    return probity_pass_write(pass) == 0 ? pass->batch + PROBITY_BLOCK_HEADER_BYTES : NULL;
}

int probity_pass_block(struct probity_pass *pass, uint16_t type, uint32_t payload_bytes)
{
    probity_assert(pass->batch_bytes == 0 && payload_bytes <= PROBITY_LIMIT_BATCH_BYTES);
    probity_block_seal(pass->batch, type, pass->block_serial++, payload_bytes);
    pass->batch_bytes = PROBITY_BLOCK_HEADER_BYTES + payload_bytes;
    return probity_pass_write(pass);
}

int probity_pass_end(struct probity_pass *pass, uint32_t reason)
{
    return sync_write(pass, PROBITY_BLOCK_END, reason);
}
