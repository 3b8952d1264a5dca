/* SPDX-License-Identifier: MIT
 *
 * timeline_grid.c: turns spans into columns. The self time of a depth is its busy time minus that
 * of the next deeper one. A column shows the name with the most self time at any depth.
 */
#include "answers/timeline/timeline_grid.h"

#include <stdlib.h>
#include <string.h>

#include "probity.h"

struct grid {
    uint64_t first_ns;
    double column_ns;
    size_t columns;
};

/* Sums are exact for up to this many names per column. Beyond that, the names with the least time
 * are merged. */
enum { LEADS = 16 };

struct lead {
    double busy_ns;
    uint32_t name;
};

/* Sums of one lane in a column. */
struct sum {
    double busy_ns; /* of all names; for marks: their number */
    struct lead leads[LEADS];
    uint32_t count;
};

static void add_to(struct sum *sum, uint32_t name, double busy_ns)
{
    struct lead *least = &sum->leads[0];

    sum->busy_ns += busy_ns;
    for (uint32_t i = 0; i < sum->count; i++) {
        if (sum->leads[i].name == name) {
            sum->leads[i].busy_ns += busy_ns;
            return;
        }
        if (sum->leads[i].busy_ns < least->busy_ns)
            least = &sum->leads[i];
    }
    if (sum->count < LEADS) {
        sum->leads[sum->count++] = (struct lead){busy_ns, name};
    } else {
        least->name = name;
        least->busy_ns += busy_ns;
    }
}

/* Returns the first one if several have the most. */
static uint32_t name_of_most(const struct sum *sum)
{
    const struct lead *most = &sum->leads[0];

    for (uint32_t i = 1; i < sum->count; i++) {
        if (sum->leads[i].busy_ns > most->busy_ns)
            most = &sum->leads[i];
    }
    return sum->count > 0 ? most->name : PROBITY_TIMELINE_NOTHING;
}

static size_t column_of(const struct grid *grid, uint64_t ns)
{
    double at = ns > grid->first_ns ? (double)(ns - grid->first_ns) / grid->column_ns : 0;

    return at < (double)grid->columns ? (size_t)at : grid->columns - 1;
}

/* Spreads `amount` over the time of a span. */
static void spread(const struct grid *grid, struct sum *sums,
                   const struct probity_timeline_span *span, double amount)
{
    size_t first = column_of(grid, span->start_ns);
    size_t last = column_of(grid, span->start_ns + span->length_ns);
    double from = span->start_ns > grid->first_ns ? (double)(span->start_ns - grid->first_ns) : 0;
    double to = from + (double)span->length_ns;

    if (first == last || span->length_ns == 0) {
        add_to(&sums[first], span->name, amount);
        return;
    }
    for (size_t i = first; i <= last; i++) {
        double start = (double)i * grid->column_ns, end = start + grid->column_ns;
        double part = (to < end ? to : end) - (from > start ? from : start);
        if (part > 0)
            add_to(&sums[i], span->name, amount * part / (double)span->length_ns);
    }
}

static void spread_lane(const struct grid *grid, struct sum *sums,
                        const struct probity_timeline_lane *lane, int is_marks)
{
    for (size_t i = 0; i < grid->columns; i++) {
        sums[i].busy_ns = 0;
        sums[i].count = 0;
    }
    for (size_t i = 0; i < lane->count; i++) {
        const struct probity_timeline_span *span = &lane->spans[i];
        spread(grid, sums, span, is_marks ? (double)span->count : (double)span->busy_ns);
    }
}

/* Adds calls from the innermost depth outward. best_ns: for each column, the largest self time of
 * any depth. */
static void spread_calls(const struct grid *grid, const struct probity_timeline_thread *thread,
                         struct sum *sums, double *best_ns, struct probity_timeline_cell *cells)
{
    for (uint32_t depth = thread->depth; depth > 0; depth--) {
        spread_lane(grid, sums, &thread->calls[depth - 1], 0);
        for (size_t i = 0; i < grid->columns; i++) {
            double self_ns = sums[i].busy_ns - cells[i].inside_ns;
            if (sums[i].count > 0 && self_ns > best_ns[i]) {
                best_ns[i] = self_ns;
                cells[i].function = name_of_most(&sums[i]);
            }
            cells[i].inside_ns = sums[i].busy_ns;
        }
    }
}

static void spread_others(const struct grid *grid, const struct probity_timeline_thread *thread,
                          struct sum *sums, struct probity_timeline_cell *cells)
{
    const struct probity_timeline_span there = {
        .start_ns = thread->first_ns,
        .length_ns = thread->last_ns - thread->first_ns,
        .busy_ns = thread->last_ns - thread->first_ns,
        .count = 1};
    struct probity_timeline_span copy = there;
    const struct probity_timeline_lane lane = {.spans = &copy, .count = 1, .capacity = 1};

    spread_lane(grid, sums, &lane, 0);
    for (size_t i = 0; i < grid->columns; i++)
        cells[i].there_ns = sums[i].busy_ns;
    spread_lane(grid, sums, &thread->stretches, 0);
    for (size_t i = 0; i < grid->columns; i++)
        cells[i].off_ns = sums[i].busy_ns;
    spread_lane(grid, sums, &thread->marks, 1);
    for (size_t i = 0; i < grid->columns; i++) {
        cells[i].marks = sums[i].busy_ns;
        cells[i].mark = name_of_most(&sums[i]);
    }
}

double probity_timeline_column_ns(const struct probity_timeline *timeline, size_t columns)
{
    const struct probity_timeline_facts facts = probity_timeline_facts(timeline);
    double column_ns = (double)(facts.last_ns - facts.first_ns) / (double)columns;

    return column_ns > 1 ? column_ns : 1;
}

int probity_timeline_grid(const struct probity_timeline *timeline,
                          const struct probity_timeline_thread *thread, size_t columns,
                          struct probity_timeline_cell *ret_cells)
{
    const struct probity_timeline_facts facts = probity_timeline_facts(timeline);
    const struct grid grid = {facts.first_ns, probity_timeline_column_ns(timeline, columns),
                              columns};
    struct sum *sums = malloc(columns * sizeof *sums);
    double *best_ns = calloc(columns, sizeof *best_ns);
    int error = sums == NULL || best_ns == NULL ? PROBITY_ERROR_MEMORY : 0;

    for (size_t i = 0; i < columns; i++)
        ret_cells[i] = (struct probity_timeline_cell){0, 0, 0, 0, PROBITY_TIMELINE_NOTHING,
                                                      PROBITY_TIMELINE_NOTHING};
    if (error == 0 && thread->first_ns > 0) {
        spread_others(&grid, thread, sums, ret_cells);
        spread_calls(&grid, thread, sums, best_ns, ret_cells);
    }
    free(sums);
    free(best_ns);
    return error;
}
