/* SPDX-License-Identifier: MIT
 *
 * timeline_pyramid.c: cuts a timeline into tiles while it is made. A tile is complete when
 * everything that began in it has ended or is already too long for tiles. It is then written, and
 * merged into the tile of the level above, which is written when the first tile after its end
 * arrives.
 */
#include "answers/timeline/timeline_pyramid.h"

#include <stdlib.h>
#include <string.h>

#include "answers/timeline/timeline_lane.h"
#include "probity.h"

enum { TILE_SPANS = 32768, TILES_WANTED = 1500 };

/* The collected part of a tile. */
struct level {
    uint64_t unit_ns;
    uint32_t number;
    size_t spans;
    struct probity_timeline_thread **threads; /* NULL: no spans yet */
    size_t thread_count;
};

struct probity_pyramid {
    struct probity_timeline *timeline;
    struct probity_pyramid_grid grid;
    probity_pyramid_write *write;
    void *context;
    struct level levels[PROBITY_PYRAMID_LEVELS_MAX + 1]; /* the last one has the late spans */
    uint64_t complete_ns; /* when the tile of level 0 is complete */
    uint64_t lost;
};

/* ---- The grid ----------------------------------------------------------------------------------
 */

/* Returns the smallest power of two that is at least `least`. */
static uint64_t power_of_two(uint64_t least)
{
    uint64_t power = 1;

    while (power < least && power < UINT64_C(1) << 62)
        power *= 2;
    return power;
}

/* Makes the unit finer, level by level, as long as there is room for all levels. Half the unit
 * means at most twice as many merged spans. */
static void plan_units(struct probity_pyramid_grid *grid, uint64_t spans, uint64_t spans_max)
{
    uint64_t finer = 1;

    while (grid->longest_ns / finer > 1 && spans * finer * 2 <= spans_max / 4 * 3 &&
           finer < UINT64_C(1) << 20)
        finer *= 2;
    grid->unit_ns = grid->longest_ns / finer;
    for (uint64_t unit_ns = grid->unit_ns; finer > 1 && unit_ns <= grid->longest_ns / 2 &&
                                           grid->levels < PROBITY_PYRAMID_LEVELS_MAX; unit_ns *= 4)
        grid->levels++;
}

struct probity_pyramid_grid probity_pyramid_plan(const struct probity_timeline *timeline,
                                                 uint64_t spans_max)
{
    const struct probity_timeline_facts facts = probity_timeline_facts(timeline);
    struct probity_pyramid_grid grid = {.longest_ns = facts.unit_ns};
    uint64_t all_ns = facts.last_ns - facts.first_ns + 1;

    if (facts.together == 0 || facts.spans == 0)
        return grid;
    plan_units(&grid, facts.spans, spans_max);
    if (grid.levels == 0)
        return grid;
    uint64_t wanted = facts.spans * (grid.longest_ns / grid.unit_ns) / TILE_SPANS + 1;
    if (wanted > TILES_WANTED)
        wanted = TILES_WANTED;
    grid.tile_ns = power_of_two(all_ns / wanted + 1);
    if (grid.tile_ns < grid.longest_ns)
        grid.tile_ns = grid.longest_ns;
    /* Implausible times could overflow. */
    if (facts.last_ns > INT64_MAX || grid.tile_ns > UINT64_C(1) << 52) {
        grid.levels = 0;
        return grid;
    }
    uint64_t top_ns = grid.tile_ns << 2 * (grid.levels - 1);
    grid.from_ns = facts.first_ns / top_ns * top_ns;
    grid.tiles = (uint32_t)((facts.last_ns - grid.from_ns) / grid.tile_ns) + 1;
    return grid;
}

uint32_t probity_pyramid_tiles(const struct probity_pyramid_grid *grid, unsigned level)
{
    return grid->tiles > 0 ? ((grid->tiles - 1) >> 2 * level) + 1 : 0;
}

/* ---- Levels ------------------------------------------------------------------------------------
 */

