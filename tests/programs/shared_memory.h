/* SPDX-License-Identifier: MIT
 *
 * shared_memory.h: unnamed memory that a test program shares with the programs that it runs, and
 * that outlives them when they are killed.
 */
#ifndef PROBITY_TESTS_SHARED_MEMORY_H
#define PROBITY_TESTS_SHARED_MEMORY_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SHARED_MEMORY_VARIABLE "TEST_SHARED_MEMORY"

/* Returns zeroed memory, or NULL if there is none. Programs that the caller runs, directly or not,
 * get the same memory: the number of its descriptor is in the environment. */
static inline void *shared_memory(size_t bytes)
{
    const char *inherited = getenv(SHARED_MEMORY_VARIABLE);
    int file = inherited != NULL ? atoi(inherited) : memfd_create("test", 0);
    char number[12];

    snprintf(number, sizeof number, "%d", file);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0 ||
        setenv(SHARED_MEMORY_VARIABLE, number, 1) != 0)
        return NULL;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return at != MAP_FAILED ? at : NULL;
}

#endif
