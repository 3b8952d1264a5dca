/* SPDX-License-Identifier: MIT
 *
 * model_internal.h: what the files of the model share while events come.
 *
 *     thread ──► seed ──► node ──► pair ──► node        model.c: the course of threads
 *                  └── several become a group           model_groups.c: at the end
 *     station ──► user ──► node                         model_stations.c: what hits are about
 *
 * A seed holds the threads that have one name and one first probe: that is known at a thread's
 * first hit, so no thread needs a table of its own. Seeds that turn out to do the same are joined
 * at the end.
 */
#ifndef PROBITY_ANALYSIS_MODEL_INTERNAL_H
#define PROBITY_ANALYSIS_MODEL_INTERNAL_H

#include "analysis/model.h"
#include "analysis/open_ids.h"
#include "base/chains.h"
#include "probity_typed.h"

/* Powers of two. */
enum { MODEL_RECENT = 16, MODEL_STATION_CHAINS = 1024 };

struct model_pair {
    struct probity_link link; /* of those from one node, by place of the second probe */
    struct probity_model_block block;
    struct model_node *to;
    struct model_pair *next; /* of those from one node */
};

struct model_node {
    struct probity_model_node node;
    struct model_seed *seed;
    struct model_node *into; /* where it was joined with another one; NULL: it was not */
    struct model_node *next; /* of its seed */
    struct model_pair *pairs;
    struct probity_chains chains;
    struct model_pair *recent[MODEL_RECENT]; /* by place of the second probe */
};

struct model_seed {
    struct probity_model_group group;
    char *pattern;                      /* asterisks for numbers */
    char *name;                         /* of the first thread */
    int is_pattern;                     /* names differ */
    const struct probity_probe *first;
    struct model_node *nodes;
    struct model_node **places;         /* by place of the probe */
    uint32_t place_count;
    int is_joined;                      /* into another one */
    struct probity_model_node **node_list;
    struct probity_model_block **block_list;
    struct model_seed *next;
};

struct model_thread {
    struct model_seed *seed;
    struct model_node *last;
    uint64_t wall_ns, cpu_ns;           /* of the last hit */
    uint64_t first_ns, last_ns;         /* of all records */
    uint64_t wait_object, wait_since_ns;
    char *name;                         /* until it has a seed */
    uint8_t is_cpu_known, is_seen, is_waiting, is_cut;
};

struct model_station {
    struct probity_model_station station;
    struct model_station *chain;
};

struct probity_model {
    uint64_t from_ns, to_ns;
    uint64_t now_ns; /* never goes back, as CLOCK_REALTIME may */
    struct model_thread *threads; /* by slot */
    uint32_t thread_count;
    uint32_t seed_count;
    struct model_seed *seeds, *rest; /* rest: of threads beyond PROBITY_MODEL_SEEDS_MAX seeds */
    struct probity_probes probes;
    struct probity_open_ids open;
    struct model_station *stations[MODEL_STATION_CHAINS];
    struct probity_model_result result;
    struct probity_model_group **group_list;
    struct probity_model_station **station_list; /* all kinds, one behind the other */
};

/* ---- model_stations.c ---- */

/* A hit with a role, at model->now_ns. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_model_put_role(struct probity_model *model, struct model_thread *thread,
                           const struct probity_event *event);

/* What is still under way lasts to the end; then lists, in order. Returns 0 or MEMORY. */
int probity_model_finish_stations(struct probity_model *model);

void probity_model_free_stations(struct probity_model *model);

/* ---- model_groups.c ---- */

/* The node of a probe in a seed, made where it is not there. NULL without memory. */
struct model_node *probity_model_node(struct model_seed *seed, const struct probity_probe *probe,
                                      uint32_t role);

/* Likewise: what goes from one node to another of the same seed. */
struct model_pair *probity_model_pair(struct model_node *from, struct model_node *to);

/* The seed of a thread that begins with this probe. Takes the name. NULL without memory. */
struct model_seed *probity_model_seed(struct probity_model *model, struct model_thread *thread,
                                      const struct probity_probe *first);

/* Joins seeds and makes lists. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_model_finish_groups(struct probity_model *model);

void probity_model_free_groups(struct probity_model *model);

#endif
