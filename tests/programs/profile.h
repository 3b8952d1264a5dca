/* SPDX-License-Identifier: MIT
 *
 * profile.h: a page, shared by the programs that test profile mode, that outlives a killed program;
 * each thread counts its returned calls in it.
 */
#ifndef PROBITY_TESTS_PROGRAMS_PROFILE_H
#define PROBITY_TESTS_PROGRAMS_PROFILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROFILE_THREADS = 8, PROFILE_LEAF = 0, PROFILE_MIDDLE = 1, PROFILE_RECURSIVE = 2,
       PROFILE_FUNCTIONS = 3 };

/* Numbers of returned calls. No two threads share a cache line. */
struct profile_truth {
    uint64_t calls[PROFILE_THREADS][8];
};

static const char *const profile_names[PROFILE_FUNCTIONS] = {"leaf", "middle", "recursive"};

static inline void profile_need(int is_good, const char *what)
{
    if (!is_good) {
        fprintf(stderr, "check failed: %s\n", what);
        exit(1);
    }
}

#endif
