/* SPDX-License-Identifier: MIT
 *
 * signed_rank.h: estimates a difference from paired measurements, assuming only that the
 * distribution of the differences is symmetric. Independent of traces. Needs libm.
 *
 *     Walsh averages and the interval by Wilcoxon's signed ranks: Hollander, Wolfe, Chicken,
 *     "Nonparametric Statistical Methods", 3rd edition, sections 3.1 to 3.3; Hodges, Lehmann,
 *     Annals of Mathematical Statistics 34 (1963) 598; Tukey, Memorandum Report 17, Princeton
 *     (1949).
 */
#ifndef PROBITY_ANALYSIS_SIGNED_RANK_H
#define PROBITY_ANALYSIS_SIGNED_RANK_H

#include <stddef.h>

#include "analysis/statistics.h"

/* Above this number of differences, a normal approximation replaces the signed ranks. */
enum { PROBITY_SIGNED_RANK_EXACT_MAX = 200, PROBITY_SIGNED_RANK_MAX = 2000 };

/* Estimates the median of the means of all pairs of differences, including each with itself. The
 * interval is exact; for 95 % it takes at least 6 differences. count: 1 to PROBITY_SIGNED_RANK_MAX.
 * Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_signed_rank_estimate(const double *differences, size_t count, double confidence,
                                 struct probity_shift *ret_shift);

#endif
