/* SPDX-License-Identifier: MIT
 *
 * times.c: what is made of a sample of times at the end.
 */
#include "analysis/times.h"

int probity_times_merge(struct probity_times *to, const struct probity_times *from)
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
    return probity_fine_merge(&to->fine, &from->fine);
}

double probity_times_mean(const struct probity_times *times)
{
    return times->count > 0 ? (double)times->total_ns / (double)times->count : 0;
}

/* Squares of the distances from a whole number near the mean: a small sum without rounding, where
 * the difference of two large ones would lose all. */
double probity_times_variance(const struct probity_times *times)
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

uint64_t probity_times_quantile(const struct probity_times *times, unsigned per_mille)
{
    return probity_fine_quantile(&times->fine, per_mille, times->min_ns, times->max_ns);
}

void probity_times_release(struct probity_times *times)
{
    probity_fine_release(&times->fine);
}
