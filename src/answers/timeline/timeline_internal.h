/* SPDX-License-Identifier: MIT
 *
 * timeline_internal.h: the state of a timeline, for its implementation files.
 */
#ifndef PROBITY_ANSWERS_TIMELINE_TIMELINE_INTERNAL_H
#define PROBITY_ANSWERS_TIMELINE_TIMELINE_INTERNAL_H

#include "answers/timeline/timeline_lane.h"
#include "answers/timeline/timeline_names.h"

/* Limits on the values kept: beyond them, values of shorter calls are discarded. CLOSER: in refined
 * intervals. */
enum { TIMELINE_VALUES_BYTES_MAX = 12 << 20, TIMELINE_VALUES_BYTES_CLOSER = 4 << 20 };

struct timeline_thread {
    struct probity_timeline_thread facts;
    struct timeline_bytes *open; /* values of open calls, by depth */
    uint32_t place;              /* index in the list of threads */
    uint64_t wall_ns, cpu_ns;    /* of the latest record with CPU time; wall 0: no record yet */
};

struct probity_timeline {
    struct probity_timeline_options options;
    struct probity_timeline_facts facts;
    struct probity_scopes *scopes;
    struct timeline_names names;
    struct timeline_thread **by_slot; /* NULL: not seen yet, or beyond the limit */
    uint8_t *is_beyond;               /* by slot: has no lanes */
    uint32_t slot_count;
    const struct probity_timeline_thread **threads;
    size_t thread_count;
    struct timeline_bytes values;
    size_t values_bytes_max;
    struct probity_timeline_stretch *stretches; /* refined, or in the second pass to be refined */
    size_t stretch_count;
    size_t stretch; /* second pass: the last one that contained a span */
    int is_closer;  /* is this the second pass */
    int error; /* set by a listener, which cannot return errors */
};

/* Doubles the unit until a quarter of the budget is free. This and the next one are in
 * timeline_budget.c. */
void probity_timeline_coarsen(struct probity_timeline *timeline);

/* Discards unreferenced values, then those of the shortest calls, until half of the limit is free.
 * Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_sweep_values(struct probity_timeline *timeline);

/* Selects the intervals to refine, which take at most spans_more additional spans. In
 * timeline_select.c. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_select(const struct probity_timeline *timeline, size_t spans_more,
                            struct probity_timeline_stretch **ret_stretches, size_t *ret_count);

/* Clips a span to the range. Returns whether anything is left. This and the next one are in
 * timeline_window.c. */
int timeline_window_clip(const struct probity_timeline *timeline,
                         struct probity_timeline_span *span);

/* Clips the axis and the threads' lifetimes to the range. */
void timeline_window_finish(struct probity_timeline *timeline);

/* Recounts the calls and marks that are in merged spans. */
void probity_timeline_count_together(struct probity_timeline *timeline);

#endif
