/* SPDX-License-Identifier: MIT
 *
 * view_waits.h: collects the waits of threads for the page, with the threads that held the object
 * or ended the wait (doc/calls.md, "How a reader assigns waiting"). The page shows them next to
 * thread states, and follows them backwards for a critical path. Memory: a limited number of waits;
 * if there are more, the shortest are left out and counted.
 */
#ifndef PROBITY_PAGE_VIEW_WAITS_H
#define PROBITY_PAGE_VIEW_WAITS_H

#include <stdio.h>

#include "analysis/waits.h"
#include "answers/waits/wait_names.h"
#include "reader/reader.h"

struct probity_view_waits;

struct probity_view_waits_options {
    uint64_t from_ns, to_ns; /* waits that begin in [from, to) of CLOCK_REALTIME; both 0: all */
    size_t waits_max;        /* number to keep */
    struct probity_wait_symbols symbols;
    /* Threads whose waits are kept; NULL: all. The others are followed, since they may hold what a
     * thread waits for. */
    int (*is_wanted)(void *context, uint32_t tid);
    void *wanted_context;
    const struct probity_reader *resumed; /* if records are left out, continues from the states of
                                           * this reader; or NULL */
};

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_view_waits_open(const struct probity_view_waits_options *options,
                            struct probity_view_waits **ret_waits);

/* Takes the next event in time order, including thread states. Returns 0, PROBITY_ERROR_MEMORY or,
 * if it continues from a state, PROBITY_ERROR_DAMAGED; so does finish. */
int probity_view_waits_put(struct probity_view_waits *waits, const struct probity_event *event);

/* Whether no event is relevant, because the traces have no waits: 1 or 0. */
int probity_view_waits_is_idle(const struct probity_view_waits *waits);

/* Returns the number of waits to keep that began in the range and have not ended, excluding calls
 * to the C library. */
uint64_t probity_view_waits_pending(const struct probity_view_waits *waits);

int probity_view_waits_finish(struct probity_view_waits *waits);

/* Returns the number of waits that are kept. */
size_t probity_view_waits_count(const struct probity_view_waits *waits);

/* Call after finish: writes one object, WaitsData in view/src/data.ts. Times are ns since first_ns.
 * Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE. */
int probity_view_waits_json(FILE *stream, const struct probity_view_waits *waits,
                            uint64_t first_ns);

void probity_view_waits_close(struct probity_view_waits *waits);

#endif
