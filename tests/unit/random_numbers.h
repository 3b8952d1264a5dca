/* SPDX-License-Identifier: MIT
 *
 * random_numbers.h: random numbers that are the same in each run.
 */
#ifndef TESTS_UNIT_RANDOM_NUMBERS_H
#define TESTS_UNIT_RANDOM_NUMBERS_H

#include <math.h>
#include <stdint.h>

static uint64_t seed = 1;

/* Returns a number between 0 and 1. */
static inline double uniform(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static inline double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * acos(-1) * uniform());
}

#endif
