/* SPDX-License-Identifier: MIT
 *
 * model_internal.h: state of the model while events are read.
 *
 *     thread ──► seed ──► node ──► pair ──► node        model.c: the path of each thread
 *                  └── several become a group           model_groups.c: at the end
 *     station ──► user ──► node                         model_stations.c: objects of hits
 *
 * A seed holds the threads with the same name and the same first probe. Both are known at a
 * thread's first hit, so threads need no tables of their own. Seeds that behave similarly are
 * merged at the end.
 */
#ifndef PROBITY_ANSWERS_MODEL_MODEL_INTERNAL_H
#define PROBITY_ANSWERS_MODEL_MODEL_INTERNAL_H

#include "analysis/inflight.h"
#include "answers/model/model.h"
#include "base/hashtable.h"
#include "probity_typed.h"

/* Powers of two. */
enum { MODEL_RECENT = 16, MODEL_STATION_CHAINS = 1024 };

struct model_pair {
    struct probity_link link; /* among the pairs from one node, by index of the second probe */
    struct probity_model_block block;
    struct model_node *to;
    struct model_pair *next; /* next pair from the same node */
};

struct model_node {
    struct probity_model_node node;
    struct model_seed *seed;
    struct model_node *into; /* the node that this one was merged into, or NULL */
    struct model_node *next; /* within the seed */
    struct model_pair *pairs;
    struct probity_hashtable chains;
    struct model_pair *recent[MODEL_RECENT]; /* by index of the second probe */
};

struct model_seed {
    struct probity_model_group group;
    char *pattern;                      /* name with asterisks in place of numbers */
    char *name;                         /* name of its first thread */
    int is_pattern;                     /* its threads have different names */
    const struct probity_probe *first;
    struct model_node *nodes;
    struct model_node **places;         /* by index of the probe */
    uint32_t place_count;
    int is_joined;                      /* merged into another seed */
    struct probity_model_node **node_list;
    struct probity_model_block **block_list;
    struct model_seed *next;
};

struct model_thread {
    struct model_seed *seed;
    struct model_node *last;
    uint64_t wall_ns, cpu_ns;           /* at the last hit */
    uint64_t first_ns, last_ns;         /* first and last record */
    uint64_t wait_object, wait_since_ns;
    uint64_t state_ns;                  /* when its state began, according to the scheduler */
    const struct probity_function *call; /* call of the C library in progress, or NULL */
    uint64_t call_ns, call_cpu_ns;      /* when the call began */
    uint32_t state;
    char *name;                         /* stored until the thread has a seed */
    uint32_t trace;
    uint8_t is_cpu_known, is_seen, is_waiting, is_cut, is_call_cpu_known;
};

struct model_station {
    struct probity_model_station station;
    struct model_station *chain;
};

struct probity_model {
    uint64_t from_ns, to_ns;
    uint64_t now_ns; /* monotonic, unlike CLOCK_REALTIME */
    struct model_thread *threads; /* by slot */
    uint32_t thread_count;
    uint32_t runnable; /* threads that wait for a CPU since a time in the range */
    uint32_t seed_count;
    struct model_seed *seeds, *rest; /* rest: for threads beyond PROBITY_MODEL_SEEDS_MAX seeds */
    struct probity_probes probes;
    struct probity_inflight open;
    struct model_station *stations[MODEL_STATION_CHAINS];
    uint64_t *switched; /* by trace: value of `switches` when its sites were last switched, or 0 */
    uint32_t switched_count;
    uint64_t switches; /* how often sites were switched */
    struct probity_model_result result;
    struct probity_model_group **group_list;
    struct probity_model_station **station_list; /* all kinds, one after another */
};

/* ---- model_stations.c ---- */

/* Called when sites of a trace were switched: discards what is open in it (held locks, items and
 * requests) and its last arrivals. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_model_forget(struct probity_model *model, uint32_t trace);

/* Takes a hit that has a role, at model->now_ns. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_model_put_role(struct probity_model *model, struct model_thread *thread,
                           const struct probity_event *event);

/* Extends everything that is still open to the end, then makes sorted lists. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_model_finish_stations(struct probity_model *model);

void probity_model_free_stations(struct probity_model *model);

/* ---- model_demands.c ---- */

/* Take a thread state, and the beginning or end of a call. Return 0 or PROBITY_ERROR_MEMORY. */
int probity_model_put_state(struct probity_model *model, struct model_thread *thread,
                            const struct probity_event *event);
int probity_model_put_call(struct model_thread *thread, const struct probity_event *event);

/* Adds the demands of a group that is being merged. Returns the same as above. */
int probity_model_join_demands(struct probity_model_group *to,
                               const struct probity_model_group *from);

void probity_model_free_demands(struct probity_model_group *group);

/* ---- model_groups.c ---- */

/* Finds or adds the node of a probe in a seed. Returns NULL if out of memory. */
struct model_node *probity_model_node(struct model_seed *seed, const struct probity_probe *probe,
                                      uint32_t role);

/* Finds or adds the transition between two nodes of a seed. Returns NULL if out of memory. */
struct model_pair *probity_model_pair(struct model_node *from, struct model_node *to);

/* Finds or adds the seed for a thread that begins with this probe, and takes ownership of the
 * thread's name. Returns NULL if out of memory. */
struct model_seed *probity_model_seed(struct probity_model *model, struct model_thread *thread,
                                      const struct probity_probe *first);

/* Merges seeds and makes lists. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_model_finish_groups(struct probity_model *model);

void probity_model_free_groups(struct probity_model *model);

#endif
