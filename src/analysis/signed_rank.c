/* SPDX-License-Identifier: MIT
 *
 * signed_rank.c: computes and sorts the means of all pairs of differences; signed ranks select the
 * two that bound the interval.
 */
#include "analysis/signed_rank.h"

#include <math.h>
#include <stdlib.h>

#include "probity.h"

/* Makes [t] the probability that the ranks sum to t. With random signs, rank i is part of the sum
 * in half of the cases. */
static void add_rank(double *probability, size_t sums, size_t rank)
{
    for (size_t t = sums; t-- > 0;)
        probability[t] = (probability[t] + (t >= rank ? probability[t - rank] : 0)) / 2;
}

/* Returns the number of sorted means outside the interval at each end, plus one; 0 if there are too
 * few for this confidence. */
static int rank_of_bound(size_t count, double confidence, size_t *ret_rank)
{
    size_t means = count * (count + 1) / 2, sums = means / 2 + 1, rank = 0;
    double below = 0;

    if (count > PROBITY_SIGNED_RANK_EXACT_MAX) {
        double n = (double)count, deviation = sqrt(n * (n + 1) * (2 * n + 1) / 24);
        double found = floor(n * (n + 1) / 4 - probity_normal_reach(confidence) * deviation);
        *ret_rank = found > 0 ? (size_t)found : 0;
        return 0;
    }
    double *probability = calloc(sums, sizeof *probability);
    if (probability == NULL)
        return PROBITY_ERROR_MEMORY;
    probability[0] = 1;
    for (size_t i = 1; i <= count; i++)
        add_rank(probability, sums, i);
    while (rank < sums && 2 * (below + probability[rank]) <= 1 - confidence)
        below += probability[rank++];
    free(probability);
    *ret_rank = rank;
    return 0;
}

int probity_signed_rank_estimate(const double *differences, size_t count, double confidence,
                                 struct probity_shift *ret_shift)
{
    size_t means = count * (count + 1) / 2, rank = 0, at = 0;
    double *mean = calloc(means, sizeof *mean);
    int error = mean != NULL ? rank_of_bound(count, confidence, &rank) : PROBITY_ERROR_MEMORY;

    if (error != 0) {
        free(mean);
        return error;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i; j < count; j++)
            mean[at++] = (differences[i] + differences[j]) / 2;
    }
    struct probity_shift shift = {.estimate = probity_median(mean, means)};
    if (rank > 0)
        shift = (struct probity_shift){shift.estimate, mean[rank - 1], mean[means - rank], 1};
    free(mean);
    *ret_shift = shift;
    return 0;
}
