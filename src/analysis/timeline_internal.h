/* SPDX-License-Identifier: MIT
 *
 * timeline_internal.h: a time line as its own files see it.
 */
#ifndef PROBITY_ANALYSIS_TIMELINE_INTERNAL_H
#define PROBITY_ANALYSIS_TIMELINE_INTERNAL_H

#include "analysis/timeline_lane.h"
#include "analysis/timeline_names.h"

/* Values of all calls that are kept; beyond, those of shorter calls go. Likewise of those that are
 * seen closer. */
enum { TIMELINE_VALUES_BYTES_MAX = 12 << 20, TIMELINE_VALUES_BYTES_CLOSER = 4 << 20 };

struct timeline_thread {
    struct probity_timeline_thread facts;
    struct timeline_bytes *open; /* values of open calls, by depth */
    uint32_t place;              /* in the list of threads */
    uint64_t wall_ns, cpu_ns;    /* of the newest record that tells CPU time; wall 0: none */
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
    struct probity_timeline_stretch *stretches; /* seen closer; of the one that does: to be seen */
    size_t stretch_count;
    size_t stretch; /* of the one that does: the last that anything was in */
    int is_closer;  /* 1: it is the second look */
    int error; /* of a listener, which cannot return it */
};

/* Doubles the unit until a quarter of the budget is free. In timeline_budget.c, as the next. */
void probity_timeline_coarsen(struct probity_timeline *timeline);

/* Forgets values that nobody has any more, and then those of the shortest calls, until half of the
 * room is free. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_sweep_values(struct probity_timeline *timeline);

/* The stretches that are worth a closer look and take so many spans more at most. In
 * timeline_choose.c. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_timeline_choose(const struct probity_timeline *timeline, size_t spans_more,
                            struct probity_timeline_stretch **ret_stretches, size_t *ret_count);

/* Counts anew what is in spans with others. */
void probity_timeline_count_together(struct probity_timeline *timeline);

#endif
