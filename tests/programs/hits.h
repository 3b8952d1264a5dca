/* SPDX-License-Identifier: MIT
 *
 * hits.h: the ids that test programs record. A stream is a sequence of hits made by one piece of
 * code. An id consists of the stream's number and the position in the sequence, so that
 * check_hits.c detects any lost, duplicated or invented hit.
 */
#ifndef PROBITY_TESTS_HITS_H
#define PROBITY_TESTS_HITS_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probity.h"

enum { HITS_SEQUENCE_BITS = 18, HITS_SEQUENCE_MASK = (1 << HITS_SEQUENCE_BITS) - 1 };

/* Streams up to 30 have short ids, those from 32 on have wide ids. Sequences wrap. */
static inline uint32_t hits_id(uint32_t stream, uint64_t sequence)
{
    return stream << HITS_SEQUENCE_BITS | (uint32_t)(sequence & HITS_SEQUENCE_MASK);
}

static inline void hits_make(uint32_t stream, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++)
        PROBITY_PROBE(hits_id(stream, i));
}

/* Gives stdout a buffer. Programs that fork while they have threads call it first: the child must
 * not allocate the buffer, because another thread may hold the allocator's lock. glibc's allocator
 * can handle that, AddressSanitizer's cannot. */
static inline void hits_buffer_output(void)
{
    static char buffer[BUFSIZ];

    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
}

/* Prints what must be in the trace, in the format of check_hits. */
static inline void hits_expect(long pid, uint32_t stream, uint64_t count)
{
    if (count > 0)
        printf("%ld %u %llu\n", pid, stream, (unsigned long long)count);
}

static inline void hits_need(int condition, const char *what)
{
    if (condition)
        return;
    perror(what);
    _Exit(99);
}

static inline uint64_t hits_argument(int argc, char **argv, int index, uint64_t by_default)
{
    return argc > index ? strtoull(argv[index], NULL, 10) : by_default;
}

#endif
