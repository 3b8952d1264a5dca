/* SPDX-License-Identifier: MIT
 *
 * expected_counts.h: the number of hits made by each process and thread, in a file that they share,
 * so that the counts of killed processes are known, too. A row is one stream (hits.h) of one
 * process; its count is stored after each probe.
 */
#ifndef PROBITY_TESTS_EXPECTED_COUNTS_H
#define PROBITY_TESTS_EXPECTED_COUNTS_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "programs/hits.h"

enum { EXPECTED_COUNTS_ROWS = 1 << 17 };

struct expected_counts {
    uint64_t used;
    struct expected_counts_row {
        uint64_t pid, stream, count;
    } row[EXPECTED_COUNTS_ROWS];
};

static inline struct expected_counts *expected_counts_open(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct expected_counts *counts = MAP_FAILED;

    if (file >= 0 && ftruncate(file, sizeof *counts) == 0)
        counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    hits_need(counts != MAP_FAILED, "ledger");
    close(file);
    return counts;
}

static inline struct expected_counts_row *expected_counts_row(struct expected_counts *counts,
                                                              uint32_t stream)
{
    uint64_t place = __atomic_fetch_add(&counts->used, 1, __ATOMIC_RELAXED);

    hits_need(place < EXPECTED_COUNTS_ROWS, "too many rows");
    struct expected_counts_row *row = &counts->row[place];
    row->pid = (uint64_t)getpid();
    row->stream = stream;
    return row;
}

/* Makes the next hit of the row's sequence. */
static inline void expected_counts_make(struct expected_counts_row *row, uint64_t count)
{
    uint64_t first = row->count;

    for (uint64_t i = first; i < first + count; i++) {
        PROBITY_PROBE(hits_id((uint32_t)row->stream, i));
        __atomic_store_n(&row->count, i + 1, __ATOMIC_RELEASE);
    }
}

/* Prints what must be in the traces, in the format of check_hits. */
static inline void expected_counts_print(const struct expected_counts *counts)
{
    for (uint64_t i = 0; i < counts->used; i++) {
        const struct expected_counts_row *row = &counts->row[i];
        hits_expect((long)row->pid, (uint32_t)row->stream, row->count);
    }
}

#endif
