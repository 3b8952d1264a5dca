/* SPDX-License-Identifier: MIT
 *
 * view_waits.h: the waits of threads for the page, with the threads that held the object or ended
 * the wait (doc/calls.md, "How a reader assigns waiting"). The page shows them next to thread
 * states, and follows them backwards for a critical path. Memory: a limited number of waits; if
 * there are more, the shortest are left out and counted.
 */
#ifndef PROBITY_PAGE_VIEW_WAITS_H
#define PROBITY_PAGE_VIEW_WAITS_H

#include <stdio.h>

#include "answers/waits/wait_names.h"
#include "reader/reader.h"

struct probity_view_waits;

/* Waits that begin in [from_ns, to_ns); both 0: all. waits_max: number to keep. Returns 0 or
 * PROBITY_ERROR_MEMORY, as do the next. */
int probity_view_waits_open(uint64_t from_ns, uint64_t to_ns, size_t waits_max,
                            const struct probity_wait_symbols *symbols,
                            struct probity_view_waits **ret_waits);

/* Takes the next event in time order, thread states among them. */
int probity_view_waits_put(struct probity_view_waits *waits, const struct probity_event *event);

int probity_view_waits_finish(struct probity_view_waits *waits);

/* The number of waits that are kept. */
size_t probity_view_waits_count(const struct probity_view_waits *waits);

/* One object, as WaitsData in view/src/data.ts. Times are ns since first_ns. Returns as above,
 * or PROBITY_ERROR_WRITE. */
int probity_view_waits_json(FILE *stream, const struct probity_view_waits *waits,
                            uint64_t first_ns);

void probity_view_waits_close(struct probity_view_waits *waits);

#endif
