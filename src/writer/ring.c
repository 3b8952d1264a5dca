/* SPDX-License-Identifier: MIT
 *
 * ring.c: which chunks a ring discards, and when (doc/triggers.md, "The ring"). Runs in the writer
 * thread.
 */
#include "writer/ring.h"

#include <string.h>

#include "base/assert.h"
#include "base/os.h"
#include "base/ticks.h"

size_t probity_ring_declarations(const uint8_t *block, size_t block_bytes, uint8_t *kept,
                                 uint32_t *ret_records)
{
    const uint8_t *from = block + PROBITY_BLOCK_HEADER_BYTES;
    size_t bytes = block_bytes - PROBITY_BLOCK_HEADER_BYTES;
    uint64_t table[PROBITY_STREAM_TABLE];
    struct probity_unpacker unpacker;
    struct probity_record record;
    struct probity_data data = {.records = 0};

    probity_assert(block_bytes > PROBITY_BLOCK_HEADER_BYTES + PROBITY_DATA_FIXED_BYTES);
    probity_data_get(from, bytes, &data); /* written by this process */
    probity_unpacker_init(&unpacker, from + PROBITY_DATA_FIXED_BYTES,
                          bytes - PROBITY_DATA_FIXED_BYTES, data.first_tick);
    struct probity_packer packer =
        probity_packer_start(kept + PROBITY_DATA_FIXED_BYTES, data.first_tick, table);
    data.records = 0;
    while (probity_unpack(&unpacker, &record) > 0) {
        if (!probity_event_declares(record.kind))
            continue;
        probity_pack_event(&packer, record.tick, record.kind, record.payload,
                           record.payload_bytes);
        data.records++;
        data.last_tick = record.tick;
        probity_assert((size_t)(packer.at - kept) < bytes + PROBITY_VARINT_SLACK);
    }
    data.holes = 0;
    probity_data_put(kept, &data);
    *ret_records = data.records;
    return (size_t)(packer.at - kept);
}

/* Writes what the chunk declares, because names are needed after its records have been discarded.
 * Returns 1, 0 if a probe in it is still in progress (unless is_final), or an error. The scratch
 * buffer, which is larger than the chunk, is free once the chunk is drained. */
static int declarations_write(struct probity_pass *pass, uint32_t chunk, uint32_t used,
                              int is_final)
{
    uint8_t *kept = (uint8_t *)pass->scratch.entries;
    struct probity_drain_output output;
    uint32_t records = 0;
    size_t bytes = 0;

    probity_assert(pass->commits == 0);
    if (probity_pass_drain(pass, chunk, used, !is_final, &output) != 0 ||
        (!is_final && output.end < used))
        return 0;
    uint8_t *block = pass->batch + pass->batch_bytes;
    if (output.records > 0)
        bytes = probity_ring_declarations(block, output.block_bytes, kept, &records);
    if (records == 0)
        return 1;
    memcpy(block + PROBITY_BLOCK_HEADER_BYTES, kept, bytes);
    probity_block_seal(block, PROBITY_BLOCK_DATA, pass->block_serial++, (uint32_t)bytes);
    pass->batch_bytes += PROBITY_BLOCK_HEADER_BYTES + bytes;
    pass->records += records;
    int result = probity_pass_write(pass);
    return result != 0 ? result : 1;
}

/* Discards a chunk. If its owner may still store into it, it must not be given to another thread.
 * Most chunks contain no declarations, and checking that costs far less than draining. Returns 1 if
 * it was freed, 0 if not, or an error. */
static int forget_chunk(struct probity_pass *pass, uint32_t chunk)
{
    struct probity_pool *pool = &pass->live->pool;
    const struct probity_chunk_header *header = probity_pool_header(pool, chunk);
    uint32_t used = header->used;
    uint64_t handed_over = header->handed_over;
    if (pass->look != NULL)
        pass->look(pass->look_context, pass, chunk, used);
    enum probity_drain_found found = probity_drain_look(probity_pool_words(pool, chunk), used);

    int is_final = found == PROBITY_DRAIN_HOLE &&
                   !probity_os_thread_exists(pass->live->pid, header->tid);
    if (found == PROBITY_DRAIN_HOLE && !is_final)
        return 0;
    if (found == PROBITY_DRAIN_DECLARES || is_final || pass->tally != NULL) {
        int result = declarations_write(pass, chunk, used, is_final);
        if (result <= 0)
            return result;
    }
    if (handed_over > pass->live->header->complete_from)
        __atomic_store_n(&pass->live->header->complete_from, handed_over, __ATOMIC_RELEASE);
    probity_pool_free(pool, chunk);
    return 1;
}

