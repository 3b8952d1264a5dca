/* SPDX-License-Identifier: MIT
 *
 * cells.c: creates cells and reads them. src/runtime/profile.c updates them.
 */
#include "spool/cells.h"

#include <string.h>

#include "base/assert.h"

void probity_cells_relabel(struct probity_pool *pool, uint32_t chunk,
                           const struct probity_cells_owner *owner)
{
    struct probity_chunk_header *header = probity_pool_header(pool, chunk);

    probity_assert(probity_pool_chunk_is_valid(pool, chunk));
    __atomic_store_n(&header->thread, owner->thread, __ATOMIC_RELAXED);
    __atomic_store_n(&header->tid, owner->tid, __ATOMIC_RELAXED);
    __atomic_store_n(&header->threads, owner->threads, __ATOMIC_RELAXED);
}

void probity_cells_prepare(struct probity_pool *pool, uint32_t chunk,
                           const struct probity_cells_owner *owner)
{
    struct probity_chunk_header *header = probity_pool_header(pool, chunk);

    probity_assert(__atomic_load_n(&header->state, __ATOMIC_RELAXED) == PROBITY_CHUNK_FREE);
    memset(probity_pool_words(pool, chunk), 0, (size_t)pool->chunk_words * 8);
    header->set = owner->set;
    header->used = 0;
    header->serial = __atomic_add_fetch(&pool->serial, 1, __ATOMIC_RELAXED);
    header->base_tick = 0;
    header->cpu_ns = 0;
    header->drained = 0;
    header->flags = 0;
    probity_cells_relabel(pool, chunk, owner);
    /* Release: a reader that sees `cells` sees the header. Pairs with probity_cells_get(). */
    __atomic_store_n(&header->state, PROBITY_CHUNK_CELLS, __ATOMIC_RELEASE);
}

struct probity_profile_cell *probity_cells_add(struct probity_pool *pool, uint32_t chunk,
                                               uint32_t site)
{
    struct probity_chunk_header *header = probity_pool_header(pool, chunk);
    uint32_t used = header->used;

    probity_assert(header->state == PROBITY_CHUNK_CELLS);
    probity_assert(used <= probity_cells_per_chunk(pool->chunk_words));
    if (used == probity_cells_per_chunk(pool->chunk_words))
        return NULL;
    struct probity_profile_cell *cell =
        (struct probity_profile_cell *)probity_pool_words(pool, chunk) + used;
    probity_assert(cell->calls == 0 && cell->open_since == 0);
    cell->site = site;
    cell->min = UINT64_MAX;
    cell->histogram[0] = UINT64_MAX; /* becomes 0 when the first call adds `latest`, still empty */
    /* Release: the cell is complete when it is counted. */
    __atomic_store_n(&header->used, used + 1, __ATOMIC_RELEASE);
    return cell;
}

int probity_cells_get(const struct probity_chunk_header *header, const uint64_t *words,
                      uint32_t chunk_words, struct probity_cells *ret_cells)
{
    uint32_t most = probity_cells_per_chunk(chunk_words);

    probity_assert(probity_chunk_words_is_valid(chunk_words));
    if (__atomic_load_n(&header->state, __ATOMIC_ACQUIRE) != PROBITY_CHUNK_CELLS)
        return 0;
    uint32_t used = __atomic_load_n(&header->used, __ATOMIC_ACQUIRE);
    *ret_cells = (struct probity_cells){
        .cells = (const struct probity_profile_cell *)words,
        .count = used < most ? used : most,
        .owner = {.set = header->set,
                  .thread = __atomic_load_n(&header->thread, __ATOMIC_RELAXED),
                  .tid = __atomic_load_n(&header->tid, __ATOMIC_RELAXED),
                  .threads = __atomic_load_n(&header->threads, __ATOMIC_RELAXED)}};
    return 1;
}

static uint64_t load(const uint64_t *number)
{
    return __atomic_load_n(number, __ATOMIC_RELAXED);
}

uint64_t probity_cells_newest(const struct probity_cells *cells)
{
    uint64_t newest = 0;

    for (uint32_t i = 0; i < cells->count; i++) {
        uint64_t tick = load(&cells->cells[i].open_since);
        newest = tick > newest ? tick : newest;
    }
    return newest;
}

void probity_cells_row(const struct probity_cells *cells, uint32_t index,
                       struct probity_profile_row *ret_row)
{
    const struct probity_profile_cell *cell = &cells->cells[index];

    probity_assert(index < cells->count);
    *ret_row = (struct probity_profile_row){.set = cells->owner.set,
                                            .thread = cells->owner.thread,
                                            .tid = cells->owner.tid,
                                            .threads = cells->owner.threads,
                                            .site = cell->site,
                                            .calls = load(&cell->calls),
                                            .untimed = load(&cell->untimed),
                                            .unwound = load(&cell->unwound),
                                            .durations = load(&cell->durations),
                                            .total = load(&cell->total),
                                            .self = load(&cell->self),
                                            .min = load(&cell->min),
                                            .max = load(&cell->max),
                                            .paused = load(&cell->paused),
                                            .open_since = load(&cell->open_since),
                                            .off_total = (int64_t)load(&cell->off_total),
                                            .off_self = (int64_t)load(&cell->off_self)};
    ret_row->min = ret_row->min != UINT64_MAX ? ret_row->min : 0;
    uint64_t latest = load(&cell->latest);
    for (uint32_t i = 0; i < PROBITY_PROFILE_BUCKETS; i++)
        ret_row->histogram[i] = load(&cell->histogram[i]);
    ret_row->histogram[probity_profile_bucket(latest)]++;
    if (ret_row->histogram[0] == UINT64_MAX)
        ret_row->histogram[0] = 0; /* the first call ended during the read */
}
