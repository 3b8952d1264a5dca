/* SPDX-License-Identifier: MIT
 *
 * top_source.c: reads one trace repeatedly.
 */
#include "answers/top/top_source.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probity.h"

enum { EVENTS_AT_ONCE = 16384, RING = 2 };

struct probity_top_source {
    struct probity_top *top;
    char *path;
    struct probity_reader *reader;
    struct probity_top_feed *feed;
    uint64_t last_ns; /* CLOCK_REALTIME of the last event read */
    uint64_t interval_ns;
    int is_ring, is_live, is_first;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void close_reader(struct probity_top_source *source)
{
    if (source->feed != NULL)
        probity_top_feed_close(source->feed);
    if (source->reader != NULL)
        probity_reader_close(source->reader);
    source->feed = NULL;
    source->reader = NULL;
}

static int open_reader(struct probity_top_source *source)
{
    struct probity_reader_options options = {.follow = !source->is_ring};
    const char *path = source->path;
    int error = probity_reader_open(&path, 1, &options, NULL, &source->reader);

    if (error != 0) {
        source->reader = NULL;
        return error;
    }
    const struct probity_trace_facts *facts = probity_reader_facts(source->reader, 0);
    source->is_live = facts->state == PROBITY_TRACE_LIVE;
    return probity_top_feed_open(source->top, &facts->info, &source->feed);
}

int probity_top_source_open(struct probity_top *top, const char *path, uint64_t interval_ns,
                            struct probity_top_source **ret_source)
{
    struct probity_top_source *source = calloc(1, sizeof *source);

    if (source == NULL)
        return PROBITY_ERROR_MEMORY;
    source->top = top;
    source->path = strdup(path);
    source->interval_ns = interval_ns;
    source->is_first = 1;
    int error = source->path != NULL ? open_reader(source) : PROBITY_ERROR_MEMORY;
    if (error != 0) {
        probity_top_source_close(source);
        return error;
    }
    source->is_ring =
        source->is_live && probity_reader_facts(source->reader, 0)->info.mode == RING;
    if (source->is_ring)
        close_reader(source); /* it follows the file, which does not grow for a ring */
    *ret_source = source;
    return 0;
}

/* Reads everything available. */
static int read_events(struct probity_top_source *source, int (*is_over)(void *context),
                       void *context)
{
    const struct probity_event *event;
    uint64_t count = 0;
    int got = 0, error = 0;

    while (error == 0 && (got = probity_reader_next(source->reader, &event)) > 0) {
        if (got == PROBITY_READER_WAITS)
            return 0;
        source->last_ns = event->wall_ns;
        error = probity_top_feed_put(source->feed, event);
        if (++count % EVENTS_AT_ONCE == 0 && is_over(context))
            return error;
    }
    if (got == 0 && !source->is_ring)
        source->is_live = 0;
    return error != 0 ? error : got;
}

/* The first time, everything from the start must be read, though most of it is older than the
 * interval. A ring has already been read up to last_ns. */
static void set_limits(struct probity_top_source *source)
{
    const struct probity_trace_facts *facts = probity_reader_facts(source->reader, 0);
    uint64_t all_from_ns = source->last_ns != 0 && source->is_ring ? source->last_ns + 1 : 0;
    uint64_t end_ns = source->is_live ? now_ns() : facts->last_wall_ns;

    probity_top_feed_limit(source->feed,
                           source->is_first && end_ns > source->interval_ns
                               ? end_ns - source->interval_ns
                               : 0,
                           all_from_ns);
    source->is_first = 0;
}

int probity_top_source_read(struct probity_top_source *source, int (*is_over)(void *context),
                            void *context)
{
    int error = 0;

    if (source->reader == NULL && !source->is_live)
        return 0;
    if (source->reader == NULL)
        error = open_reader(source);
    if (error != 0) {
        source->is_live = 0;
        close_reader(source);
        return error;
    }
    set_limits(source);
    error = read_events(source, is_over, context);
    if (error == 0)
        error = probity_top_feed_profile(source->feed, source->reader);
    if (source->is_ring)
        close_reader(source);
    return error;
}

int probity_top_source_is_live(const struct probity_top_source *source)
{
    return source->is_live;
}

const char *probity_top_source_path(const struct probity_top_source *source)
{
    return source->path;
}

void probity_top_source_close(struct probity_top_source *source)
{
    close_reader(source);
    free(source->path);
    free(source);
}
