/* SPDX-License-Identifier: MIT
 *
 * statistics.h: compares two samples of runs, without assumptions about their distribution.
 * Independent of traces. Needs libm.
 *
 *     Wilcoxon's rank-sum test (Mann-Whitney): Hollander, Wolfe, Chicken, "Nonparametric
 *     Statistical Methods", 3rd edition, section 4.1. Shift between the samples with its interval:
 *     Hodges, Lehmann, Annals of Mathematical Statistics 34 (1963) 598, and sections 4.2 and 4.3.
 *     Many tests: Benjamini, Hochberg, Journal of the Royal Statistical Society B 57 (1995) 289;
 *     Holm, Scandinavian Journal of Statistics 6 (1979) 65. Number of runs: section 4.1, after
 *     Noether, Journal of the American Statistical Association 82 (1987) 645.
 */
#ifndef PROBITY_ANALYSIS_STATISTICS_H
#define PROBITY_ANALYSIS_STATISTICS_H

#include <stddef.h>

/* The values of each side's runs, in any order. */
struct probity_samples {
    const double *first, *second;
    size_t first_count, second_count;
};

/* The distribution of the rank sum of two samples from one population, cached for the latest sample
 * sizes. Initialize with zeros. */
struct probity_rank_null {
    size_t first_count, second_count;
    double *below; /* [u]: probability of u or less; NULL: use the normal distribution */
};

void probity_rank_null_release(struct probity_rank_null *null);

struct probity_rank_test {
    double p;         /* two-sided */
    double p_greater; /* one-sided: small if the second sample is larger */
    double p_less;
    int is_exact;    /* 0: normal approximation with corrections for ties and continuity */
    int is_constant; /* all values are equal, so p is 1 for any sizes */
};

/* Tests whether the samples differ. Exact up to a product of sizes of 400 (20 runs per side); with
 * ties, over all permutations of the midranks. Both sizes must be at least 1. Returns 0 or
 * PROBITY_ERROR_MEMORY.
 */
int probity_rank_test(struct probity_rank_null *null, const struct probity_samples *samples,
                      struct probity_rank_test *ret_test);

/* The second sample minus the first. */
struct probity_shift {
    double estimate; /* median of all differences between a value of each */
    double low, high;
    int has_interval; /* 0: too few runs for this confidence */
};

/* confidence: 0.95 for 95 %. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_shift_estimate(struct probity_rank_null *null, const struct probity_samples *samples,
                           double confidence, struct probity_shift *ret_shift);

/* Sorts the values. Returns the mean of the middle two if their number is even; count must not be
 * 0. */
double probity_median(double *values, size_t count);

/* Adjusts the p-values of several tests, in place, so that they can be compared with a level that
 * applies to all tests together: bounds the share of false alarms among alarms
 * (Benjamini-Hochberg), or the probability of any false alarm (Holm). Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_adjust_benjamini_hochberg(double *p, size_t count);
int probity_adjust_holm(double *p, size_t count);

/* Returns the standard deviation within the samples, pooled; 0 if neither sample has two values. */
double probity_sparkline_within(const struct probity_samples *samples);

/* Values that depend on the significance level; computed once, because computing them takes longer
 * than a test. */
struct probity_demand {
    double reach;
    size_t runs_least;
};
struct probity_demand probity_demand_of(double level);

/* Returns the number of runs per side needed to find a shift of `delta` at this level in nine of
 * ten comparisons if runs deviate by `spread`; from probity_runs_least() to PROBITY_RUNS_MAX. */
enum { PROBITY_RUNS_MAX = 100000 };
size_t probity_runs_needed(const struct probity_demand *demand, double spread, double delta);

/* Returns the number of runs per side below which no two-sided p-value can reach the level. */
size_t probity_runs_least(double level);

/* Returns half the width of the middle `share` of the standard normal distribution. */
double probity_normal_reach(double share);

#endif
