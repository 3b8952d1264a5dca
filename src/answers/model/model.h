/* SPDX-License-Identifier: MIT
 *
 * model.h: derives a workload model from a trace: thread groups, blocks with their demands and
 * transitions between them, queues, locks, requests, and consistency checks. doc/model.md defines
 * every value. Based on Tarvo, Reiss, "Automatic performance prediction of multithreaded programs:
 * a simulation approach", Automated Software Engineering 2017. Prints nothing.
 *
 * Memory: groups and the pairs of probes in them, threads (100 bytes each), at most
 * PROBITY_MODEL_STATIONS_MAX stations of each kind, and ids in flight (inflight.h).
 */
#ifndef PROBITY_ANSWERS_MODEL_MODEL_H
#define PROBITY_ANSWERS_MODEL_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/duration_stats.h"
#include "analysis/probes.h"
#include "reader/reader.h"

enum {
    PROBITY_MODEL_VERSION = 1,
    PROBITY_MODEL_STATIONS_MAX = 4096,
    PROBITY_MODEL_SEEDS_MAX = 1024 /* pairs of a thread name and a first probe */
};

struct probity_model_group;

/* A probe within a group: a state of its threads. hits = followed + ends. */
struct probity_model_node {
    const struct probity_probe *probe;
    const struct probity_model_group *group;
    uint32_t role;                        /* an enum probity_role */
    uint32_t number;                      /* index in the group's list */
    uint64_t hits, followed, starts, ends; /* starts, ends: threads that start or end here */
};

/* The span between a hit and the thread's next one. */
struct probity_model_block {
    const struct probity_model_node *from, *to;
    struct probity_duration_stats wall, cpu, off; /* cpu, off: only blocks with known CPU time */
};

/* Calls to an I/O function of the C library by the threads of a group. */
struct probity_model_call {
    const char *name;
    struct probity_duration_stats wall, off; /* off: only calls with known CPU time */
    struct probity_model_call *next;         /* sorted by name */
};

struct probity_model_group {
    const char *name; /* with an asterisk for each number that differs; or NULL */
    uint32_t number;  /* index in the model's list */
    uint64_t threads, hits;
    uint64_t lifetime_ns;               /* of all threads, from first to last record */
    uint64_t wall_ns;                   /* the part of it that is in blocks */
    uint64_t cpu_known_ns, cpu_ns;      /* CPU time of threads at their last hit; in blocks */
    struct probity_model_node *const *nodes; /* numbers, then names */
    size_t node_count;
    struct probity_model_block *const *blocks; /* sorted by their nodes */
    size_t block_count;
    struct probity_duration_stats run_queue; /* waits for a CPU, if thread states are known */
    struct probity_model_call *calls;        /* in or after blocks of the group's threads */
};

/* A node whose probe operates on a queue or lock, or begins or ends a request. */
struct probity_model_user {
    const struct probity_model_node *node;
    uint32_t role;
    uint64_t count;
    struct probity_model_user *next;
};

/* The number of items present, over time. */
struct probity_model_level {
    uint64_t now, max;
    uint64_t since_ns;
    probity_wide_sum area; /* level * ns up to since_ns */
};

/* L = lambda * W: the mean number in a system, computed from both sides. */
struct probity_model_little {
    double length, rate_s, wait_ns; /* length: mean over time; rate: arrivals per second */
    double difference; /* between rate * wait and length, relative to the larger; 0 if both are 0 */
};

/* Queues, locks, requests and conditions share one model: items arrive, stay and depart. */
enum probity_model_kind {
    PROBITY_MODEL_QUEUE,   /* items: put, get */
    PROBITY_MODEL_LOCK,    /* holders: hold, release */
    PROBITY_MODEL_REQUEST, /* begin, end; requests that begin at one probe share a station */
    PROBITY_MODEL_CONDITION, /* waiters: condition wait, woken; with its mutex, it guards a queue */
    PROBITY_MODEL_KINDS
};

struct probity_model_station {
    enum probity_model_kind kind;
    uint32_t trace, number; /* trace: not for requests; number: index in its list */
    uint64_t object;        /* of a queue, lock or condition */
    uint64_t mutex;         /* of a condition: the lock released while waiting; 0: none */
    uint64_t notifies;      /* of a condition */
    const struct probity_probe *begin; /* of requests */
    char *name;
    uint64_t arrivals, departures;
    uint64_t strays;    /* of queues and locks: departures whose arrival is not in the trace */
    uint64_t again;     /* arrivals of an id that is already present */
    uint64_t forgotten; /* evicted for lack of room */
    uint64_t last_arrival_ns, last_arrival_switches; /* switches: of sites before it */
    uint32_t last_arrival_trace;
    /* from arrival to arrival; from arrival to departure */
    struct probity_duration_stats gaps, stays;
    struct probity_duration_stats waits; /* of locks: from wait to hold */
    struct probity_model_level level;
    struct probity_model_little little;
    struct probity_model_user *users;
};

/* The complete model. */
struct probity_model_result {
    uint64_t hits, threads;
    uint64_t from_ns, to_ns; /* first and last hit, CLOCK_REALTIME */
    uint64_t cores;          /* online CPUs of the traced machine; 0: unknown */
    uint64_t lifetime_ns, wall_ns, cpu_known_ns, cpu_ns; /* of all groups */
    uint64_t ends_without_begin;
    uint64_t forgotten; /* ids evicted for lack of room */
    uint64_t hits_left_out;    /* hits of stations beyond the limits above */
    uint64_t threads_left_out; /* beyond PROBITY_MODEL_SEEDS_MAX; together they form one group */
    int has_states; /* the events included thread states */
    double row_error; /* maximum deviation of a row's sum of probabilities from 1 */
    struct probity_model_group *const *groups;
    size_t group_count;
    struct probity_model_station *const *stations[PROBITY_MODEL_KINDS];
    size_t station_counts[PROBITY_MODEL_KINDS];
};

struct probity_model;

/* Takes only hits in [from_ns, to_ns) of CLOCK_REALTIME; both 0: all. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_model_open(uint64_t from_ns, uint64_t to_ns, struct probity_model **ret_model);

/* Takes the next event in time order. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_model_put(struct probity_model *model, const struct probity_event *event);

/* Returns the number of threads that have waited for a CPU since a time in the range, according to
 * thread states. Until they run, the model is not complete. */
uint64_t probity_model_pending(const struct probity_model *model);

/* Call after the last put. reader: the source of the events, or NULL. The result is valid until
 * close. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_model_finish(struct probity_model *model, const struct probity_reader *reader,
                         const struct probity_model_result **ret_result);

void probity_model_close(struct probity_model *model);

/* Returns the probability that this block follows its first probe. */
double probity_model_probability(const struct probity_model_block *block);

/* Returns the mean level over the time covered by the model. */
double probity_model_mean_level(const struct probity_model_result *result,
                                const struct probity_model_level *level);

#endif
