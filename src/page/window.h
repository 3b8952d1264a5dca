/* SPDX-License-Identifier: MIT
 *
 * window.h: reads the spans that begin in a window of time from the trace when the page of `probity
 * view --serve` requests them (doc/tiles.md).
 */
#ifndef PROBITY_PAGE_WINDOW_H
#define PROBITY_PAGE_WINDOW_H

#include <stdint.h>
#include <stdio.h>

#include "reader/reader.h"

enum {
    PROBITY_WINDOW_EVENTS_MAX = 500000,   /* maximum in the window */
    PROBITY_WINDOW_SKIPPED_MAX = 8000000, /* maximum before it, from the nearest mark of the
                                           * index */
    PROBITY_WINDOW_SPANS_MAX = 400000,
    PROBITY_WINDOW_HEAD_BYTES = 24
};

struct probity_window {
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME */
    uint64_t longest_ns;     /* spans of at least this length need not be found */
    /* Whether an event belongs to the selected threads; NULL: all do. */
    int (*wants)(void *context, const struct probity_event **event);
    void *context;
};

/* Reads a window and writes it. The reader must be newly opened, and can only be closed afterwards.
 * Returns 0, or an error of probity_reader_next(), or PROBITY_ERROR_WRITE. */
int probity_window_write(struct probity_reader *reader, const struct probity_window *window,
                         FILE *stream);

#endif
