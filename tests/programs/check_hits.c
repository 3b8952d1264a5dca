/* SPDX-License-Identifier: MIT
 *
 * check_hits.c: checks the output of `probity csv` hit by hit: neither the time nor a thread's CPU
 * time may decrease, and each stream (hits.h) must be a sequence from 0 without gaps or duplicates.
 * Prints "PID STREAM COUNT" for each stream. Errors go to stderr, with exit status 1.
 *
 *     check_hits [-u STREAM] [-f] [-r]
 *         -u: from this stream on, hits may be in any order; -f: streams may start anywhere;
 *         -r: a hit may be repeated and counts once
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "programs/hits.h"

enum { SLOTS = 1 << 15, COLUMNS = 7, FAULTS_SHOWN = 10 };

/* A stream (key: pid, stream) or a thread (key: pid, tid). */
struct entry {
    uint64_t key, count, next, newest;
    uint8_t *seen; /* unordered: a bit for each sequence number */
    int is_used;
};

static struct entry streams[SLOTS], threads[SLOTS];
static uint32_t unordered_from = UINT32_MAX;
static int may_begin_anywhere, may_repeat, faults;
static uint64_t line_number;

static void fault(const char *what, uint64_t expected, uint64_t found)
{
    if (faults++ < FAULTS_SHOWN)
        fprintf(stderr, "line %llu: %s: expected %llu, found %llu\n",
                (unsigned long long)line_number, what, (unsigned long long)expected,
                (unsigned long long)found);
}

static struct entry *entry_of(struct entry *table, uint64_t high, uint64_t low)
{
    uint64_t key = high << 32 | low;
    uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 49;

    for (int i = 0; i < SLOTS; i++, at = (at + 1) % SLOTS) {
        if (table[at].is_used && table[at].key == key)
            return &table[at];
        if (!table[at].is_used) {
            table[at].is_used = 1;
            table[at].key = key;
            return &table[at];
        }
    }
    fputs("check_hits: too many streams\n", stderr);
    exit(2);
}

static void check_place(struct entry *entry, uint32_t stream, uint64_t place)
{
    if (stream < unordered_from) {
        if (entry->count == 0 && may_begin_anywhere)
            entry->next = place;
        if (may_repeat && entry->count > 0 && place == ((entry->next - 1) & HITS_SEQUENCE_MASK))
            return;
        if (place != (entry->next & HITS_SEQUENCE_MASK))
            fault("place in stream", entry->next & HITS_SEQUENCE_MASK, place);
        entry->next = place + 1;
    } else {
        if (entry->seen == NULL)
            entry->seen = calloc(1, (HITS_SEQUENCE_MASK + 1) / 8);
        if (entry->seen == NULL)
            exit(2);
        if (entry->seen[place / 8] >> (place % 8) & 1)
            fault("hit found twice", 0, place);
        entry->seen[place / 8] |= (uint8_t)(1 << (place % 8));
        entry->next = place >= entry->next ? place + 1 : entry->next;
    }
    entry->count++;
}

/* Columns: pid, tid, probe, CPU seconds and ns, wall seconds and ns. An empty column counts as
 * 0. */
static void check_line(const char *line)
{
    static uint64_t newest_wall;
    uint64_t value[COLUMNS];
    char *end;

    line_number++;
    for (int i = 0; i < COLUMNS; i++) {
        value[i] = strtoull(line, &end, 10);
        if (*end != (i < COLUMNS - 1 ? ',' : '\n'))
            fault("column ends with", i < COLUMNS - 1 ? ',' : '\n', (uint8_t)*end);
        line = *end != 0 ? end + 1 : end;
    }
    uint64_t wall = value[5] * 1000000000 + value[6], cpu = value[3] * 1000000000 + value[4];
    if (wall < newest_wall)
        fault("wall time steps back", newest_wall, wall);
    newest_wall = wall;
    uint32_t stream_number = (uint32_t)value[2] >> HITS_SEQUENCE_BITS;
    struct entry *stream = entry_of(streams, value[0], stream_number);
    struct entry *thread = entry_of(threads, value[0], value[1]);
    /* The first hit of a stream may come from a new thread with the id of one that has ended. */
    if (cpu < thread->newest && stream->count > 0)
        fault("CPU time steps back", thread->newest, cpu);
    thread->newest = cpu;
    check_place(stream, stream_number, value[2] & HITS_SEQUENCE_MASK);
}

static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    return a->key < b->key ? -1 : a->key > b->key;
}

int main(int argc, char **argv)
{
    char line[512];

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-f") == 0)
            may_begin_anywhere = 1;
        else if (strcmp(argv[i], "-r") == 0)
            may_repeat = 1;
        else if (strcmp(argv[i], "-u") == 0 && i + 1 < argc)
            unordered_from = (uint32_t)strtoul(argv[++i], NULL, 10);
        else
            return 2;
    }
    while (fgets(line, sizeof line, stdin) != NULL)
        check_line(line);
    qsort(streams, SLOTS, sizeof *streams, compare);
    for (int i = 0; i < SLOTS; i++) {
        struct entry *entry = &streams[i];
        if (!entry->is_used)
            continue;
        if (entry->seen != NULL && entry->next != entry->count)
            fault("hits of an unordered stream", entry->next, entry->count);
        hits_expect((long)(entry->key >> 32), (uint32_t)entry->key, entry->count);
    }
    if (faults > 0)
        fprintf(stderr, "check_hits: %d faults in %llu lines\n", faults,
                (unsigned long long)line_number);
    return faults > 0;
}
