/* SPDX-License-Identifier: MIT
 *
 * paired.h: by how much one of two differs from the other, from differences measured in pairs,
 * without an assumption about how they are distributed but that they are so symmetrically. Knows
 * nothing of traces. Needs libm.
 *
 *     Walsh averages and the interval by Wilcoxon's signed ranks: Hollander, Wolfe, Chicken,
 *     "Nonparametric Statistical Methods", 3rd edition, sections 3.1 to 3.3; Hodges, Lehmann,
 *     Annals of Mathematical Statistics 34 (1963) 598; Tukey, Memorandum Report 17, Princeton
 *     (1949).
 */
#ifndef PROBITY_ANALYSIS_PAIRED_H
#define PROBITY_ANALYSIS_PAIRED_H

#include <stddef.h>

#include "analysis/statistics.h"

/* Differences beyond so many take the normal approximation of the signed ranks. */
enum { PROBITY_PAIRED_EXACT_MAX = 200, PROBITY_PAIRED_MAX = 2000 };

/* estimate: the median of the means of every two differences, each with itself too. The interval is
 * exact; fewer than 6 differences have none of 95 %. count: 1 to PROBITY_PAIRED_MAX. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_paired_estimate(const double *differences, size_t count, double confidence,
                            struct probity_shift *ret_shift);

#endif
