/* SPDX-License-Identifier: MIT
 *
 * timeline_select.c: selects the intervals for which a timeline uses its remaining spans: the first
 * and last records, the surroundings of the slowest calls of each function, the busiest parts, and
 * many places in between, so that some detail is always nearby. Like merged spans, intervals
 * consist of whole units of time.
 */
#include <stdlib.h>

#include "answers/timeline/timeline_internal.h"
#include "base/array_grow.h"
#include "probity.h"

enum {
    ENDS_PART = 16,   /* part of the spans left, for each end */
    SLOW_PART = 64,   /* for one slow call */
    BUSIEST = 24,     /* number of busiest units, */
    BUSIEST_NEAR = 2, /* with this many neighbors on each side */
    PLACES = 48       /* number of places spread over the whole */
};

/* A unit in which spans were merged. */
struct cell {
    uint64_t number; /* unit since 1970 */
    uint32_t cost;   /* additional spans needed to merge nothing */
    int is_taken;
};

struct choice {
    uint64_t unit_ns;
    struct cell *cells; /* in time order */
    size_t count, capacity;
    uint64_t left; /* number of spans */
};

/* ---- Units -------------------------------------------------------------------------------------
 */

static int add_cell(struct choice *choice, const struct probity_timeline_span *span)
{
    void *cells =
        probity_array_room(choice->cells, sizeof *choice->cells, choice->count, &choice->capacity);
    if (cells == NULL)
        return PROBITY_ERROR_MEMORY;
    choice->cells = cells;
    uint64_t cost = span->count - 1;
    choice->cells[choice->count++] = (struct cell){
        span->start_ns / choice->unit_ns, cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX, 0};
    return 0;
}

static int add_lane(struct choice *choice, const struct probity_timeline_lane *lane)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < lane->count; i++) {
        if (lane->spans[i].count > 1)
            error = add_cell(choice, &lane->spans[i]);
    }
    return error;
}

static int compare_cells(const void *left, const void *right)
{
    const struct cell *a = left, *b = right;

    return (a->number > b->number) - (a->number < b->number);
}

/* Makes a cell for each unit, over all threads and depths. */
static int collect(struct choice *choice, const struct probity_timeline *timeline)
{
    size_t kept = 0;
    int error = 0;

    for (size_t i = 0; error == 0 && i < timeline->thread_count; i++) {
        const struct probity_timeline_thread *thread = timeline->threads[i];
        error = add_lane(choice, &thread->stretches);
        if (error == 0)
            error = add_lane(choice, &thread->marks);
        if (error == 0)
            error = add_lane(choice, &thread->blocks);
        if (error == 0)
            error = add_lane(choice, &thread->states);
        for (uint32_t depth = 0; error == 0 && depth < thread->depth; depth++)
            error = add_lane(choice, &thread->calls[depth]);
    }
    if (error != 0 || choice->count == 0)
        return error;
    qsort(choice->cells, choice->count, sizeof *choice->cells, compare_cells);
    for (size_t i = 1; i < choice->count; i++) {
        struct cell *last = &choice->cells[kept], *cell = &choice->cells[i];
        uint64_t cost = (uint64_t)last->cost + cell->cost;
        if (last->number != cell->number)
            choice->cells[++kept] = *cell;
        else
            last->cost = cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
    }
    choice->count = kept + 1;
    return 0;
}