/* Returns the number of full chunks that a ring keeps: three quarters of all, or fewer, so that a
 * chunk is left for the next thread. */
static uint32_t full_chunks_of_ring(const struct probity_pool *pool)
{
    uint32_t total = probity_pool_total(pool), spare = total / 8 + 1;
    uint32_t open = __atomic_load_n(&pool->open_chunks, __ATOMIC_RELAXED);
    uint32_t most = total > open + spare ? total - open - spare : 0;

    return most < total / 4 * 3 ? most : total / 4 * 3;
}

/* Returns how many chunks to discard. If there are too many, it is a few more than necessary, so
 * that the writer is not woken for each chunk. */
static uint32_t chunks_to_forget(const struct probity_pool *pool)
{
    uint32_t full = __atomic_load_n(&pool->full_chunks, __ATOMIC_RELAXED);
    uint32_t most = full_chunks_of_ring(pool);

    return full > most ? full - most + most / 16 : 0;
}

void probity_ring_note_drops(struct probity_pass *pass)
{
    uint64_t now = probity_clock_ticks(pass->live->clock);
    const struct probity_spool_header *header = pass->live->header;
    uint64_t dropped = __atomic_load_n(&header->dropped_full, __ATOMIC_RELAXED) +
                       __atomic_load_n(&header->dropped_memory, __ATOMIC_RELAXED);

    if (dropped != pass->dropped)
        __atomic_store_n(&pass->live->header->complete_from, now, __ATOMIC_RELEASE);
    pass->dropped = dropped;
}

/* Returns a tick: chunks handed over before it are no longer needed. 0: all are needed. The window
 * ends when notices were last taken, which may be long ago if this thread lost its CPU or is
 * writing a dump: the records of a notice posted since then are still needed. */
static uint64_t useful_from(const struct probity_pass *pass, uint64_t now)
{
    const struct probity_live *live = pass->live;
    uint64_t end = now < pass->noticed ? now : pass->noticed;
    uint64_t from = live->ring_ticks != 0 && end > live->ring_ticks ? end - live->ring_ticks : 0;

    return from < pass->needed_from ? from : pass->needed_from;
}

int probity_ring_forget(struct probity_pass *pass)
{
    struct probity_pool *pool = &pass->live->pool;
    uint64_t now = probity_clock_ticks(pass->live->clock), from = useful_from(pass, now);
    uint32_t *tail = &pass->waiting;

    probity_ring_note_drops(pass);
    while (*tail != PROBITY_POOL_NONE)
        tail = &probity_pool_private(pool, *tail)->next;
    __atomic_store_n(tail, probity_pool_collect(pool), __ATOMIC_RELAXED);
    uint32_t excess = chunks_to_forget(pool);
    tail = &pass->waiting;
    while (*tail != PROBITY_POOL_NONE) {
        struct probity_pool_chunk *own = probity_pool_private(pool, *tail);
        uint32_t next = own->next;
        if (excess == 0 && probity_pool_header(pool, *tail)->handed_over >= from)
            break;
        int forgotten = own->is_pinned ? 0 : forget_chunk(pass, *tail);
        if (forgotten < 0)
            return forgotten;
        if (forgotten > 0) {
            __atomic_store_n(tail, next, __ATOMIC_RELAXED);
            excess -= excess != 0;
            continue;
        }
        /* Newer chunks are discarded instead. This one counts as open, so that no thread waits for
         * it; if there are no others, records are dropped. */
        if (!own->is_pinned && own->waits_since == 0)
            probity_pool_wait_begins(pool, *tail, now);
        tail = &own->next;
    }
    return 0;
}
