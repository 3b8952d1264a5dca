/* SPDX-License-Identifier: MIT
 *
 * request_times.h: durations of requests, from the hit that begins a request to the hit with the
 * same id that ends it, on any thread. Requests that begin at the same probe are of one kind.
 * Memory: a few KiB per kind, and the requests in flight (inflight.h). Prints nothing.
 */
#ifndef PROBITY_ANALYSIS_REQUEST_TIMES_H
#define PROBITY_ANALYSIS_REQUEST_TIMES_H

#include "analysis/histogram.h"
#include "analysis/inflight.h"
#include "analysis/probes.h"
#include "reader/reader.h"

/* the same as in the workload model */
enum { PROBITY_REQUEST_KINDS_MAX = 4096 };

/* The requests that begin at one probe and have ended. */
struct probity_request_kind {
    struct probity_probe begin; /* must be first */
    uint64_t calls, wall_ns, min_ns, max_ns;
    struct probity_histogram durations;
    int is_listed;
};

/* Open with probity_request_times_init(). */
struct probity_request_times {
    uint64_t from_ns, to_ns; /* takes only hits in [from, to) of CLOCK_REALTIME; both 0: all */
    struct probity_probes probes;
    struct probity_inflight open;
    struct probity_request_kind **kinds; /* kinds of which a request has ended */
    size_t count;
};

void probity_request_times_init(uint64_t from_ns, uint64_t to_ns,
                                struct probity_request_times *ret_times);

/* Takes a hit with a correlation id that begins or ends a request. */
int probity_request_times_take(struct probity_request_times *times,
                               const struct probity_event *event);

/* Takes the next event in time order. A request has no duration if its id begins again before it
 * ends, or if its begin is missing. Returns 0 or PROBITY_ERROR_MEMORY. */
static inline int probity_request_times_put(struct probity_request_times *times,
                                            const struct probity_event *event)
{
    if (event->kind == PROBITY_EVENT_SITES_SWITCHED) /* hits may be missing before or after it */
        probity_inflight_forget(&times->open, event->trace);
    return event->kind == PROBITY_EVENT_HIT && event->has_correlation
               ? probity_request_times_take(times, event)
               : 0;
}

/* Sorts the kinds by total time, largest first. */
void probity_request_times_sort(struct probity_request_times *times);

/* The same as probity_histogram_quantile(). */
uint64_t probity_request_quantile(const struct probity_request_kind *kind, unsigned per_mille);

/* Returns "request" for a site "request:begin"; for a numbered probe its number, or "7 (arrive)" if
 * it has a name. malloc'ed; NULL if out of memory. */
char *probity_request_kind_name(const struct probity_request_kind *kind, int with_name);

void probity_request_times_release(struct probity_request_times *times);

#endif
