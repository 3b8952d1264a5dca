/* SPDX-License-Identifier: MIT
 *
 * timeline_pyramid.h: the spans of a trace at several units of time, in tiles of time, made in one
 * further pass (doc/tiles.md). Each level has four times the unit of the level below it, and tiles
 * that are four times as long. Memory: a few tiles of each level, independent of the length of the
 * trace.
 *
 *     level 1  [::::::::::::::][::::::::::::::]   a tile each
 *     level 0  [::][::][::][::][::][::][::][::]
 */
#ifndef PROBITY_ANSWERS_TIMELINE_TIMELINE_PYRAMID_H
#define PROBITY_ANSWERS_TIMELINE_TIMELINE_PYRAMID_H

#include "answers/timeline/timeline.h"

enum {
    PROBITY_PYRAMID_LEVELS_MAX = 5,
    PROBITY_PYRAMID_TILES_MAX = 4000, /* of all levels together */
    PROBITY_PYRAMID_LATE_MAX = 50000  /* spans outside the tiles */
};

/* The grid of time. Tile N of level L is [from_ns + N * t, from_ns + (N + 1) * t), with
 * t = tile_ns << 2 * L. */
struct probity_pyramid_grid {
    unsigned levels;
    uint64_t unit_ns, tile_ns; /* of level 0; powers of two */
    uint64_t longest_ns;       /* spans of at least this length are in no tile */
    uint64_t from_ns;          /* CLOCK_REALTIME */
    uint32_t tiles;            /* of level 0 */
};

/* Plans the levels for a timeline, after finish and before it is refined: all levels that are finer
 * than the timeline, with an estimated total of at most spans_max spans. If there is no room, or
 * nothing was merged, there are no levels. */
struct probity_pyramid_grid probity_pyramid_plan(const struct probity_timeline *timeline,
                                                 uint64_t spans_max);

/* Returns the number of tiles of a level. */
uint32_t probity_pyramid_tiles(const struct probity_pyramid_grid *grid, unsigned level);

/* The spans that begin in a tile, in lanes without gaps. Threads without spans are NULL. Level
 * `levels` has the late spans, which arrived after their tile was complete. */
struct probity_pyramid_tile {
    unsigned level;
    uint32_t number;
    struct probity_timeline_thread *const *threads;
    size_t thread_count, spans;
};

/* Takes a tile that has spans. Returns 0 or an error. */
typedef int probity_pyramid_write(void *context, const struct probity_pyramid_tile *tile);

struct probity_pyramid;

/* again: a timeline opened by probity_timeline_repeat() with the unit of the grid, which still
 * belongs to the caller. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_pyramid_open(struct probity_timeline *again, const struct probity_pyramid_grid *grid,
                         probity_pyramid_write *write, void *context,
                         struct probity_pyramid **ret_pyramid);

/* Takes the next event in time order. Like the next function, returns 0 or an error. */
int probity_pyramid_put(struct probity_pyramid *pyramid, const struct probity_event *event);

/* Writes what is left, then the late spans. */
int probity_pyramid_finish(struct probity_pyramid *pyramid);

/* Returns the number of spans that are in no tile, because too many were late. */
uint64_t probity_pyramid_lost(const struct probity_pyramid *pyramid);

void probity_pyramid_close(struct probity_pyramid *pyramid);

#endif
