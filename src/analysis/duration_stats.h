/* SPDX-License-Identifier: MIT
 *
 * duration_stats.h: a sample of durations: exact sum, mean and variance, and the empirical
 * distribution to 1/256. Memory: see histogram.h.
 */
#ifndef PROBITY_ANALYSIS_DURATION_STATS_H
#define PROBITY_ANALYSIS_DURATION_STATS_H

#include <stdint.h>

#include "analysis/histogram.h"

/* For sums of squares, and of lengths over time. */
__extension__ typedef unsigned __int128 probity_wide_sum;

/* All zero: empty. */
struct probity_duration_stats {
    uint64_t count, total_ns, min_ns, max_ns;
    probity_wide_sum squares;
    struct probity_histogram fine;
};

/* Returns 0 or PROBITY_ERROR_MEMORY. */
static inline int probity_duration_stats_add(struct probity_duration_stats *times, uint64_t ns)
{
    if (ns < times->min_ns || times->count == 0)
        times->min_ns = ns;
    if (ns > times->max_ns)
        times->max_ns = ns;
    times->count++;
    times->total_ns += ns;
    times->squares += (probity_wide_sum)ns * ns;
    return probity_histogram_add(&times->fine, ns);
}

/* Adds another sample. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_duration_stats_merge(struct probity_duration_stats *to,
                                 const struct probity_duration_stats *from);

/* Return 0 if the sample is empty. The variance is that of the sample (divided by the count, not
 * the count - 1), in ns^2. */
double probity_duration_stats_mean(const struct probity_duration_stats *times);
double probity_duration_stats_variance(const struct probity_duration_stats *times);

/* Returns the quantile by nearest rank, exact to 1/256. */
uint64_t probity_duration_stats_quantile(const struct probity_duration_stats *times,
                                         unsigned per_mille);

void probity_duration_stats_release(struct probity_duration_stats *times);

#endif