static int reach_place(struct level *level, size_t place)
{
    if (place < level->thread_count)
        return 0;
    size_t count = place + 1 > 2 * level->thread_count ? place + 1 : 2 * level->thread_count;
    struct probity_timeline_thread **threads =
        realloc(level->threads, count * sizeof(struct probity_timeline_thread *));
    if (threads == NULL)
        return PROBITY_ERROR_MEMORY;
    memset(threads + level->thread_count, 0,
           (count - level->thread_count) * sizeof(struct probity_timeline_thread *));
    level->threads = threads;
    level->thread_count = count;
    return 0;
}

static int reach_depth(struct probity_timeline_thread *thread, uint32_t depth)
{
    if (depth < thread->depth)
        return 0;
    struct probity_timeline_lane *calls =
        realloc(thread->calls, (depth + 1) * sizeof *calls);
    if (calls == NULL)
        return PROBITY_ERROR_MEMORY;
    memset(calls + thread->depth, 0, (depth + 1 - thread->depth) * sizeof *calls);
    thread->calls = calls;
    thread->depth = depth + 1;
    return 0;
}

static struct probity_timeline_lane *lane_of(struct level *level, size_t place,
                                             enum probity_timeline_kind kind, uint32_t depth)
{
    if (reach_place(level, place) != 0)
        return NULL;
    if (level->threads[place] == NULL)
        level->threads[place] = calloc(1, sizeof **level->threads);
    struct probity_timeline_thread *thread = level->threads[place];
    if (thread == NULL)
        return NULL;
    switch (kind) {
    case PROBITY_TIMELINE_STRETCHES: return &thread->stretches;
    case PROBITY_TIMELINE_MARKS: return &thread->marks;
    case PROBITY_TIMELINE_BLOCKS: return &thread->blocks;
    case PROBITY_TIMELINE_STATES: return &thread->states;
    default: return reach_depth(thread, depth) == 0 ? &thread->calls[depth] : NULL;
    }
}

static int add(struct level *level, size_t place, enum probity_timeline_track track,
               enum probity_timeline_kind kind, uint32_t depth,
               const struct probity_timeline_span *span)
{
    struct probity_timeline_lane *lane = lane_of(level, place, kind, depth);
    int added = lane != NULL ? probity_timeline_lane_add(lane, span, level->unit_ns)
                             : PROBITY_ERROR_MEMORY;

    if (added < 0)
        return added;
    level->threads[place]->track = track;
    level->spans += (size_t)added;
    return 0;
}

static int add_lane(struct level *level, size_t place, enum probity_timeline_track track,
                    enum probity_timeline_kind kind, uint32_t depth,
                    const struct probity_timeline_lane *from)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < from->count; i++)
        error = add(level, place, track, kind, depth, &from->spans[i]);
    return error;
}

static int add_thread(struct level *level, size_t place,
                      const struct probity_timeline_thread *from)
{
    int error =
        add_lane(level, place, from->track, PROBITY_TIMELINE_STRETCHES, 0, &from->stretches);

    if (error == 0)
        error = add_lane(level, place, from->track, PROBITY_TIMELINE_MARKS, 0, &from->marks);
    if (error == 0)
        error = add_lane(level, place, from->track, PROBITY_TIMELINE_BLOCKS, 0, &from->blocks);
    if (error == 0)
        error = add_lane(level, place, from->track, PROBITY_TIMELINE_STATES, 0, &from->states);
    for (uint32_t depth = 0; error == 0 && depth < from->depth; depth++)
        error = add_lane(level, place, from->track, PROBITY_TIMELINE_CALLS, depth,
                         &from->calls[depth]);
    return error;
}

static void clear(struct level *level)
{
    for (size_t i = 0; i < level->thread_count; i++) {
        struct probity_timeline_thread *thread = level->threads[i];
        if (thread == NULL)
            continue;
        thread->stretches.count = thread->marks.count = thread->blocks.count = 0;
        thread->states.count = 0;
        for (uint32_t depth = 0; depth < thread->depth; depth++)
            thread->calls[depth].count = 0;
    }
    level->spans = 0;
}

