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

/* Values of the runs on each side, in any order. */
struct probity_samples {
    const double *first, *second;
    size_t first_count, second_count;
};

/* The distribution of the rank sum if both samples come from one population, cached for the sample
 * sizes last used. Initialize with zeros. */
struct probity_rank_null {
    size_t first_count, second_count;
    double *below; /* [u]: probability that the statistic is u or less; NULL: normal */
};

void probity_rank_null_release(struct probity_rank_null *null);

struct probity_rank_test {
    double p;         /* two-sided */
    double p_greater; /* one-sided: small if the second sample is greater */
    double p_less;
    int is_exact;    /* otherwise a normal approximation with correction for ties and continuity */
    int is_constant; /* all values are equal: p is 1 for any sizes */
};

/* Exact if the product of the sizes is at most 400 (20 runs a side): with ties, over all
 * permutations of the midranks. Both sizes must be at least 1. Returns 0 or
 * PROBITY_ERROR_MEMORY.
 */
int probity_rank_test(struct probity_rank_null *null, const struct probity_samples *samples,
                      struct probity_rank_test *ret_test);

/* Second minus first. */
struct probity_shift {
    double estimate; /* median of all differences between values of the two samples */
    double low, high;
    int has_interval; /* 0: too few runs for this confidence */
};

/* confidence: 0.95 for 95 %. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_shift_estimate(struct probity_rank_null *null, const struct probity_samples *samples,
                           double confidence, struct probity_shift *ret_shift);

/* Sorts the values. The mean of the middle two if their number is even; count must not be 0. */
double probity_median(double *values, size_t count);

/* Adjust p values of multiple tests, in place, so that they can be compared with a level for all
 * tests: the share of false alarms among all alarms (Benjamini-Hochberg), or the probability of any
 * false alarm (Holm). Return 0 or PROBITY_ERROR_MEMORY. */
int probity_adjust_benjamini_hochberg(double *p, size_t count);
int probity_adjust_holm(double *p, size_t count);

/* Pooled standard deviation within the samples; 0 if no sample has two values. */
double probity_sparkline_within(const struct probity_samples *samples);

/* Requirements of a significance level, computed once because it takes longer than a test. */
struct probity_demand {
    double reach;
    size_t runs_least;
};
struct probity_demand probity_demand_of(double level);

/* Runs per side needed to find a shift of `delta` at a level in nine of ten comparisons, if runs
 * deviate by `spread`; between probity_runs_least() and PROBITY_RUNS_MAX. */
enum { PROBITY_RUNS_MAX = 100000 };
size_t probity_runs_needed(const struct probity_demand *demand, double spread, double delta);

/* Runs per side below which no two-sided p value can reach the level. */
size_t probity_runs_least(double level);

/* Half-width of the middle `share` of the standard normal distribution. */
double probity_normal_reach(double share);

#endif
