/* SPDX-License-Identifier: MIT
 *
 * hist.c: chooses a scale that fits the number of rows, and distributes counts over the rows.
 */
#include "answers/hist/hist.h"

#include <stdlib.h>

#include "probity.h"

const unsigned probity_hist_marks[PROBITY_HIST_MARKS] = {500, 900, 990};

/* On a log scale, rows are steps (histogram.h); on a linear one, they are 2^bits wide. */
struct scale {
    int is_linear;
    unsigned bits;
};

static uint64_t row_of(struct scale scale, uint64_t value)
{
    return scale.is_linear ? value >> scale.bits : probity_histogram_step(scale.bits, value);
}

/* Returns the lower bound of a row, or UINT64_MAX for the row after the last. */
static uint64_t least_of(struct scale scale, uint64_t row)
{
    if (scale.is_linear)
        return row > UINT64_MAX >> scale.bits ? UINT64_MAX : row << scale.bits;
    return probity_histogram_step_least(scale.bits, row);
}

static size_t rows_of(struct scale scale, const struct probity_hist_values *values)
{
    return row_of(scale, values->max) - row_of(scale, values->min) + 1;
}

/* Rows are never narrower than the buckets of the counts. */
static struct scale scale_of(const struct probity_hist_values *values, int is_linear,
                             size_t rows_max)
{
    struct scale scale = {is_linear, PROBITY_HISTOGRAM_BITS};

    if (is_linear) {
        unsigned page = probity_histogram_page(values->max);
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
    struct probity_histogram_bucket bucket;
    size_t at = 0;

    hist->row_count = rows_of(scale, values);
    hist->rows = calloc(hist->row_count, sizeof *hist->rows);
    if (hist->rows == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < hist->row_count; i++) {
        hist->rows[i].least = least_of(scale, first + i);
        hist->rows[i].end = least_of(scale, first + i + 1);
    }
    while (probity_histogram_next(values->fine, &at, &bucket)) {
        uint64_t row = row_of(scale, bucket.least);
        row = row > first ? row - first : 0;
        row = row < hist->row_count ? row : hist->row_count - 1;
        hist->rows[row].count += bucket.count;
        hist->most = hist->rows[row].count > hist->most ? hist->rows[row].count : hist->most;
    }
    return 0;
}

int probity_hist_make(const struct probity_hist_values *given, int is_linear, size_t rows_max,
                      struct probity_hist *ret_hist)
{
    struct probity_hist_values values = *given;
    int error = 0;

    /* If max were less than min, the number of rows would wrap. */
    if (values.max < values.min)
        values.max = values.min;
    struct probity_hist hist = {.count = values.fine->count, .min = values.min, .max = values.max};
    if (hist.count == 0)
        hist.min = hist.max = 0;
    else
        error = make_rows(&values, scale_of(&values, is_linear, rows_max), &hist);
    hist.mean = hist.count > 0 ? values.sum / hist.count : 0;
    for (int i = 0; i < PROBITY_HIST_MARKS; i++)
        hist.marks[i] =
            probity_histogram_quantile(values.fine, probity_hist_marks[i], values.min, values.max);
    if (error == 0)
        *ret_hist = hist;
    return error;
}

void probity_hist_release(struct probity_hist *hist)
{
    free(hist->rows);
    *hist = (struct probity_hist){.count = 0};
}