static int write_level(struct probity_pyramid *pyramid, unsigned index)
{
    struct level *level = &pyramid->levels[index];
    const struct probity_pyramid_tile tile = {index, level->number, level->threads,
                                              level->thread_count, level->spans};

    return level->spans > 0 ? pyramid->write(pyramid->context, &tile) : 0;
}

static int add_all(struct level *above, const struct level *level)
{
    int error = 0;

    above->number = level->number / 4;
    for (size_t i = 0; error == 0 && i < level->thread_count; i++)
        error = level->threads[i] != NULL ? add_thread(above, i, level->threads[i]) : 0;
    return error;
}

/* Writes the tile of a level, and adds it to the level above. If that level has an earlier tile,
 * that tile is complete and is passed up first. The level is then ready for another tile. */
static int pass_up(struct probity_pyramid *pyramid, unsigned index)
{
    struct level *level = &pyramid->levels[index], *above = level + 1;
    int has_above = index + 1 < pyramid->grid.levels && level->spans > 0;
    int error = write_level(pyramid, index);

    if (error == 0 && has_above && above->spans > 0 && above->number != level->number / 4)
        error = pass_up(pyramid, index + 1);
    if (error == 0 && has_above)
        error = add_all(above, level);
    clear(level);
    return error;
}

/* ---- Events ------------------------------------------------------------------------------------
 */

static uint64_t end_of(const struct probity_pyramid *pyramid)
{
    return pyramid->grid.from_ns +
           (pyramid->levels[0].number + UINT64_C(1)) * pyramid->grid.tile_ns;
}

static int add_late(struct probity_pyramid *pyramid, size_t place,
                    enum probity_timeline_track track, enum probity_timeline_kind kind,
                    uint32_t depth, const struct probity_timeline_span *span)
{
    struct level *late = &pyramid->levels[pyramid->grid.levels];

    if (late->spans < PROBITY_PYRAMID_LATE_MAX)
        return add(late, place, track, kind, depth, span);
    pyramid->lost += span->count;
    return 0;
}

static int take(void *context, const struct probity_timeline_thread *thread, size_t place,
                enum probity_timeline_kind kind, uint32_t depth,
                const struct probity_timeline_span *span)
{
    struct probity_pyramid *pyramid = context;

    if (span->count == 1 && span->length_ns >= pyramid->grid.longest_ns)
        return 0;
    if (span->start_ns < end_of(pyramid) - pyramid->grid.tile_ns)
        return add_late(pyramid, place, thread->track, kind, depth, span);
    return add(&pyramid->levels[0], place, thread->track, kind, depth, span);
}

/* Completes the tile of level 0 and begins the next one. is_last: takes everything that is left. */
static int next_tile(struct probity_pyramid *pyramid, int is_last, size_t *ret_left)
{
    int error = probity_timeline_cut(pyramid->timeline, is_last ? UINT64_MAX : end_of(pyramid),
                                     take, pyramid, ret_left);

    if (error == 0)
        error = pass_up(pyramid, 0);
    pyramid->levels[0].number++;
    return error;
}

/* Visits only tiles that may have spans. */
static int advance(struct probity_pyramid *pyramid, uint64_t wall_ns)
{
    const struct probity_pyramid_grid *grid = &pyramid->grid;
    struct level *level = &pyramid->levels[0];
    size_t left = 1;
    int error = 0;

    while (error == 0 && left > 0 && wall_ns >= pyramid->complete_ns &&
           level->number + 1 < grid->tiles) {
        error = next_tile(pyramid, 0, &left);
        pyramid->complete_ns = end_of(pyramid) + grid->longest_ns;
    }
    if (wall_ns >= pyramid->complete_ns && level->number + 1 < grid->tiles) {
        uint64_t number = (wall_ns - grid->longest_ns - grid->from_ns) / grid->tile_ns;
        level->number = number < grid->tiles ? (uint32_t)number : grid->tiles - 1;
        pyramid->complete_ns = end_of(pyramid) + grid->longest_ns;
    }
    return error;
}

