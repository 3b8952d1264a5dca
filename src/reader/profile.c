/* SPDX-License-Identifier: MIT
 *
 * profile.c: finds the latest complete profile, and returns its rows with names and in nanoseconds.
 * A missing or damaged part invalidates its profile, and the previous one is used.
 */
#include "reader/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/ticks.h"
#include "format/profile.h"
#include "reader/trace.h"
#include "spool/cells.h"

int probity_profile_parts_add(struct probity_profile_parts *parts,
                              const struct probity_scan_item *item)
{
    struct probity_profile_part part;

    if (probity_profile_part_get(item->payload, item->header.payload_bytes, &part) != 0)
        return 0;
    if (part.part == 0)
        parts->pending = 0;
    if (part.part != parts->pending || (part.part > 0 && part.tick != parts->tick))
        return 0;
    parts->tick = part.tick;
    void *places = probity_array_room(parts->places, sizeof *parts->places,
                                      parts->count + parts->pending, &parts->capacity);
    if (places == NULL)
        return PROBITY_ERROR_MEMORY;
    parts->places = places;
    probity_assert(parts->count + parts->pending < parts->capacity);
    parts->places[parts->count + parts->pending++] =
        (struct probity_profile_place){item->offset, item->bytes};
    if (part.flags & PROBITY_PROFILE_LAST) {
        memmove(parts->places, parts->places + parts->count,
                parts->pending * sizeof *parts->places);
        parts->count = parts->pending;
        parts->pending = 0;
    }
    return 0;
}

