/* SPDX-License-Identifier: MIT
 *
 * timeline_names.h: names of spans: functions, probes, sites. Part of timeline.c.
 */
#ifndef PROBITY_ANSWERS_TIMELINE_TIMELINE_NAMES_H
#define PROBITY_ANSWERS_TIMELINE_TIMELINE_NAMES_H

#include "answers/timeline/timeline.h"

/* A function and its number among all names. */
struct timeline_function {
    struct probity_same_function same; /* first member, as an element of a set */
    uint32_t number;                   /* number + 1; 0: not numbered yet */
};

/* A probe of one trace or, if identified by its text, of any trace. */
struct timeline_probe {
    struct probity_link link;
    uint64_t key;
    uint32_t number;
};

struct timeline_names {
    struct probity_timeline_name **items;
    size_t count, capacity;
    struct probity_same_functions functions;
    struct probity_hashtable probes; /* also has the pairs */
    size_t pair_count;
    uint32_t message, checkpoint; /* number + 1; 0: not numbered yet */
};

/* Finds or adds a function. Returns 0 and the number, or PROBITY_ERROR_MEMORY. */
int timeline_names_function(struct timeline_names *names, const struct probity_function_key *key,
                            uint32_t *ret_number);
/* Does the same for a hit, a message or a checkpoint. */
int timeline_names_mark(struct timeline_names *names, const struct probity_event *event,
                        uint32_t *ret_number);

/* Finds or adds a block between two names, or a thread as holder or waiter: first is its index and
 * second 0. Beyond PROBITY_TIMELINE_PAIRS_MAX blocks, returns one without a second name. Returns
 * the same as above. */
int timeline_names_pair(struct timeline_names *names, enum probity_timeline_name_kind kind,
                        uint32_t first, uint32_t second, uint32_t *ret_number);

void timeline_names_release(struct timeline_names *names);

#endif
