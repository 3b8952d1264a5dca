/* SPDX-License-Identifier: MIT
 *
 * ledger.h: what processes and threads say that they have recorded, in a file that they share: it
 * holds also for those that end without a word. A row is one stream (hits.h) of one process; the
 * count is stored behind each probe.
 */
#ifndef PROBITY_TESTS_LEDGER_H
#define PROBITY_TESTS_LEDGER_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "programs/hits.h"

enum { LEDGER_ROWS = 1 << 17 };

struct ledger {
    uint64_t used;
    struct ledger_row {
        uint64_t pid, stream, count;
    } row[LEDGER_ROWS];
};

static inline struct ledger *ledger_open(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct ledger *ledger = MAP_FAILED;

    if (file >= 0 && ftruncate(file, sizeof *ledger) == 0)
        ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    hits_need(ledger != MAP_FAILED, "ledger");
    close(file);
    return ledger;
}

static inline struct ledger_row *ledger_row(struct ledger *ledger, uint32_t stream)
{
    uint64_t place = __atomic_fetch_add(&ledger->used, 1, __ATOMIC_RELAXED);

    hits_need(place < LEDGER_ROWS, "too many rows");
    struct ledger_row *row = &ledger->row[place];
    row->pid = (uint64_t)getpid();
    row->stream = stream;
    return row;
}

/* Probes go on where the row stands. */
static inline void ledger_make(struct ledger_row *row, uint64_t count)
{
    uint64_t first = row->count;

    for (uint64_t i = first; i < first + count; i++) {
        PROBITY_PROBE(hits_id((uint32_t)row->stream, i));
        __atomic_store_n(&row->count, i + 1, __ATOMIC_RELEASE);
    }
}

/* What must be in the traces, as check_hits prints it. */
static inline void ledger_print(const struct ledger *ledger)
{
    for (uint64_t i = 0; i < ledger->used; i++) {
        const struct ledger_row *row = &ledger->row[i];
        hits_expect((long)row->pid, (uint32_t)row->stream, row->count);
    }
}

#endif