void probity_profile_parts_release(struct probity_profile_parts *parts)
{
    free(parts->places);
    *parts = (struct probity_profile_parts){0};
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

struct reading {
    const struct probity_trace *trace;
    probity_profile_take *take;
    void *context;
    uint64_t rate, now;
};

/* Returns the time on the CPU, clamped to the range from 0 to the wall time, because readings of
 * the CPU clock are inexact. */
static uint64_t cpu_ns(uint64_t ticks, int64_t off, uint64_t rate)
{
    uint64_t most = off > 0 ? (uint64_t)off : 0;

    return probity_ns_of_ticks(ticks - (most < ticks ? most : ticks), rate);
}

static int take_row(const struct reading *reading, const struct probity_profile_row *row)
{
    const struct probity_info *info = &reading->trace->facts.info;
    const struct probity_name *name =
        probity_names_find(&reading->trace->names, 2 * (uint64_t)row->site + 1);
    uint64_t rate = reading->rate;
    struct probity_profiled profiled = {
        .function = name != NULL ? name->function : NULL,
        .trace = reading->trace->number,
        .number = row->site,
        .thread = row->thread,
        .tid = row->tid,
        .pid = info->pid,
        .threads = row->threads,
        .calls = row->calls + row->untimed,
        .untimed = row->untimed,
        .counted = info->flags & PROBITY_INFO_PROFILE ? 0 : row->untimed,
        .unwound = row->unwound,
        .total_ns = probity_ns_of_ticks(row->total, rate),
        .self_ns = probity_ns_of_ticks(row->self, rate),
        .paused_ns = probity_ns_of_ticks(row->paused, rate),
        .durations_ns = probity_ns_of_ticks(row->durations, rate),
        .min_ns = probity_ns_of_ticks(row->min, rate),
        .max_ns = probity_ns_of_ticks(row->max, rate),
        .histogram = row->histogram,
        .rate = rate};

    if (row->open_since != 0) {
        uint64_t ticks = reading->now > row->open_since ? reading->now - row->open_since : 0;
        profiled.calls++;
        profiled.open = 1;
        profiled.total_ns += probity_ns_of_ticks(ticks, rate);
    }
    if (profiled.calls == 0)
        return 0; /* no checkpoint was reached */
    /* A live cell may be read between the two stores, and a file may contain any values. */
    if (profiled.max_ns < profiled.min_ns)
        profiled.max_ns = profiled.min_ns;
    if (info->flags & PROBITY_INFO_CPU_TIME) {
        profiled.cpu_total_ns = cpu_ns(row->total, row->off_total, rate);
        profiled.cpu_self_ns = cpu_ns(row->self, row->off_self, rate);
    }
    return reading->take(reading->context, &profiled);
}

/* Returns the end time of calls in progress: now, or the last time recorded by a program that has
 * ended. */
static uint64_t find_now(const struct probity_trace *trace)
{
    const struct probity_attach *attach = &trace->rest.attach;
    const struct probity_clockmap *clock = trace->clock;
    struct probity_cells cells;
    uint64_t now = clock->count > 0 ? clock->anchors[clock->count - 1].ticks : 0;

    if (trace->rest.is_alive)
        return probity_clock_ticks(trace->facts.info.clock);
    for (uint64_t i = 0; i < attach->chunk_count; i++) {
        uint64_t newest =
            probity_attach_cells(attach, i, &cells) ? probity_cells_newest(&cells) : 0;
        now = newest > now ? newest : now;
    }
    return now;
}

static int read_cells(struct reading *reading)
{
    const struct probity_attach *attach = &reading->trace->rest.attach;
    struct probity_profile_row row;
    struct probity_cells cells;
    int error = 0;

    uint64_t rate = __atomic_load_n(&probity_attach_header(attach)->rate, __ATOMIC_RELAXED);
    reading->rate = rate != 0 ? rate : reading->rate;
    reading->now = find_now(reading->trace);
    for (uint64_t i = 0; error == 0 && i < attach->chunk_count; i++) {
        if (!probity_attach_cells(attach, i, &cells))
            continue;
        for (uint32_t cell = 0; error == 0 && cell < cells.count; cell++) {
            probity_cells_row(&cells, cell, &row);
            error = take_row(reading, &row);
        }
    }
    return error;
}

/* Reads a block whose checksum was correct in the prescan, up to its first invalid row. */
static int read_rows(struct reading *reading, const uint8_t *payload, size_t bytes)
{
    const uint8_t *at = payload + PROBITY_PROFILE_FIXED_BYTES, *end = payload + bytes;
    struct probity_profile_part part;
    struct probity_profile_row row;
    int error = 0;

    if (probity_profile_part_get(payload, bytes, &part) != 0)
        return 0;
    reading->rate = part.rate != 0 ? part.rate : reading->rate;
    reading->now = part.tick;
    for (uint32_t i = 0; error == 0 && at != NULL && i < part.rows; i++) {
        at = probity_profile_row_get(at, end, &row);
        error = at != NULL ? take_row(reading, &row) : 0;
    }
    return error;
}

static int read_block(struct reading *reading, const struct probity_profile_place *place)
{
    uint8_t *block = malloc(place->bytes);
    int error = 0;

    probity_assert(place->bytes >= PROBITY_BLOCK_HEADER_BYTES + PROBITY_PROFILE_FIXED_BYTES);
    if (block == NULL)
        return PROBITY_ERROR_MEMORY;
    if (probity_range_read(&reading->trace->range, block, place->bytes, place->offset) !=
        (ssize_t)place->bytes)
        error = PROBITY_ERROR_READ;
    if (error == 0)
        error = read_rows(reading, block + PROBITY_BLOCK_HEADER_BYTES,
                          place->bytes - PROBITY_BLOCK_HEADER_BYTES);
    free(block);
    return error;
}

int probity_profile_read(const struct probity_trace *trace, probity_profile_take *take,
                         void *context)
{
    struct reading reading = {trace, take, context, trace->facts.info.rate, 0};
    const struct probity_profile_parts *parts = &trace->profile;
    int error = 0;

    if (trace->has_rest && !trace->rest.is_closed)
        return read_cells(&reading);
    for (size_t i = 0; error == 0 && i < parts->count; i++)
        error = read_block(&reading, &parts->places[i]);
    return error;
}
