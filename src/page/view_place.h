/* SPDX-License-Identifier: MIT
 *
 * view_place.h: writes a page that opens at a call or span, for commands that found one.
 * Implemented in view_command.c.
 */
#ifndef PROBITY_PAGE_VIEW_PLACE_H
#define PROBITY_PAGE_VIEW_PLACE_H

#include <stddef.h>
#include <stdint.h>

/* A call, or a span between two probes, in a thread. */
struct probity_view_place {
    uint32_t trace, thread;  /* thread: its number in the trace */
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME */
    int is_call;
    int is_whole; /* 1: the timeline is not zoomed */
};

struct view_place_page {
    const struct probity_view_place *place;
    const char *since, *until; /* values of the options; NULL: unbounded */
    const char *out; /* name of a file */
    int force, is_to_open; /* is_to_open: open it in a browser */
};

/* Writes the page of these traces, like `probity view`, and opens it if requested. Reports errors.
 * Returns an exit status. */
int view_place_write(const struct view_place_page *page, char **names, size_t count);

#endif
