/* SPDX-License-Identifier: MIT
 *
 * duration_stats.c: statistics of a sample of durations.
 */
#include "analysis/duration_stats.h"

int probity_duration_stats_merge(struct probity_duration_stats *to,
                                 const struct probity_duration_stats *from)
{
    if (from->count == 0)
        return 0;
    if (to->count == 0 || from->min_ns < to->min_ns)
        to->min_ns = from->min_ns;
    if (from->max_ns > to->max_ns)
        to->max_ns = from->max_ns;
    to->count += from->count;
    to->total_ns += from->total_ns;
    to->squares += from->squares;
    return probity_histogram_merge(&to->fine, &from->fine);
}

double probity_duration_stats_mean(const struct probity_duration_stats *times)
{
    return times->count > 0 ? (double)times->total_ns / (double)times->count : 0;
}

/* Sums the squared distances from an integer near the mean: the sum is small and exact. The
 * difference of two large sums would lose all precision. */
double probity_duration_stats_variance(const struct probity_duration_stats *times)
{
    if (times->count == 0)
        return 0;
    uint64_t near = times->total_ns / times->count;
    probity_wide_sum distances = times->squares - 2 * (probity_wide_sum)near * times->total_ns +
                             (probity_wide_sum)near * near * times->count;
    double rest = (double)(times->total_ns % times->count) / (double)times->count;
    double variance = (double)distances / (double)times->count - rest * rest;
    return variance > 0 ? variance : 0;
}

uint64_t probity_duration_stats_quantile(const struct probity_duration_stats *times,
                                         unsigned per_mille)
{
    return probity_histogram_quantile(&times->fine, per_mille, times->min_ns, times->max_ns);
}

void probity_duration_stats_release(struct probity_duration_stats *times)
{
    probity_histogram_release(&times->fine);
}