int probity_pyramid_put(struct probity_pyramid *pyramid, const struct probity_event *event)
{
    int error = 0;

    if (event->wall_ns >= pyramid->complete_ns)
        error = advance(pyramid, event->wall_ns);
    return error == 0 ? probity_timeline_put(pyramid->timeline, event) : error;
}

/* ---- The end -----------------------------------------------------------------------------------
 */

/* If two spans have the same start, the one without a length came first. */
static int compare_spans(const void *left, const void *right)
{
    const struct probity_timeline_span *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->length_ns != b->length_ns)
        return a->length_ns < b->length_ns ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

static void sort_lane(struct probity_timeline_lane *lane)
{
    if (lane->count > 1)
        qsort(lane->spans, lane->count, sizeof *lane->spans, compare_spans);
}

static int write_late(struct probity_pyramid *pyramid)
{
    struct level *late = &pyramid->levels[pyramid->grid.levels];

    for (size_t i = 0; i < late->thread_count; i++) {
        struct probity_timeline_thread *thread = late->threads[i];
        if (thread == NULL)
            continue;
        sort_lane(&thread->stretches);
        sort_lane(&thread->marks);
        sort_lane(&thread->blocks);
        sort_lane(&thread->states);
        for (uint32_t depth = 0; depth < thread->depth; depth++)
            sort_lane(&thread->calls[depth]);
    }
    return write_level(pyramid, pyramid->grid.levels);
}

int probity_pyramid_finish(struct probity_pyramid *pyramid)
{
    size_t left = 1;
    int error = probity_timeline_finish(pyramid->timeline);

    while (error == 0 && left > 0 && pyramid->levels[0].number + 1 < pyramid->grid.tiles)
        error = next_tile(pyramid, 0, &left);
    if (error == 0)
        error = next_tile(pyramid, 1, &left);
    for (unsigned i = 1; error == 0 && i < pyramid->grid.levels; i++)
        error = pass_up(pyramid, i);
    return error == 0 ? write_late(pyramid) : error;
}

uint64_t probity_pyramid_lost(const struct probity_pyramid *pyramid)
{
    return pyramid->lost;
}

int probity_pyramid_open(struct probity_timeline *again, const struct probity_pyramid_grid *grid,
                         probity_pyramid_write *write, void *context,
                         struct probity_pyramid **ret_pyramid)
{
    struct probity_pyramid *pyramid = calloc(1, sizeof *pyramid);

    if (pyramid == NULL)
        return PROBITY_ERROR_MEMORY;
    pyramid->timeline = again;
    pyramid->grid = *grid;
    pyramid->write = write;
    pyramid->context = context;
    for (unsigned i = 0; i < grid->levels; i++)
        pyramid->levels[i].unit_ns = grid->unit_ns << 2 * i;
    pyramid->levels[grid->levels].unit_ns = 1;
    pyramid->complete_ns = end_of(pyramid) + grid->longest_ns;
    *ret_pyramid = pyramid;
    return 0;
}

static void release_thread(struct probity_timeline_thread *thread)
{
    free(thread->stretches.spans);
    free(thread->marks.spans);
    free(thread->blocks.spans);
    free(thread->states.spans);
    for (uint32_t depth = 0; depth < thread->depth; depth++)
        free(thread->calls[depth].spans);
    free(thread->calls);
    free(thread);
}

void probity_pyramid_close(struct probity_pyramid *pyramid)
{
    for (size_t i = 0; i <= pyramid->grid.levels; i++) {
        struct level *level = &pyramid->levels[i];
        for (size_t j = 0; j < level->thread_count; j++) {
            if (level->threads[j] != NULL)
                release_thread(level->threads[j]);
        }
        free(level->threads);
    }
    free(pyramid);
}
