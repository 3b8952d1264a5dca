/* SPDX-License-Identifier: MIT
 *
 * profile.h: what the programs that test profile mode share: a page that outlives a killed program,
 * on which each thread counts what has returned.
 */
#ifndef PROBITY_TESTS_PROGRAMS_PROFILE_H
#define PROBITY_TESTS_PROGRAMS_PROFILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROFILE_THREADS = 8, PROFILE_LEAF = 0, PROFILE_MIDDLE = 1, PROFILE_RECURSIVE = 2,
       PROFILE_FUNCTIONS = 3 };

/* Calls that have returned. Threads share no cache line. */
struct profile_truth {
    uint64_t calls[PROFILE_THREADS][8];
};

static const char *const profile_names[PROFILE_FUNCTIONS] = {"leaf", "middle", "recursive"};

static inline void profile_need(int is_good, const char *what)
{
    if (!is_good) {
        fprintf(stderr, "%s: not so\n", what);
        exit(1);
    }
}

#endif
