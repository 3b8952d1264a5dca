/* SPDX-License-Identifier: MIT
 *
 * timeline_names.h: what spans are called: functions, probes, sites. A part of timeline.c.
 */
#ifndef PROBITY_ANALYSIS_TIMELINE_NAMES_H
#define PROBITY_ANALYSIS_TIMELINE_NAMES_H

#include "analysis/timeline.h"

/* A function and its number among all names. */
struct timeline_function {
    struct probity_same_function same; /* first: of a set of them */
    uint32_t number;                   /* + 1; 0: has none yet */
};

/* A probe of a trace; or of any, by its text. */
struct timeline_probe {
    uint64_t key;
    uint32_t number; /* + 1; 0: no probe is here */
};

struct timeline_names {
    struct probity_timeline_name **items;
    size_t count, capacity;
    struct probity_same_functions functions;
    struct timeline_probe *probes; /* a hash table with open addressing; at most half full */
    size_t probe_count, probe_capacity;
    uint32_t message, checkpoint; /* + 1; 0: have no number yet */
};

/* Each finds or adds. Return 0 with the number, or PROBITY_ERROR_MEMORY. */
int timeline_names_function(struct timeline_names *names, const struct probity_function_key *key,
                            uint32_t *ret_number);
/* Of a hit, a message or a checkpoint. */
int timeline_names_mark(struct timeline_names *names, const struct probity_event *event,
                        uint32_t *ret_number);

void timeline_names_release(struct timeline_names *names);

#endif
