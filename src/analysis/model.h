/* SPDX-License-Identifier: MIT
 *
 * model.h: a trace to a workload model: thread groups, blocks with their demands and transitions
 * between them, queues, locks, requests, and what the model does not explain. doc/model.md defines
 * every value. After Tarvo, Reiss, "Automatic performance prediction of multithreaded programs: a
 * simulation approach", Automated Software Engineering 2017. Prints nothing.
 *
 * Memory: groups and pairs of probes in them, threads (100 bytes each), queues and locks up to
 * PROBITY_MODEL_STATIONS_MAX each, and what is under way (open_ids.h).
 */
#ifndef PROBITY_ANALYSIS_MODEL_H
#define PROBITY_ANALYSIS_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/probes.h"
#include "analysis/times.h"
#include "reader/reader.h"

enum {
    PROBITY_MODEL_VERSION = 1,
    PROBITY_MODEL_STATIONS_MAX = 4096,
    PROBITY_MODEL_SEEDS_MAX = 1024 /* names of threads times first probes */
};

struct probity_model_group;

/* A probe within a group: a state of its threads. hits = followed + ends. */
struct probity_model_node {
    const struct probity_probe *probe;
    const struct probity_model_group *group;
    uint32_t role;                        /* an enum probity_role */
    uint32_t number;                      /* its place in the group's list */
    uint64_t hits, followed, starts, ends; /* starts, ends: of threads */
};

/* What lies between a hit and the next one of the same thread. */
struct probity_model_block {
    const struct probity_model_node *from, *to;
    struct probity_times wall, cpu, off; /* cpu, off: where CPU time is known */
};

struct probity_model_group {
    const char *name; /* an asterisk for each number in which names differ; NULL without */
    uint32_t number;  /* its place in the model's list */
    uint64_t threads, hits;
    uint64_t lifetime_ns;               /* of all threads, from first to last record */
    uint64_t wall_ns;                   /* of it in blocks */
    uint64_t cpu_known_ns, cpu_ns;      /* CPU time of threads at their last hit; in blocks */
    struct probity_model_node *const *nodes; /* numbers, then names */
    size_t node_count;
    struct probity_model_block *const *blocks; /* by their nodes */
    size_t block_count;
};

/* Who hit a probe about a queue or a lock, or began or ended a request. */
struct probity_model_user {
    const struct probity_model_node *node;
    uint32_t role;
    uint64_t count;
    struct probity_model_user *next;
};

/* How many are there over time. */
struct probity_model_level {
    uint64_t now, max;
    uint64_t since_ns;
    probity_wide_sum area; /* level * ns up to since_ns */
};

/* L = lambda * W: two ways to the mean number in a system. */
struct probity_model_little {
    double length, rate_s, wait_ns; /* length: over time; rate: arrivals a second */
    double difference; /* of rate * wait from length, relative to the larger; 0 of none */
};

/* Queues, locks and requests have one shape: something arrives, stays, and departs. */
enum probity_model_kind {
    PROBITY_MODEL_QUEUE,   /* of an item: put, get */
    PROBITY_MODEL_LOCK,    /* of a holder: hold, release */
    PROBITY_MODEL_REQUEST, /* begin, end; a station is all requests that begin at one probe */
    PROBITY_MODEL_KINDS
};

struct probity_model_station {
    enum probity_model_kind kind;
    uint32_t trace, number; /* trace: of a queue or lock; number: its place in its list */
    uint64_t object;        /* likewise */
    const struct probity_probe *begin; /* of requests */
    char *name;
    uint64_t arrivals, departures;
    uint64_t strays;    /* departures of what has not arrived in the trace; of queues and locks */
    uint64_t again;     /* arrivals of what is there already */
    uint64_t forgotten; /* for want of room */
    uint64_t last_arrival_ns;
    struct probity_times gaps, stays; /* from arrival to arrival; from arrival to departure */
    struct probity_times waits;       /* of locks: from wait to hold */
    struct probity_model_level level;
    struct probity_model_little little;
    struct probity_model_user *users;
};

/* All that was found. */
struct probity_model_result {
    uint64_t hits, threads;
    uint64_t from_ns, to_ns; /* first and last hit, CLOCK_REALTIME */
    uint64_t cores;          /* online where the program ran; 0: not known */
    uint64_t lifetime_ns, wall_ns, cpu_known_ns, cpu_ns; /* of all groups */
    uint64_t ends_without_begin;
    uint64_t forgotten; /* ids for which there was no room */
    uint64_t hits_left_out;    /* of stations beyond the limit above */
    uint64_t threads_left_out; /* with names and beginnings beyond it: they are one group */
    double row_error; /* largest distance of a row's sum of probabilities from 1 */
    struct probity_model_group *const *groups;
    size_t group_count;
    struct probity_model_station *const *stations[PROBITY_MODEL_KINDS];
    size_t station_counts[PROBITY_MODEL_KINDS];
};

struct probity_model;

/* Hits in [from_ns, to_ns) of CLOCK_REALTIME; both 0: all. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_model_open(uint64_t from_ns, uint64_t to_ns, struct probity_model **ret_model);

/* Takes the next event in time order. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_model_put(struct probity_model *model, const struct probity_event *event);

/* Behind the last put. reader: of the events, may be NULL. The result is valid until close. Returns
 * 0 or PROBITY_ERROR_MEMORY. */
int probity_model_finish(struct probity_model *model, const struct probity_reader *reader,
                         const struct probity_model_result **ret_result);

void probity_model_close(struct probity_model *model);

/* Probability of a block behind its first probe. */
double probity_model_probability(const struct probity_model_block *block);

/* Mean level over the time of the model. */
double probity_model_mean_level(const struct probity_model_result *result,
                                const struct probity_model_level *level);

#endif
