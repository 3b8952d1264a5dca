/* SPDX-License-Identifier: MIT
 *
 * victim.h: the counts that victim.c keeps in memory that outlives it; kill_rounds.c compares them
 * with the trace.
 */
#ifndef PROBITY_TESTS_VICTIM_H
#define PROBITY_TESTS_VICTIM_H

#include "programs/hits.h"

enum { VICTIM_THREADS_MAX = 16, VICTIM_TRUTH_BYTES = 4096 };

/* A cache line for each thread. */
struct victim_truth {
    uint64_t hits, stream, unused[6];
};

#endif
