/* SPDX-License-Identifier: MIT
 *
 * compare_judge.c: tests each statistic of each row, adjusts for the number of tests, and decides
 * which changes are significant. Differences are ratios, that is, shifts of logarithms.
 */
#include <math.h>
#include <stdlib.h>

#include "answers/diff/compare_set.h"
#include "probity.h"

/* ---- One statistic -----------------------------------------------------------------------------
 */

/* The known values and their logarithms, where 0 is treated as one half. */
struct workspace {
    double *values[PROBITY_COMPARE_SIDES], *logs[PROBITY_COMPARE_SIDES];
    double reach;                 /* half the width of intervals */
    struct probity_demand demand; /* for significance, set once tests are counted */
};

static struct probity_samples take_samples(const struct probity_compare *compare,
                                           const struct workspace *space,
                                           struct probity_compare_result *result)
{
    for (int side = 0; side < PROBITY_COMPARE_SIDES; side++) {
        size_t count = 0;
        for (size_t i = 0; i < compare->side_counts[side]; i++) {
            double value = result->values[side][i];
            if (isnan(value))
                continue;
            space->values[side][count] = value;
            space->logs[side][count++] = log(value > 0.5 ? value : 0.5);
        }
        result->runs[side] = count;
    }
    return (struct probity_samples){space->values[0], space->values[1], result->runs[0],
                                    result->runs[1]};
}

static int measure(struct probity_compare *compare, const struct workspace *space,
                   struct probity_compare_result *result)
{
    struct probity_samples samples = take_samples(compare, space, result);
    struct probity_samples logs = {space->logs[0], space->logs[1], samples.first_count,
                                   samples.second_count};
    struct probity_rank_test test;
    struct probity_shift shift;

    result->ratio = NAN;
    result->p = result->p_adjusted = 1;
    for (int side = 0; side < PROBITY_COMPARE_SIDES; side++)
        result->median[side] = NAN;
    int error = 0;
    if (samples.first_count > 0 && samples.second_count > 0) {
        error = probity_rank_test(&compare->null, &samples, &test);
        if (error == 0)
            error = probity_shift_estimate(&compare->null, &logs, compare->options.confidence,
                                           &shift);
        if (error != 0)
            return error;
        result->p = test.p;
        result->is_tested = !test.is_constant;
        result->ratio = exp(shift.estimate);
        result->has_interval = shift.has_interval;
        result->low = shift.has_interval ? exp(shift.low) : NAN;
        result->high = shift.has_interval ? exp(shift.high) : NAN;
    }
    for (int side = 0; side < PROBITY_COMPARE_SIDES; side++) {
        if (result->runs[side] > 0)
            result->median[side] = probity_median(space->values[side], result->runs[side]);
    }
    return 0;
}

/* The spread is taken from the interval, if any, which is robust against a single outlier. */
static double spread_of(const struct probity_compare *compare, const struct workspace *space,
                        struct probity_compare_result *result)
{
    if (result->has_interval) {
        double runs = 1 / (double)result->runs[0] + 1 / (double)result->runs[1];
        return log(result->high / result->low) / 2 / (space->reach * sqrt(runs));
    }
    take_samples(compare, space, result);
    return probity_sparkline_within(&(struct probity_samples){
        space->logs[0], space->logs[1], result->runs[0], result->runs[1]});
}

static size_t runs_needed(const struct probity_compare *compare, const struct workspace *space,
                          struct probity_compare_result *result)
{
    double delta = log(1 + compare->options.tolerance_percent / 100);
    double found = fabs(log(result->ratio));
    size_t runs = result->runs[0] < result->runs[1] ? result->runs[0] : result->runs[1];
    size_t needed = probity_runs_needed(&space->demand, spread_of(compare, space, result),
                                        found > delta ? found : delta);

    return needed > runs ? needed : runs + 1;
}

static void judge(const struct probity_compare *compare, const struct workspace *space,
                  struct probity_compare_row *row, int statistic)
{
    struct probity_compare_result *result = &row->results[statistic];
    double error = 1 + probity_compare_error_of(row, statistic);
    double same = 1 + compare->options.tolerance_percent / 100;

