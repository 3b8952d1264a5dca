/* SPDX-License-Identifier: MIT
 *
 * export_spans.h: spans derived from hits, for formats with time: blocks between the hits of a
 * thread, requests and their stages across threads, waits for locks and their holds, lengths of
 * queues. These are the spans that `probity blocks` (also --by correlation) and `probity model`
 * count, passed on one by one as soon as each has ended. Formats with totals use those answers
 * instead.
 *
 *     hit ──► block of its thread         ──► span
 *        ├──► stage and request of its id ──► began, span   lanes: rows in which nothing overlaps
 *        ├──► lock of its thread          ──► span
 *        └──► item of its queue           ──► length
 *
 * Memory: probes, threads, ids in flight (inflight.h), lanes, queues up to EXPORT_QUEUES_MAX.
 */
#ifndef PROBITY_EXPORTS_EXPORT_SPANS_H
#define PROBITY_EXPORTS_EXPORT_SPANS_H

#include "analysis/inflight.h"
#include "analysis/probes.h"
#include "exports/export.h"
#include "exports/export_lanes.h"
#include "exports/export_names.h"

enum { EXPORT_QUEUES_MAX = 4096 }; /* as for `probity model` */

enum export_span_kind {
    EXPORT_BLOCK,     /* from a hit to the next hit of its thread */
    EXPORT_STAGE,     /* from a hit to the next hit with its correlation id */
    EXPORT_REQUEST,   /* from begin to end */
    EXPORT_LOCK_WAIT, /* from wait to hold */
    EXPORT_LOCK_HOLD, /* from hold to release */
    EXPORT_SPAN_KINDS
};

struct export_span {
    enum export_span_kind kind;
    uint32_t trace;
    const struct probity_probe *from, *to; /* to: for a block or stage; else NULL */
    struct probity_export_thread *thread; /* thread in which it ended or, if it is open, began */
    uint64_t start_ns, end_ns, cpu_ns;    /* end_ns: not before start_ns */
    int is_cpu_known; /* only for blocks, and for stages within one thread */
    int is_open;      /* its end is not in the trace; the tool's totals exclude it */
    uint64_t correlation, object; /* for stages and requests; for locks */
    /* Only if there are `numbers`: the number of a request; for a stage or block, the number of the
     * request that it is in, 0 if none. A block is in a request if its thread works on that
     * request. */
    uint64_t number, within;
    /* Not for blocks. Lanes are numbered over all traces and kinds; spans of one lane do not
     * overlap, except that a stage is inside its request. */
    uint32_t lane;
    int is_lane_new;
};

struct export_length {
    uint32_t trace, number; /* number: number of the queue, from 0, over all traces */
    const struct probity_probe *from; /* the probe that was hit first */
    uint32_t role;                    /* role of that hit */
    uint64_t object, wall_ns, length;
};

/* Before each call, there is room for a line. */
struct export_spans_listener {
    void (*span)(struct probity_export *export, const struct export_span *span);
    /* A request begins; its span is passed at its end. Its stages follow this call. NULL: blocks
     * only. */
    void (*began)(struct probity_export *export, const struct export_span *span);
    /* The length of a queue changed. NULL: lengths are not reported. Hits of queues beyond
     * EXPORT_QUEUES_MAX are counted in export->counts. */
    void (*length)(struct probity_export *export, const struct export_length *length);
};

struct export_spans {
    const struct export_spans_listener *listener;
    struct probity_probes probes;
    struct export_span_thread *threads; /* by slot */
    uint32_t thread_count;
    struct probity_inflight flows, holds, items;
    struct export_names sets, queues; /* numbers of lanes in `lanes`, of queues in `lengths` */
    struct export_lanes *lanes;
    struct export_length *lengths; /* the latest of each queue */
    uint32_t lanes_count, lengths_count, lane_ids;
    uint64_t now_ns;
    uint64_t *numbers; /* owned by the user: the latest number assigned; NULL: no numbers */
};

void export_spans_open(struct export_spans *spans, const struct export_spans_listener *listener);

/* Takes any event in the range. */
void export_spans_put(struct probity_export *export, struct export_spans *spans,
                      struct probity_export_thread *thread, const struct probity_event *event);

/* Returns the number of the request on which a thread has been working since its latest hit with a
 * correlation id, or 0 if none, and the id. A thread works on a request from the begin, or a queue
 * get, to the end, or a queue put. */
uint64_t export_spans_within(struct export_spans *spans, const struct probity_export_thread *thread,
                             uint64_t *ret_correlation);

/* Passes on open spans. */
void export_spans_finish(struct probity_export *export, struct export_spans *spans);

void export_spans_release(struct export_spans *spans);

/* Writes the name of a span: for a block or stage the same as in `probity blocks`, "3 (taken) -> 9
 * (done)"; for other spans as in `probity model`, with "wait" or "hold". May contain any bytes;
 * ends at `end`. */
char *export_span_name(char *at, const char *end, const struct export_span *span);

/* Writes the name of a queue, as in `probity model`. */
char *export_length_name(char *at, char *end, const struct export_length *length);

/* Returns a key of that name and the category. A name changes only when a probe gets a name. */
uint64_t export_span_key(const struct export_span *span);

/* Returns "block", "stage", "request", "lock wait" or "lock hold". */
const char *export_span_category(enum export_span_kind kind);

#endif