/* Returns the index of the first cell at or after a time. */
static size_t cell_at(const struct choice *choice, uint64_t wall_ns)
{
    uint64_t number = wall_ns / choice->unit_ns;
    size_t low = 0, high = choice->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (choice->cells[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- Selection ----------------------------------------------------------------------------------
 */

/* Takes cells from `first` on, up to the given cost, but at least one if it fits in a quarter of
 * what is left. */
static void take(struct choice *choice, size_t first, size_t end, uint64_t cost_max)
{
    uint64_t cost = 0;

    for (size_t i = first; i < end && i < choice->count; i++) {
        struct cell *cell = &choice->cells[i];
        cost += cell->cost;
        if (cost > cost_max && (i > first || cost > choice->left / 4))
            return;
        if (cell->is_taken)
            continue;
        if (cell->cost > choice->left)
            return;
        cell->is_taken = 1;
        choice->left -= cell->cost;
    }
}

static void take_ends(struct choice *choice)
{
    uint64_t cost = 0, part = choice->left / ENDS_PART;
    size_t first = choice->count;

    while (first > 0 && cost + choice->cells[first - 1].cost <= part)
        cost += choice->cells[--first].cost;
    take(choice, 0, choice->count, part);
    take(choice, first, choice->count, part);
}

static int compare_slow(const void *left, const void *right)
{
    const struct probity_timeline_slow *const *a = left, *const *b = right;

    if ((*a)->span.length_ns != (*b)->span.length_ns)
        return (*a)->span.length_ns > (*b)->span.length_ns ? -1 : 1;
    return ((*a)->span.start_ns > (*b)->span.start_ns) -
           ((*a)->span.start_ns < (*b)->span.start_ns);
}

/* Takes the slowest call of each function, then the second slowest of each, and so on, while more
 * than `rest` spans are left.
 */
static int take_slow(struct choice *choice, const struct timeline_names *names, uint64_t rest)
{
    const struct probity_timeline_slow **slow = malloc((names->count + 1) * sizeof *slow);
    uint64_t part = choice->left / SLOW_PART;

    if (slow == NULL)
        return PROBITY_ERROR_MEMORY;
    for (unsigned place = 0; place < PROBITY_TIMELINE_SLOWEST; place++) {
        size_t count = 0;
        for (size_t i = 0; i < names->count; i++) {
            if (place < names->items[i]->slow_count)
                slow[count++] = &names->items[i]->slow[place];
        }
        qsort(slow, count, sizeof *slow, compare_slow);
        for (size_t i = 0; i < count && choice->left > rest; i++) {
            const struct probity_timeline_span *span = &slow[i]->span;
            size_t end = cell_at(choice, span->start_ns + span->length_ns + choice->unit_ns);
            take(choice, cell_at(choice, span->start_ns), end, part);
        }
    }
    free(slow);
    return 0;
}

/* Takes the most expensive remaining cell, again and again. */
static void take_busiest(struct choice *choice)
{
    uint64_t part = choice->left / BUSIEST / 2;

    for (int round = 0; round < BUSIEST; round++) {
        size_t most = choice->count;
        for (size_t i = 0; i < choice->count; i++) {
            const struct cell *cell = &choice->cells[i];
            if (!cell->is_taken && cell->cost <= part &&
                (most == choice->count || cell->cost > choice->cells[most].cost))
                most = i;
        }
        if (most == choice->count)
            return;
        take(choice, most > BUSIEST_NEAR ? most - BUSIEST_NEAR : 0, most + BUSIEST_NEAR + 1, part);
    }
}

static void take_places(struct choice *choice, const struct probity_timeline_facts *facts)
{
    uint64_t step_ns = (facts->last_ns - facts->first_ns) / PLACES;

    for (uint64_t place = 0; place < PLACES; place++)
        take(choice, cell_at(choice, facts->first_ns + place * step_ns + step_ns / 2),
             choice->count, choice->left / (PLACES - place));
}

/* ---- Intervals ---------------------------------------------------------------------------------
 */

/* Units in which nothing was merged do not end an interval. */
static struct probity_timeline_stretch *stretches_of(const struct choice *choice, size_t *ret_count)
{
    struct probity_timeline_stretch *stretches = NULL;
    size_t count = 0;

    for (int is_counted = 0; is_counted < 2; is_counted++) {
        if (is_counted && (stretches = calloc(count + 1, sizeof *stretches)) == NULL)
            return NULL;
        count = 0;
        for (size_t i = 0; i < choice->count; i++) {
            const struct cell *cell = &choice->cells[i];
            int is_new = cell->is_taken && (i == 0 || !choice->cells[i - 1].is_taken);
            count += (size_t)is_new;
            if (is_counted && is_new)
                stretches[count - 1].from_ns = cell->number * choice->unit_ns;
            if (is_counted && cell->is_taken)
                stretches[count - 1].to_ns = (cell->number + 1) * choice->unit_ns;
        }
    }
    *ret_count = count;
    return stretches;
}

int probity_timeline_select(const struct probity_timeline *timeline, size_t spans_more,
                            struct probity_timeline_stretch **ret_stretches, size_t *ret_count)
{
    struct choice choice = {.unit_ns = timeline->facts.unit_ns, .left = spans_more};
    int error = collect(&choice, timeline);

    if (error == 0) {
        take_ends(&choice);
        error = take_slow(&choice, &timeline->names, spans_more / 2);
        take_busiest(&choice);
        take_places(&choice, &timeline->facts);
    }
    struct probity_timeline_stretch *stretches =
        error == 0 ? stretches_of(&choice, ret_count) : NULL;
    free(choice.cells);
    if (stretches == NULL)
        return PROBITY_ERROR_MEMORY;
    *ret_stretches = stretches;
    return 0;
}
