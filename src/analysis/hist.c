/* SPDX-License-Identifier: MIT
 *
 * hist.c: the scale that fits the rows, and counts to rows.
 */
#include "analysis/hist.h"

#include <stdlib.h>

#include "probity.h"

const unsigned probity_hist_marks[PROBITY_HIST_MARKS] = {500, 900, 990};

/* Log: rows are steps (fine.h). Linear: rows are 2^bits wide. */
struct scale {
    int is_linear;
    unsigned bits;
};

static uint64_t row_of(struct scale scale, uint64_t value)
{
    return scale.is_linear ? value >> scale.bits : probity_fine_step(scale.bits, value);
}

/* Of the row behind the last one: UINT64_MAX. */
static uint64_t least_of(struct scale scale, uint64_t row)
{
    if (scale.is_linear)
        return row > UINT64_MAX >> scale.bits ? UINT64_MAX : row << scale.bits;
    return probity_fine_step_least(scale.bits, row);
}

static size_t rows_of(struct scale scale, const struct probity_hist_values *values)
{
    return row_of(scale, values->max) - row_of(scale, values->min) + 1;
}

/* Rows are never finer than what was counted. */
static struct scale scale_of(const struct probity_hist_values *values, int is_linear,
                             size_t rows_max)
{
    struct scale scale = {is_linear, PROBITY_FINE_BITS};

    if (is_linear) {
        unsigned page = probity_fine_page(values->max);
        scale.bits = page > 0 ? page - 1 : 0;
        while (rows_of(scale, values) > rows_max && scale.bits < 63)
            scale.bits++;
    } else {
        while (rows_of(scale, values) > rows_max && scale.bits > 0)
            scale.bits--;
    }
    return scale;
}

static int make_rows(const struct probity_hist_values *values, struct scale scale,
                     struct probity_hist *hist)
{
    uint64_t first = row_of(scale, values->min);
    struct probity_fine_bucket bucket;
    size_t at = 0;

    hist->row_count = rows_of(scale, values);
    hist->rows = calloc(hist->row_count, sizeof *hist->rows);
    if (hist->rows == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < hist->row_count; i++) {
        hist->rows[i].least = least_of(scale, first + i);
        hist->rows[i].end = least_of(scale, first + i + 1);
    }
    while (probity_fine_next(values->fine, &at, &bucket)) {
        uint64_t row = row_of(scale, bucket.least) - first;
        row = row < hist->row_count ? row : 0;
        hist->rows[row].count += bucket.count;
        hist->most = hist->rows[row].count > hist->most ? hist->rows[row].count : hist->most;
    }
    return 0;
}

int probity_hist_make(const struct probity_hist_values *values, int is_linear, size_t rows_max,
                      struct probity_hist *ret_hist)
{
    struct probity_hist hist = {.count = values->fine->count, .min = values->min,
                                .max = values->max};
    int error = 0;

    if (hist.count == 0)
        hist.min = hist.max = 0;
    else
        error = make_rows(values, scale_of(values, is_linear, rows_max), &hist);
    hist.mean = hist.count > 0 ? values->sum / hist.count : 0;
    for (int i = 0; i < PROBITY_HIST_MARKS; i++)
        hist.marks[i] =
            probity_fine_quantile(values->fine, probity_hist_marks[i], values->min, values->max);
    if (error == 0)
        *ret_hist = hist;
    return error;
}

void probity_hist_release(struct probity_hist *hist)
{
    free(hist->rows);
    *hist = (struct probity_hist){.count = 0};
}
