/* SPDX-License-Identifier: MIT
 *
 * print_levels_internal.c: prints the level events of a trace, one per line: functions, parameters,
 * origin, "writer" if the writer thread recorded it, and how many of the program's hits preceded
 * it. With a second argument, counts the hits whose id is neither the level of functions in the
 * event before nor in the one after, and prints their number at the end: threads see a level before
 * its event is recorded.
 *
 *     print_levels_internal TRACE [x]
 */
#include <stdio.h>
#include <string.h>

#include "reader/reader.h"

enum { LEVELS = 8 };

static int print_event(const struct probity_event *event, uint64_t hits, uint32_t writer)
{
    if (event->payload_bytes < 3) {
        fprintf(stderr, "a levels event of %zu bytes\n", event->payload_bytes);
        return 0;
    }
    printf("%u %u %u%s", event->payload[0], event->payload[1], event->payload[2],
           event->thread == writer ? " writer" : "");
    printf(" %llu\n", (unsigned long long)hits);
    return 1;
}

static uint64_t all_but(const uint64_t counts[LEVELS], uint32_t but)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < LEVELS; i++)
        sum += i != but ? counts[i] : 0;
    return sum;
}

int main(int argc, char **argv)
{
    static const char name[] = "probity-writer";
    struct probity_reader *reader;
    const struct probity_event *event;
    uint64_t hits = 0, others = 0, differing[LEVELS] = {0}; /* since the last event, by level */
    uint32_t writer = UINT32_MAX, level = 5;
    int result;

    if (argc < 2 || probity_reader_open((const char *const *)&argv[1], 1, NULL, NULL, &reader) != 0)
        return 1;
    while ((result = probity_reader_next(reader, &event)) == 1) {
        if (event->kind == PROBITY_EVENT_THREAD_NAME && event->payload_bytes == sizeof name - 1 &&
            memcmp(event->payload, name, sizeof name - 1) == 0)
            writer = event->thread;
        if (event->kind == PROBITY_EVENT_LEVELS && !print_event(event, hits, writer))
            return 1;
        if (event->kind == PROBITY_EVENT_LEVELS) {
            level = event->payload[0] % LEVELS;
            others += all_but(differing, level);
            memset(differing, 0, sizeof differing);
        }
        if (event->kind == PROBITY_EVENT_HIT) {
            hits++;
            differing[event->id % LEVELS] += event->id != level;
        }
    }
    others += all_but(differing, LEVELS);
    probity_reader_close(reader);
    if (argc > 2)
        printf("other %llu of %llu\n", (unsigned long long)others, (unsigned long long)hits);
    return result;
}
