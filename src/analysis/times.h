/* SPDX-License-Identifier: MIT
 *
 * times.h: a sample of times: sum, mean and variance without rounding on the way, and the empirical
 * distribution to 1/256. Memory: as fine.h.
 */
#ifndef PROBITY_ANALYSIS_TIMES_H
#define PROBITY_ANALYSIS_TIMES_H

#include <stdint.h>

#include "analysis/fine.h"

/* Sums of squares, and of lengths over time. */
__extension__ typedef unsigned __int128 probity_wide_sum;

/* All zero: empty. */
struct probity_times {
    uint64_t count, total_ns, min_ns, max_ns;
    probity_wide_sum squares;
    struct probity_fine fine;
};

/* Returns 0 or PROBITY_ERROR_MEMORY. */
static inline int probity_times_add(struct probity_times *times, uint64_t ns)
{
    if (ns < times->min_ns || times->count == 0)
        times->min_ns = ns;
    if (ns > times->max_ns)
        times->max_ns = ns;
    times->count++;
    times->total_ns += ns;
    times->squares += (probity_wide_sum)ns * ns;
    return probity_fine_add(&times->fine, ns);
}

/* Adds all that another one holds. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_times_merge(struct probity_times *to, const struct probity_times *from);

/* 0 of none. The variance is that of the sample, its sum of squares by the count, in ns^2. */
double probity_times_mean(const struct probity_times *times);
double probity_times_variance(const struct probity_times *times);

/* Nearest rank, to 1/256. */
uint64_t probity_times_quantile(const struct probity_times *times, unsigned per_mille);

void probity_times_release(struct probity_times *times);

#endif
