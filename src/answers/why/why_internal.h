/* SPDX-License-Identifier: MIT
 *
 * why_internal.h: open candidate calls (why.c), with their values on each path below their function
 * (why_nodes.c) and their waits (why_waits.c).
 */
#ifndef PROBITY_ANSWERS_WHY_WHY_INTERNAL_H
#define PROBITY_ANSWERS_WHY_WHY_INTERNAL_H

#include "answers/why/why.h"

/* An open call or span. */
struct why_unit {
    struct why_unit *next; /* next free one */
    struct probity_why_group *group;
    uint32_t slot, tid;
    int is_call, has_cpu, has_states;
    uint64_t from_ns, cpu_ns;           /* at its beginning */
    struct probity_thread_split states; /* at its beginning */
    uint32_t depth;  /* open scopes that were entered in it */
    uint32_t node;   /* the path of the innermost open scope */
    uint32_t lumped; /* number of innermost scopes without a path of their own */
    uint64_t parts[PROBITY_WHY_PARTS];  /* of waits so far */
    uint64_t blocked_ns, unknown_ns;    /* part of these waits, by states */
    struct probity_why_wait waits[PROBITY_WHY_WAITS_MAX + 1]; /* the last entry sums the rest */
    size_t wait_count;
    struct probity_why_value *values; /* by node */
    uint32_t value_count;
    uint32_t *touched; /* nodes that have been given values */
    size_t touched_count, touched_capacity;
};

/* A thread, and its state when it last began something that may become a wait. */
struct why_thread {
    struct why_unit *units[PROBITY_WHY_NESTED_MAX]; /* open ones, in order of their beginning */
    size_t count;
    uint64_t marked_ns;
    struct probity_thread_split marked;
};

struct probity_why {
    struct probity_why_options options;
    struct probity_path *path;
    struct probity_scopes *scopes;
    struct probity_thread_states *states;
    int has_states; /* there was at least one thread state */
    struct why_thread *threads; /* by slot */
    uint32_t thread_count;
    struct why_unit *free;
    struct probity_same_functions groups; /* groups of calls */
    struct probity_why_group spans;
    struct probity_hashtable targets;
    struct probity_why_case **cases; /* slowest first */
    size_t case_count;
    uint64_t pending; /* open units in the range */
    int error; /* set by a callback */
};

/* Takes a wait that has ended in a thread with open units. For options.waited of path.h. */
int why_take_wait(void *context, const struct probity_wait *wait,
                  const struct probity_wait_name *name);

/* Adds the path of a scope that was entered. Returns 0 or PROBITY_ERROR_MEMORY. */
int why_unit_enter(struct why_unit *unit, const struct probity_scope *scope);

/* Adds a scope that has ended to its path, and returns to its caller. Returns the same as above. */
int why_unit_leave(struct why_unit *unit, const struct probity_scope *scope);

/* Adds values of a unit on a path. Returns the same as above. */
int why_unit_add(struct why_unit *unit, uint32_t node, const struct probity_why_value *value);

/* Adds the unit's values to the distributions of its group. Returns the same as above. */
int why_unit_distribute(struct why_unit *unit);

/* Prepares a unit for another call. */
void why_unit_clear(struct why_unit *unit);

/* Adds the first node. Returns the same as above. */
int why_group_begin(struct probity_why_group *group, const struct probity_function_key *key);

void why_group_release(struct probity_why_group *group);

#endif
