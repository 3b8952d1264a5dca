/* SPDX-License-Identifier: MIT
 *
 * statistics.h: two samples of runs against each other, without an assumption about how runs are
 * distributed. Knows nothing of traces. Needs libm.
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

/* The rank sum's distribution where both samples come from one, for sample sizes that it was last
 * asked for: tests of equal sizes need it once. Start with zeros. */
struct probity_rank_null {
    size_t first_count, second_count;
    double *below; /* [u]: probability that the statistic is u or less; NULL: normal */
};

void probity_rank_null_release(struct probity_rank_null *null);

struct probity_rank_test {
    double p;         /* two-sided */
    double p_greater; /* one-sided: small where the second sample is greater */
    double p_less;
    int is_exact;    /* else a normal approximation with correction for ties and continuity */
    int is_constant; /* all values are equal: p is 1 whatever the sizes */
};

/* Exact where the product of the sizes is 400 at most (20 runs a side): with ties, over all
 * permutations of the midranks. Both sizes must be 1 at least. Returns 0 or PROBITY_ERROR_MEMORY.
 */
int probity_rank_test(struct probity_rank_null *null, const struct probity_samples *samples,
                      struct probity_rank_test *ret_test);

/* Second minus first. */
struct probity_shift {
    double estimate; /* median of all differences between a value here and one there */
    double low, high;
    int has_interval; /* 0: too few runs for this confidence */
};

/* confidence: 0.95 for 95 %. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_shift_estimate(struct probity_rank_null *null, const struct probity_samples *samples,
                           double confidence, struct probity_shift *ret_shift);

/* Sorts the values. Of an even number the mean of the middle two; count must not be 0. */
double probity_median(double *values, size_t count);

/* p values of many tests to those that may be held against the level for all of them: the share of
 * false alarms among all alarms (Benjamini-Hochberg), or the probability of any (Holm). Return 0 or
 * PROBITY_ERROR_MEMORY; in place. */
int probity_adjust_benjamini_hochberg(double *p, size_t count);
int probity_adjust_holm(double *p, size_t count);

/* Standard deviation within the samples, of both together; 0 where no sample has two values. */
double probity_spread_within(const struct probity_samples *samples);

/* What a level asks for; takes longer than a test, and many tests have one level. */
struct probity_demand {
    double reach;
    size_t runs_least;
};
struct probity_demand probity_demand_of(double level);

/* Runs a side with which a shift of `delta` is found at a level in nine of ten comparisons, where
 * runs deviate by `spread`; at least probity_runs_least(). At most PROBITY_RUNS_MAX. */
enum { PROBITY_RUNS_MAX = 100000 };
size_t probity_runs_needed(const struct probity_demand *demand, double spread, double delta);

/* Runs a side below which no two-sided p value can reach the level. */
size_t probity_runs_least(double level);

/* Standard normal: how far the middle `share` of it goes to either side. */
double probity_normal_reach(double share);

#endif
