/* SPDX-License-Identifier: MIT
 *
 * window.c: reads a window of a trace. The page already has spans of `longest_ns` and more, so
 * reading can end `longest_ns` after the window: a span that began in it and is still open then is
 * one of those.
 */
#include "page/window.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "page/view.h"
#include "probity.h"

/* is_short: the window had more events than are allowed, and now ends earlier. */
struct progress {
    uint64_t to_ns, skipped, taken;
    int is_short;
};

static void count_event(struct progress *progress, const struct probity_window *window,
                        uint64_t wall_ns)
{
    if (wall_ns < window->from_ns)
        progress->skipped++;
    else
        progress->taken++;
    if (progress->is_short || (progress->taken <= PROBITY_WINDOW_EVENTS_MAX &&
                               progress->skipped <= PROBITY_WINDOW_SKIPPED_MAX))
        return;
    progress->is_short = 1;
    if (wall_ns < progress->to_ns)
        progress->to_ns = wall_ns > window->from_ns ? wall_ns : window->from_ns;
}

/* Time by which all spans shorter than longest_ns that began in the window have ended. */
static uint64_t end_of(const struct progress *progress, const struct probity_window *window)
{
    return window->longest_ns < UINT64_MAX - progress->to_ns
               ? progress->to_ns + window->longest_ns : UINT64_MAX;
}

/* If the limit is reached, the window, and the time read after it, end at the last event read. */
static int take_events(struct probity_reader *reader, const struct probity_window *window,
                       struct probity_timeline *timeline, struct progress *progress)
{
    const struct probity_event *event;
    int got = 0, wanted, error =
        probity_reader_set_window(reader, window->from_ns, end_of(progress, window));

    while (error == 0 && (got = probity_reader_next(reader, &event)) == 1) {
        if (event->wall_ns >= end_of(progress, window) || progress->is_short)
            break;
        count_event(progress, window, event->wall_ns);
        wanted = window->wants == NULL ? 1 : window->wants(window->context, &event);
        error = wanted > 0 ? probity_timeline_put(timeline, event) : wanted;
    }
    if (progress->is_short)
        progress->to_ns = progress->to_ns - window->from_ns > window->longest_ns
                              ? progress->to_ns - window->longest_ns : window->from_ns;
    return error == 0 && got < 0 ? got : error;
}

static int put_reply(FILE *stream, const struct probity_window *window, uint64_t to_ns,
                     const struct probity_reader *reader, const struct probity_timeline *timeline)
{
    const struct probity_view_answer answer = {.reader = reader, .timeline = timeline};
    uint64_t start_ns = probity_reader_start_ns(reader);
    uint8_t head[PROBITY_WINDOW_HEAD_BYTES] = {0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *json = open_memstream(&text, &bytes);

    if (json == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = probity_view_timeline_json(json, &answer);
    if (fclose(json) != 0 && error == 0)
        error = PROBITY_ERROR_MEMORY;
    probity_put_u64(head, window->from_ns > start_ns ? window->from_ns - start_ns : 0);
    probity_put_u64(head + 8, to_ns > start_ns ? to_ns - start_ns : 0);
    probity_put_u32(head + 16, (uint32_t)bytes);
    if (error == 0) {
        fwrite(head, 1, sizeof head, stream);
        fwrite(text, 1, bytes, stream);
        error = probity_view_spans(stream, timeline);
    }
    if (error == 0 && ferror(stream))
        error = PROBITY_ERROR_WRITE;
    free(text);
    return error;
}

int probity_window_write(struct probity_reader *reader, const struct probity_window *window,
                         FILE *stream)
{
    const struct probity_timeline_options options = {
        .from_ns = window->from_ns, .to_ns = window->to_ns, .has_tracks = 1,
        .spans_max = PROBITY_WINDOW_SPANS_MAX};
    struct progress progress = {.to_ns = window->to_ns};
    struct probity_timeline *timeline;
    int error = probity_timeline_open(&options, &timeline);

    if (error != 0)
        return error;
    error = take_events(reader, window, timeline, &progress);
    if (error == 0)
        error = probity_timeline_finish(timeline);
    if (error == 0)
        error = put_reply(stream, window, progress.to_ns, reader, timeline);
    probity_timeline_close(timeline);
    return error;
}
