/* SPDX-License-Identifier: MIT
 *
 * statistics.c: computes rank sums, and the test and the shift based on them. All ranks are
 * doubled, so that midranks of ties are integers and sums of ranks can be array indices.
 */
#include "analysis/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "probity.h"

/* Above this, the normal approximation is equally good, and the exact distribution takes too
 * long. */
enum { EXACT_PRODUCT_MAX = 400 };

/* ---- Ranks -------------------------------------------------------------------------------------
 */

struct ranked {
    double value;
    int is_second;
};

static int compare_ranked(const void *left, const void *right)
{
    double a = ((const struct ranked *)left)->value, b = ((const struct ranked *)right)->value;

    return a < b ? -1 : a > b;
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

struct ranks {
    unsigned *doubled;      /* doubled ranks of all values, ascending */
    size_t count;
    size_t first, second;   /* doubled rank sums */
    double ties;            /* sum of t^3 - t over groups of t equal values */
};

static struct ranked *merge(const struct probity_samples *samples)
{
    size_t count = samples->first_count + samples->second_count;
    struct ranked *all = calloc(count, sizeof *all);

    for (size_t i = 0; all != NULL && i < count; i++) {
        int is_second = i >= samples->first_count;
        all[i].value = is_second ? samples->second[i - samples->first_count] : samples->first[i];
        all[i].is_second = is_second;
    }
    if (all != NULL)
        qsort(all, count, sizeof *all, compare_ranked);
    return all;
}

/* Ranks equal values: the sorted values [start, end) share the mean of ranks start + 1 to end. */
static void rank_group(struct ranks *ranks, const struct ranked *all, size_t start, size_t end)
{
    double size = (double)(end - start);

    for (size_t i = start; i < end; i++) {
        ranks->doubled[i] = (unsigned)(start + 1 + end);
        *(all[i].is_second ? &ranks->second : &ranks->first) += start + 1 + end;
    }
    ranks->ties += size * size * size - size;
}

static int rank_values(const struct probity_samples *samples, struct ranks *ret_ranks)
{
    struct ranks ranks = {.count = samples->first_count + samples->second_count};
    struct ranked *all = merge(samples);

    ranks.doubled = calloc(ranks.count, sizeof *ranks.doubled);
    if (all == NULL || ranks.doubled == NULL) {
        free(all);
        free(ranks.doubled);
        return PROBITY_ERROR_MEMORY;
    }
    for (size_t start = 0, end; start < ranks.count; start = end) {
        for (end = start + 1; end < ranks.count && !(all[end].value > all[start].value); end++)
            ;
        rank_group(&ranks, all, start, end);
    }
    free(all);
    *ret_ranks = ranks;
    return 0;
}

/* Counts, for each sum up to *ret_sums - 1, the choices of `size` ranks that have it. The counts
 * stay below 2^53 for all sizes that are computed exactly. Returns NULL if out of memory. */
static double *count_sums(const unsigned *ranks, size_t count, size_t size, size_t *ret_sums)
{
    size_t sums = 1;

    for (size_t i = count - size; i < count; i++)
        sums += ranks[i];
    double *table = calloc((size + 1) * sums, sizeof *table);
    if (table == NULL)
        return NULL;
    table[0] = 1;
    /* Descending, so that no rank is chosen twice. No sum exceeds that of all ranks so far, and
     * with fewer than `least` ranks chosen, the remaining ones would not suffice. */
    for (size_t i = 0, reach = 0; i < count; reach += ranks[i++]) {
        size_t least = size + i + 1 > count ? size + i + 1 - count : 1;
        for (size_t chosen = i < size ? i + 1 : size; chosen >= least; chosen--) {
            const double *from = table + (chosen - 1) * sums;
            double *to = table + chosen * sums + ranks[i];
            for (size_t sum = 0; sum <= reach && sum + ranks[i] < sums; sum++)
                to[sum] += from[sum];
        }
    }
    for (size_t sum = 0; sum < sums; sum++)
        table[sum] = table[size * sums + sum];
    *ret_sums = sums;
    return table;
}

static int is_exact(size_t first_count, size_t second_count)
{
    return first_count <= EXACT_PRODUCT_MAX && second_count <= EXACT_PRODUCT_MAX &&
           first_count * second_count <= EXACT_PRODUCT_MAX;
}

static int make_null(struct probity_rank_null *null, size_t first_count, size_t second_count)
{
    size_t count = first_count + second_count, sums, least, products = first_count * second_count;
    size_t size = first_count < second_count ? first_count : second_count;

    if (null->first_count == first_count && null->second_count == second_count)
        return 0;
    probity_rank_null_release(null);
    unsigned *ranks = calloc(count, sizeof *ranks);
    double *below = calloc(products + 1, sizeof *below), all = 0;
    for (size_t i = 0; ranks != NULL && i < count; i++)
        ranks[i] = 2 * (unsigned)(i + 1);
    double *counts = ranks != NULL ? count_sums(ranks, count, size, &sums) : NULL;
    free(ranks);
    if (counts == NULL || below == NULL) {
        free(counts);
        free(below);
        return PROBITY_ERROR_MEMORY;
    }
    least = size * (size + 1);
    for (size_t u = 0; u <= products; u++)
        below[u] = all += counts[least + 2 * u];
    for (size_t u = 0; u <= products; u++)
        below[u] /= all;
    free(counts);
    *null = (struct probity_rank_null){first_count, second_count, below};
    return 0;
}

void probity_rank_null_release(struct probity_rank_null *null)
{
    free(null->below);
    *null = (struct probity_rank_null){0};
}

/* ---- The test ----------------------------------------------------------------------------------
 */

static double normal_below(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

/* Tests by permutations; if there are ties, by the distribution of the actual ranks. */
static int test_permutations(const struct ranks *ranks, const struct probity_samples *samples,
                             struct probity_rank_test *test)
{
    int is_first = samples->first_count <= samples->second_count;
    size_t sums, found = is_first ? ranks->first : ranks->second;
    size_t size = is_first ? samples->first_count : samples->second_count;
    double *counts = count_sums(ranks->doubled, ranks->count, size, &sums);
    double all = 0, below = 0;

    if (counts == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t sum = 0; sum < sums; sum++) {
        all += counts[sum];
        below += sum <= found ? counts[sum] : 0;
    }
    double at_least = (all - below + counts[found]) / all;
    free(counts);
    test->p_greater = is_first ? below / all : at_least;
    test->p_less = is_first ? at_least : below / all;
    return 0;
}

static void test_normal(const struct ranks *ranks, const struct probity_samples *samples,
                        struct probity_rank_test *test)
{
    double first = (double)samples->first_count, second = (double)samples->second_count;
    double count = first + second, u = (double)ranks->second / 2 - second * (second + 1) / 2;
    double mean = first * second / 2;
    double deviation = sqrt(first * second / 12 *
                            (count + 1 - ranks->ties / (count * (count - 1))));

    test->p_greater = normal_below(-(u - 0.5 - mean) / deviation);
    test->p_less = normal_below((u + 0.5 - mean) / deviation);
}

static int test_exact(struct probity_rank_null *null, const struct ranks *ranks,
                      const struct probity_samples *samples, struct probity_rank_test *test)
{
    size_t first = samples->first_count, second = samples->second_count;

    if (ranks->ties > 0)
        return test_permutations(ranks, samples, test);
    int error = make_null(null, first, second);
    if (error != 0)
        return error;
    size_t u = ranks->second / 2 - second * (second + 1) / 2;
    test->p_less = null->below[u];
    test->p_greater = null->below[first * second - u];
    return 0;
}

int probity_rank_test(struct probity_rank_null *null, const struct probity_samples *samples,
                      struct probity_rank_test *ret_test)
{
    struct probity_rank_test test = {.p = 1, .p_greater = 1, .p_less = 1};
    struct ranks ranks;
    int error = rank_values(samples, &ranks);

    if (error != 0)
        return error;
    test.is_exact = is_exact(samples->first_count, samples->second_count);
    test.is_constant = ranks.doubled[0] == ranks.doubled[ranks.count - 1];
    if (!test.is_constant && test.is_exact)
        error = test_exact(null, &ranks, samples, &test);
    else if (!test.is_constant)
        test_normal(&ranks, samples, &test);
    free(ranks.doubled);
    if (error != 0)
        return error;
    double less = test.p_less < test.p_greater ? test.p_less : test.p_greater;
    test.p = less < 0.5 ? 2 * less : 1;
    *ret_test = test;
    return 0;
}

/* ---- The shift ---------------------------------------------------------------------------------
 */

double probity_normal_reach(double share)
{
    double low = 0, high = 40;

    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        *(erf(middle / sqrt(2)) < share ? &low : &high) = middle;
    }
    return high;
}

/* Returns the number of sorted differences outside the interval at each end, plus one; 0 if there
 * are too few for this confidence. */
static int rank_of_bound(struct probity_rank_null *null, const struct probity_samples *samples,
                         double confidence, size_t *ret_rank)
{
    size_t first = samples->first_count, second = samples->second_count, rank = 0;
    double products = (double)first * (double)second;

    if (!is_exact(first, second)) {
        double reach = probity_normal_reach(confidence);
        double deviation = sqrt(products * (double)(first + second + 1) / 12);
        double found = floor(products / 2 - reach * deviation);
        *ret_rank = found > 0 ? (size_t)found : 0;
        return 0;
    }
    int error = make_null(null, first, second);
    if (error != 0)
        return error;
    while (rank < first * second / 2 && 2 * null->below[rank] <= 1 - confidence)
        rank++;
    *ret_rank = rank;
    return 0;
}

int probity_shift_estimate(struct probity_rank_null *null, const struct probity_samples *samples,
                           double confidence, struct probity_shift *ret_shift)
{
    size_t first = samples->first_count, second = samples->second_count, rank = 0;
    double *differences = calloc(first * second, sizeof *differences);
    int error = differences != NULL ? rank_of_bound(null, samples, confidence, &rank)
                                    : PROBITY_ERROR_MEMORY;

    if (error != 0) {
        free(differences);
        return error;
    }
    for (size_t i = 0; i < first; i++) {
        for (size_t j = 0; j < second; j++)
            differences[i * second + j] = samples->second[j] - samples->first[i];
    }
    struct probity_shift shift = {.estimate = probity_median(differences, first * second)};
    if (rank > 0)
        shift = (struct probity_shift){shift.estimate, differences[rank - 1],
                                       differences[first * second - rank], 1};
    free(differences);
    *ret_shift = shift;
    return 0;
}

double probity_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 != 0 ? values[count / 2]
                          : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* ---- Many tests --------------------------------------------------------------------------------
 */

struct placed {
    double p;
    size_t place;
};

static int compare_placed(const void *left, const void *right)
{
    return compare_doubles(&((const struct placed *)left)->p, &((const struct placed *)right)->p);
}

static struct placed *sort_tests(const double *p, size_t count)
{
    struct placed *sorted = calloc(count + 1, sizeof *sorted);

    for (size_t i = 0; sorted != NULL && i < count; i++)
        sorted[i] = (struct placed){p[i], i};
    if (sorted != NULL)
        qsort(sorted, count, sizeof *sorted, compare_placed);
    return sorted;
}

int probity_adjust_benjamini_hochberg(double *p, size_t count)
{
    struct placed *sorted = sort_tests(p, count);
    double least = 1;

    if (sorted == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = count; i > 0; i--) {
        double adjusted = sorted[i - 1].p * (double)count / (double)i;
        least = adjusted < least ? adjusted : least;
        p[sorted[i - 1].place] = least;
    }
    free(sorted);
    return 0;
}

int probity_adjust_holm(double *p, size_t count)
{
    struct placed *sorted = sort_tests(p, count);
    double most = 0;

    if (sorted == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        double adjusted = sorted[i].p * (double)(count - i);
        most = adjusted > most ? adjusted : most;
        p[sorted[i].place] = most < 1 ? most : 1;
    }
    free(sorted);
    return 0;
}

/* ---- Runs --------------------------------------------------------------------------------------
 */

static double squares_within(const double *values, size_t count)
{
    double mean = 0, squares = 0;

    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return squares;
}

double probity_sparkline_within(const struct probity_samples *samples)
{
    size_t first = samples->first_count, second = samples->second_count;

    if (first + second < 3)
        return 0;
    return sqrt((squares_within(samples->first, first) + squares_within(samples->second, second)) /
                (double)(first + second - 2));
}

size_t probity_runs_least(double level)
{
    double p = 2;
    size_t runs = 0;

    /* Of the binomial(2 runs, runs) orders, two are the most extreme. */
    while (p > level && runs < PROBITY_RUNS_MAX) {
        runs++;
        p *= (double)runs / (2 * (2 * (double)runs - 1));
    }
    return runs;
}

struct probity_demand probity_demand_of(double level)
{
    return (struct probity_demand){probity_normal_reach(1 - level) + probity_normal_reach(0.8),
                                   probity_runs_least(level)};
}

size_t probity_runs_needed(const struct probity_demand *demand, double spread, double delta)
{
    /* With normally distributed values, the rank-sum test needs pi / 3 times the runs of a test of
     * means. */
    double reach = demand->reach;
    double runs = ceil(2 * acos(-1) / 3 * reach * reach * spread * spread / (delta * delta));

    if (!(runs < PROBITY_RUNS_MAX))
        return PROBITY_RUNS_MAX;
    return runs > (double)demand->runs_least ? (size_t)runs : demand->runs_least;
}