    if (result->runs[0] == 0 || result->runs[1] == 0)
        result->verdict = result->runs[1] > 0 ? PROBITY_COMPARE_ADDED
                        : result->runs[0] > 0 ? PROBITY_COMPARE_GONE
                                              : PROBITY_COMPARE_UNKNOWN;
    else if (result->has_interval && result->high * error <= same &&
             result->low / error >= 1 / same)
        result->verdict = PROBITY_COMPARE_SAME;
    else if (result->is_tested && result->p_adjusted <= 1 - compare->options.confidence)
        result->verdict = result->ratio < 1 ? PROBITY_COMPARE_LESS : PROBITY_COMPARE_MORE;
    else if (error <= same)
        result->runs_needed = runs_needed(compare, space, result);
}

/* ---- All rows ----------------------------------------------------------------------------------
 */

/* A run that did not call the function has 0 calls and no times. If no run of the side called it,
 * the side has no values. */
static int complete_row(struct probity_compare *compare, struct probity_compare_row *row)
{
    int error = 0;

    for (int side = 0; side < PROBITY_COMPARE_SIDES; side++) {
        size_t runs = compare->side_counts[side];
        int is_there = row->results[PROBITY_COMPARE_CALLS].runs[side] > 0;
        for (int i = 0; error == 0 && i < PROBITY_COMPARE_STATISTICS; i++)
            error = probity_compare_reserve(&row->results[i], side, runs);
        double *calls = row->results[PROBITY_COMPARE_CALLS].values[side];
        for (size_t i = 0; error == 0 && is_there && i < runs; i++)
            calls[i] = isnan(calls[i]) ? 0 : calls[i];
    }
    return error;
}

static int measure_rows(struct probity_compare *compare, const struct workspace *space)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < compare->row_count; i++) {
        struct probity_compare_row *row = &compare->rows[i];
        double off = row->item.quantile_error;
        row->quantile_error = (1 + off) / (1 - off) - 1;
        error = complete_row(compare, row);
        for (int j = 0; error == 0 && j < PROBITY_COMPARE_STATISTICS; j++) {
            error = measure(compare, space, &row->results[j]);
            row->results[j].is_tested &= probity_compare_is_chosen(compare, row->item.kind, j);
            compare->tests += row->results[j].is_tested != 0;
        }
    }
    return error;
}

/* A row does not count as a test if no order of the runs could make it significant. */
static int adjust_rows(struct probity_compare *compare)
{
    double *p = calloc(compare->tests + 1, sizeof *p);
    size_t count = 0;

    if (p == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < compare->row_count * PROBITY_COMPARE_STATISTICS; i++) {
        const struct probity_compare_row *row = &compare->rows[i / PROBITY_COMPARE_STATISTICS];
        if (row->results[i % PROBITY_COMPARE_STATISTICS].is_tested)
            p[count++] = row->results[i % PROBITY_COMPARE_STATISTICS].p;
    }
    int error = probity_adjust_benjamini_hochberg(p, count);
    count = 0;
    for (size_t i = 0; error == 0 && i < compare->row_count * PROBITY_COMPARE_STATISTICS; i++) {
        struct probity_compare_row *row = &compare->rows[i / PROBITY_COMPARE_STATISTICS];
        if (row->results[i % PROBITY_COMPARE_STATISTICS].is_tested)
            row->results[i % PROBITY_COMPARE_STATISTICS].p_adjusted = p[count++];
    }
    free(p);
    return error;
}

/* Computes the p-value of the hypothesis that the change does not exceed the limit. Scaling by
 * whole percents keeps whole values whole, so that a value exactly at the limit is a tie. */
