/* SPDX-License-Identifier: MIT
 *
 * profile.c: packs rows into the available room, and begins another part when that is full. Reads
 * cells while threads store to them.
 */
#include "writer/profile.h"

#include "base/assert.h"
#include "probity.h"
#include "writer/pass.h"

static int put_part(struct probity_profile_sink *sink, uint32_t flags)
{
    probity_assert(sink->payload != NULL && sink->part.rows > 0);
    probity_assert(sink->used <= sink->bytes);
    sink->part.flags = flags;
    sink->part.tick = sink->tick;
    sink->part.rate = sink->rate;
    probity_profile_part_put(sink->payload, &sink->part);
    sink->payload = NULL;
    sink->part.part++;
    sink->part.rows = 0;
    return sink->put(sink->context, (uint32_t)sink->used);
}

static int add_row(struct probity_profile_sink *sink, const struct probity_profile_row *row)
{
    if (sink->payload != NULL && sink->bytes - sink->used < PROBITY_PROFILE_ROW_BYTES_MAX) {
        int result = put_part(sink, 0);
        if (result != 0)
            return result;
    }
    if (sink->payload == NULL) {
        sink->payload = sink->room(sink->context);
        sink->used = PROBITY_PROFILE_FIXED_BYTES;
        if (sink->payload == NULL)
            return PROBITY_ERROR_WRITE;
    }
    probity_assert(sink->bytes - sink->used >= PROBITY_PROFILE_ROW_BYTES_MAX);
    sink->used =
        (size_t)(probity_profile_row_put(sink->payload + sink->used, row) - sink->payload);
    sink->part.rows++;
    return 0;
}

int probity_profile_add(struct probity_profile_sink *sink, const struct probity_cells *cells)
{
    struct probity_profile_row row;
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < cells->count; i++) {
        probity_cells_row(cells, i, &row);
        result = add_row(sink, &row);
    }
    return result;
}

int probity_profile_finish(struct probity_profile_sink *sink)
{
    return sink->payload != NULL ? put_part(sink, PROBITY_PROFILE_LAST) : 0;
}

/* ---- In the writer thread ----------------------------------------------------------------------
 */

static uint8_t *pass_room(void *context)
{
    return probity_pass_room(context);
}

static int pass_put(void *context, uint32_t payload_bytes)
{
    return probity_pass_block(context, PROBITY_BLOCK_PROFILE, payload_bytes);
}

int probity_profile_write(struct probity_pass *pass)
{
    struct probity_pool *pool = &pass->live->pool;
    uint32_t segments = __atomic_load_n(&pool->segments, __ATOMIC_ACQUIRE);
    struct probity_profile_sink sink = {.room = pass_room,
                                        .put = pass_put,
                                        .context = pass,
                                        .bytes = PROBITY_LIMIT_BATCH_BYTES,
                                        .tick = probity_clock_ticks(pass->live->clock),
                                        .rate = probity_live_rate(pass->live)};
    struct probity_cells cells;
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < segments * pool->chunks_per_segment; i++) {
        if (probity_cells_get(probity_pool_header(pool, i), probity_pool_words(pool, i),
                              pool->chunk_words, &cells))
            result = probity_profile_add(&sink, &cells);
    }
    return result == 0 ? probity_profile_finish(&sink) : result;
}
