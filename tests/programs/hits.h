/* SPDX-License-Identifier: MIT
 *
 * hits.h: the ids that the test programs record. A stream is a sequence of hits that one piece of
 * code makes: its number and the place in the sequence make the id, so that any loss, doubling or
 * invention shows. check_hits.c reads them back.
 */
#ifndef PROBITY_TESTS_HITS_H
#define PROBITY_TESTS_HITS_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probity.h"

enum { HITS_SEQUENCE_BITS = 18, HITS_SEQUENCE_MASK = (1 << HITS_SEQUENCE_BITS) - 1 };

/* Streams up to 30 have ids of the short form, from 32 on of the wide form. Sequences wrap. */
static inline uint32_t hits_id(uint32_t stream, uint64_t sequence)
{
    return stream << HITS_SEQUENCE_BITS | (uint32_t)(sequence & HITS_SEQUENCE_MASK);
}

static inline void hits_make(uint32_t stream, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++)
        PROBITY_PROBE(hits_id(stream, i));
}

/* What is to be in the trace: check_hits prints the same lines. */
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
