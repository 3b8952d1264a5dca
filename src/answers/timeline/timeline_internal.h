/* SPDX-License-Identifier: MIT
 *
 * timeline_internal.h: the state of a timeline, for its implementation files.
 */
#ifndef PROBITY_ANSWERS_TIMELINE_TIMELINE_INTERNAL_H
#define PROBITY_ANSWERS_TIMELINE_TIMELINE_INTERNAL_H

#include "answers/timeline/timeline_kept.h"
#include "answers/timeline/timeline_lane.h"
#include "answers/timeline/timeline_names.h"

/* Limits of the memory for values: beyond them, values of shorter calls are discarded. CLOSER: in
 * refined intervals. */
enum { TIMELINE_VALUES_BYTES_MAX = 12 << 20, TIMELINE_VALUES_BYTES_CLOSER = 4 << 20 };

/* The hit with which the block in progress began. */
struct timeline_hit {
    uint64_t wall_ns, cpu_ns;
    uint32_t name;
    int is_set, is_cpu_known;
    struct timeline_bytes values;
};

struct timeline_tracks; /* in timeline_tracks.c */

struct timeline_thread {
    struct probity_timeline_thread facts;
    struct timeline_hit hit; /* only with tracks */
    struct timeline_bytes *open; /* values of open calls, by depth */
    uint32_t place;              /* index in the list of threads, if is_listed */
    int is_listed;
    uint64_t wall_ns, cpu_ns;    /* of the latest record with CPU time; wall 0: no record yet */
    struct probity_state_event state; /* the latest state, and when it began */
    uint64_t state_ns;
    uint32_t state_flags;
    int is_past; /* 1: its next record after the range was seen */
};

struct probity_timeline {
    struct probity_timeline_options options;
    struct probity_timeline_facts facts;
    struct probity_scopes *scopes;
    struct timeline_names names;
    struct timeline_thread **by_slot; /* NULL: not seen yet, or beyond the limit */
    uint8_t *is_beyond;               /* by slot: 1: has no lanes */
    uint32_t slot_count;
    const struct probity_timeline_thread **threads;
    size_t thread_count;
    struct timeline_bytes values;
    size_t values_bytes_max;
    struct timeline_keeper keeper;
    struct probity_timeline_stretch *stretches; /* refined, or to be refined in the second pass */
    size_t stretch_count;
    struct timeline_tracks *tracks; /* NULL: none */
    size_t stretch; /* second pass: index of the last one that contained a span */
    int is_closer;  /* 1: second pass */
    size_t name_count; /* number of names before a further pass */
    uint64_t latest_ns; /* time of the latest event */
    struct probity_scopes_repairs repairs; /* known after finish */
    uint64_t open_after; /* window: calls that began in it and were open after its end */
    int error; /* set by a listener, which cannot return errors */
};

static inline struct timeline_thread *timeline_thread_at(const struct probity_timeline *timeline,
                                                         size_t index)
{
    /* Casts away const: facts is the first member. */
    return (struct timeline_thread *)(uintptr_t)timeline->threads[index];
}

/* A literal message has no values; a hit has values if it has ids. */
static inline int timeline_has_values(const struct probity_event *event)
{
    return event->format != NULL || event->value_bytes > 0 ||
           (event->kind == PROBITY_EVENT_HIT && event->payload_bytes > 0);
}

/* In timeline_spans.c. Adds a span, within the budget. Returns 0 or PROBITY_ERROR_MEMORY, like
 * those below. */
int timeline_add_span(struct probity_timeline *timeline, struct probity_timeline_lane *lane,
                      struct probity_timeline_span *span);

/* Adds a thread or track to the list, which must have room. */
int timeline_add_thread(struct probity_timeline *timeline, const struct probity_event *event,
                        struct timeline_thread **ret_thread);

/* Returns a new thread with the ids of the event, which is not in the list yet, or NULL if out of
 * memory. */
struct timeline_thread *timeline_new_thread(const struct probity_event *event);

void timeline_release_thread(struct timeline_thread *thread);

/* Adds a thread to the list. If there are too many, it has no lanes. */
int timeline_list(struct probity_timeline *timeline, uint32_t slot);

/* Adds lanes down to a depth. */
int timeline_reach_depth(struct timeline_thread *thread, uint32_t depth);

/* Appends an event's values, if it has any. */
int timeline_keep_values(struct timeline_bytes *open, const struct probity_event *event);

/* Adds a span with a name to a lane, with its values if it is long enough, and to the slowest spans
 * of its name. */
int timeline_add_timed(struct probity_timeline *timeline, struct timeline_thread *thread,
                       struct probity_timeline_lane *lane, uint32_t depth,
                       struct probity_timeline_span *span, const struct timeline_bytes *values);

/* Whether spans that begin at this time are added. */
int timeline_is_inside(struct probity_timeline *timeline, uint64_t wall_ns);

/* Blocks, requests, locks and queues, in timeline_tracks.c. Put takes a hit. thread: that of the
 * hit, or NULL if it has no lanes. */
int timeline_tracks_open(struct probity_timeline *timeline);
int timeline_tracks_put(struct probity_timeline *timeline, struct timeline_thread *thread,
                        const struct probity_event *event);
/* Called when sites of the event's trace were switched: ends its blocks, requests, holds and waits,
 * and empties its queues. */
int timeline_tracks_cut(struct probity_timeline *timeline, const struct probity_event *event);
int timeline_tracks_finish(struct probity_timeline *timeline);
void timeline_tracks_release(struct probity_timeline *timeline);

/* Thread states, in timeline_states.c. Put takes a PROBITY_EVENT_THREAD_STATE; finish adds states
 * that last until the end. */
int timeline_states_put(struct probity_timeline *timeline, struct timeline_thread *thread,
                        const struct probity_event *event);
int timeline_states_finish(struct probity_timeline *timeline);

/* Doubles the unit until a quarter of the budget is free. Like the next function, in
 * timeline_budget.c. */
void probity_timeline_coarsen(struct probity_timeline *timeline);

/* Discards unreferenced values, then those of the shortest calls, until half of the limit is free.
 * Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_sweep_values(struct probity_timeline *timeline);

/* Selects the intervals to refine, for at most spans_more additional spans. In timeline_select.c.
 * Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_select(const struct probity_timeline *timeline, size_t spans_more,
                            struct probity_timeline_stretch **ret_stretches, size_t *ret_count);

/* Clips a span to the range. Returns whether any of it is left. This and the next function are in
 * timeline_window.c. */
int timeline_window_clip(const struct probity_timeline *timeline,
                         struct probity_timeline_span *span);

/* Clips the axis and the threads' lifetimes to the range. */
void timeline_window_finish(struct probity_timeline *timeline);

/* In timeline.c. Recounts the calls and marks that are in merged spans. */
void probity_timeline_count_together(struct probity_timeline *timeline);

#endif
