/* SPDX-License-Identifier: MIT
 *
 * print_levels_internal.c: prints the level events of a trace, one per line: functions, parameters,
 * origin, "writer" if the writer thread recorded it, and how many of the program's hits preceded
 * it. With a second argument, counts the hits whose id is not a level of functions that the thread
 * may see, and prints their number at the end. An event is earlier than its change, so a thread may
 * see the old level after the event, while the writer is preempted between the two; but it may not
 * see the new level before the event, nor another level after it has seen the new one.
 *
 *     print_levels_internal TRACE [x]
 */
#include <stdio.h>
#include <string.h>

#include "reader/reader.h"

enum { LEVELS = 8, THREADS = 16 };

static struct {
    uint32_t level, before;       /* in the last event, and in the one before that */
    uint8_t has_arrived[THREADS]; /* has seen the level of the last event */
} seen = {.level = 5, .before = 5};

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

static void take_level(uint32_t level)
{
    seen.before = seen.level;
    seen.level = level % LEVELS;
    memset(seen.has_arrived, 0, sizeof seen.has_arrived);
}

/* Returns whether the thread may see the level that is the hit's id. */
static int is_possible(const struct probity_event *hit)
{
    uint8_t *has_arrived = &seen.has_arrived[hit->thread % THREADS];

    if (hit->id == seen.level)
        *has_arrived = 1;
    return hit->id == seen.level || (hit->id == seen.before && !*has_arrived);
}

int main(int argc, char **argv)
{
    static const char name[] = "probity-writer";
    struct probity_reader *reader;
    const struct probity_event *event;
    uint64_t hits = 0, others = 0;
    uint32_t writer = UINT32_MAX;
    int result;

    if (argc < 2 || probity_reader_open((const char *const *)&argv[1], 1, NULL, NULL, &reader) != 0)
        return 1;
    while ((result = probity_reader_next(reader, &event)) == 1) {
        if (event->kind == PROBITY_EVENT_THREAD_NAME && event->payload_bytes == sizeof name - 1 &&
            memcmp(event->payload, name, sizeof name - 1) == 0)
            writer = event->thread;
        if (event->kind == PROBITY_EVENT_LEVELS && !print_event(event, hits, writer))
            return 1;
        if (event->kind == PROBITY_EVENT_LEVELS)
            take_level(event->payload[0]);
        if (event->kind == PROBITY_EVENT_HIT) {
            hits++;
            others += !is_possible(event);
        }
    }
    probity_reader_close(reader);
    if (argc > 2)
        printf("other %llu of %llu\n", (unsigned long long)others, (unsigned long long)hits);
    return result;
}
