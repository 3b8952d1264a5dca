/* SPDX-License-Identifier: MIT
 *
 * levels_told_internal.c: prints what a trace tells of levels, one event a line: functions,
 * parameters, origin, "writer" where the writing thread recorded it, and how many hits of its
 * program came before it. With a second argument, every hit whose id differs from the level of
 * functions in force by then is counted too, and printed at the end.
 *
 *     levels_told_internal TRACE [x]
 */
#include <stdio.h>
#include <string.h>

#include "reader/reader.h"

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

int main(int argc, char **argv)
{
    static const char name[] = "probity-writer";
    struct probity_reader *reader;
    const struct probity_event *event;
    uint64_t hits = 0, others = 0;
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
        if (event->kind == PROBITY_EVENT_LEVELS)
            level = event->payload[0];
        if (event->kind == PROBITY_EVENT_HIT) {
            hits++;
            others += event->id != level;
        }
    }
    probity_reader_close(reader);
    if (argc > 2)
        printf("other %llu of %llu\n", (unsigned long long)others, (unsigned long long)hits);
    return result;
}