static int test_limit(struct probity_compare *compare, const struct workspace *space,
                      struct probity_compare_row *row, const struct probity_compare_limit *limit,
                      double *ret_p)
{
    struct probity_samples samples =
        take_samples(compare, space, &row->results[limit->statistic]);
    double margin = 1 + probity_compare_error_of(row, limit->statistic);
    struct probity_rank_test test;

    *ret_p = 1;
    if (samples.first_count == 0 || samples.second_count == 0)
        return 0;
    for (size_t i = 0; i < samples.first_count; i++)
        space->values[0][i] *= (100 + limit->percent) * (limit->is_below ? 1 : margin);
    for (size_t i = 0; i < samples.second_count; i++)
        space->values[1][i] *= 100 * (limit->is_below ? margin : 1);
    int error = probity_rank_test(&compare->null, &samples, &test);
    if (error == 0)
        *ret_p = limit->is_below ? test.p_less : test.p_greater;
    return error;
}

static int is_limited(const struct probity_compare_row *row,
                      const struct probity_compare_limit *limit)
{
    if (!probity_compare_exists(row->item.kind, limit->statistic))
        return 0;
    return (!limit->is_of_kind || limit->kind == row->item.kind) &&
           (limit->pattern == NULL || probity_compare_is_like(row, limit->pattern));
}

size_t probity_compare_limited(const struct probity_compare *compare, size_t limit)
{
    size_t count = 0;

    for (size_t i = 0; i < compare->row_count; i++)
        count += is_limited(&compare->rows[i], &compare->options.limits[limit]) != 0;
    return count;
}

/* Uses Holm's method, which bounds the probability of any false alarm among the rows, because a
 * violated limit may block a release. */
static int test_limits(struct probity_compare *compare, const struct workspace *space)
{
    size_t limits = compare->options.limit_count, all = limits * compare->row_count, count = 0;
    double *p = calloc(all + 1, sizeof *p);
    size_t *places = calloc(all + 1, sizeof *places);
    int error = p != NULL && places != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (size_t i = 0; error == 0 && i < all; i++) {
        const struct probity_compare_limit *limit = &compare->options.limits[i % limits];
        struct probity_compare_row *row = &compare->rows[i / limits];
        if (!is_limited(row, limit))
            continue;
        places[count] = i;
        error = test_limit(compare, space, row, limit, &p[count++]);
    }
    compare->limit_tests = count;
    if (error == 0)
        error = probity_adjust_holm(p, count);
    for (size_t i = 0; error == 0 && i < count; i++) {
        if (p[i] <= 1 - compare->options.confidence)
            compare->rows[places[i] / limits].exceeds |= UINT32_C(1) << places[i] % limits;
    }
    free(places);
    free(p);
    return error;
}

static void judge_rows(const struct probity_compare *compare, struct workspace *space)
{
    double level = 1 - compare->options.confidence;

    space->reach = probity_normal_reach(compare->options.confidence);
    space->demand = probity_demand_of(level / (double)(compare->tests > 0 ? compare->tests : 1));
    for (size_t i = 0; i < compare->row_count * PROBITY_COMPARE_STATISTICS; i++)
        judge(compare, space, &compare->rows[i / PROBITY_COMPARE_STATISTICS],
              (int)(i % PROBITY_COMPARE_STATISTICS));
}

int probity_compare_finish(struct probity_compare *compare)
{
    struct workspace space;
    size_t runs = compare->side_counts[0] + compare->side_counts[1];
    double *doubles = calloc(2 * (runs + 1), sizeof *doubles);

    if (doubles == NULL)
        return PROBITY_ERROR_MEMORY;
    space.values[0] = doubles;
    space.values[1] = space.values[0] + compare->side_counts[0];
    space.logs[0] = space.values[1] + compare->side_counts[1];
    space.logs[1] = space.logs[0] + compare->side_counts[0];
    int error = probity_compare_collect(compare);
    if (error == 0)
        error = measure_rows(compare, &space);
    if (error == 0)
        error = adjust_rows(compare);
    if (error == 0)
        judge_rows(compare, &space);
    if (error == 0 && compare->options.limit_count > 0)
        error = test_limits(compare, &space);
    free(doubles);
    return error;
}
