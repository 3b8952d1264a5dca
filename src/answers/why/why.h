/* SPDX-License-Identifier: MIT
 *
 * why.h: why a call or a span between two probes was slow: where its time went, what is usual for
 * such calls, and what differed. Every candidate call is divided in the same way, by what its
 * thread did (enum probity_why_part; the parts sum to the call) and by the functions below it. The
 * slowest calls are kept in full; the others only contribute to distributions, for medians.
 *
 * Memory: threads; for each such function PROBITY_WHY_NODES_MAX paths below it, with a histogram of
 * each of three values; PROBITY_WHY_TARGETS_MAX names of locks, files and peers; and path.h. Prints
 * nothing.
 */
#ifndef PROBITY_ANSWERS_WHY_WHY_H
#define PROBITY_ANSWERS_WHY_WHY_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/duration_stats.h"
#include "analysis/same_function.h"
#include "analysis/thread_states.h"
#include "answers/path/path.h"

enum {
    PROBITY_WHY_NODES_MAX = 4096,    /* time below them counts as their own */
    PROBITY_WHY_TARGETS_MAX = 65536, /* targets of waits; later ones are summed up */
    PROBITY_WHY_WAITS_MAX = 16,      /* different targets of one call; the rest is summed up */
    PROBITY_WHY_NESTED_MAX = 16      /* candidate calls that are open at once in a thread */
};

/* Parts of the time of a call. */
enum probity_why_part {
    PROBITY_WHY_RUNNING,
    PROBITY_WHY_LOCK,      /* waiting for a lock or semaphore */
    PROBITY_WHY_CONDITION, /* waiting for another thread: condition, barrier, join, futex */
    PROBITY_WHY_IO,        /* off the CPU in a call to the C library */
    PROBITY_WHY_SLEEP,
    PROBITY_WHY_PROCESS,   /* waiting for a child process */
    PROBITY_WHY_RUNNABLE,  /* waiting for a CPU; known only with thread states */
    PROBITY_WHY_BLOCKED,   /* blocked for no recorded reason; the same */
    PROBITY_WHY_OFF,       /* off the CPU for no recorded reason, without thread states */
    PROBITY_WHY_UNKNOWN,
    PROBITY_WHY_PARTS
};

/* The object of waits. Valid until close. */
struct probity_why_target {
    struct probity_link link;
    enum probity_wait_what what;
    uint64_t object; /* address or number of a lock or condition, else 0 */
    char *name;
};

/* The waits of one call for one target. */
struct probity_why_wait {
    const struct probity_why_target *target; /* NULL: several */
    enum probity_why_part part;
    uint64_t ns, count;
    uint64_t longest_ns; /* the following are those of the longest wait */
    struct probity_past_doing doing;
    uint32_t culprit_slot, culprit_tid; /* the thread that held it or ended the wait */
    struct probity_past_doing culprit_doing;
};

/* A path of calls below a function. The first node is that function. */
struct probity_why_node {
    struct probity_function_key key;
    uint32_t number, parent; /* index; the first node is its own parent */
    uint32_t child, sibling; /* index, 0: none */
    struct probity_histogram calls, wall, cpu; /* of each candidate call that took this path */
};

/* Values of one candidate call on a path. */
struct probity_why_value {
    uint64_t calls, wall_ns, cpu_ns; /* including callees */
};

/* All calls of one function, or all spans. */
struct probity_why_group {
    struct probity_same_function function; /* of no meaning for spans */
    struct probity_duration_stats durations;
    struct probity_histogram parts[PROBITY_WHY_PARTS]; /* without the calls in which it is 0 */
    struct probity_why_node *nodes;
    size_t node_count, node_capacity;
    uint64_t nodes_lumped; /* calls below a path for which there was no room */
};

/* One slow call. */
struct probity_why_case {
    const struct probity_why_group *group;
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME */
    uint32_t thread_slot;
    int has_cpu, has_states;
    uint64_t parts[PROBITY_WHY_PARTS]; /* ns; sum to the call */
    struct probity_why_wait waits[PROBITY_WHY_WAITS_MAX + 1]; /* most time first */
    size_t wait_count;
    struct probity_why_value *values; /* by node; later nodes are 0 */
    size_t value_count;
};

/* Why it was slow. */
enum probity_why_cause_kind {
    PROBITY_WHY_CAUSE_NONE,      /* not slower than usual */
    PROBITY_WHY_CAUSE_LOCK,      /* from here to OFF: as the parts */
    PROBITY_WHY_CAUSE_CONDITION,
    PROBITY_WHY_CAUSE_IO,
    PROBITY_WHY_CAUSE_SLEEP,
    PROBITY_WHY_CAUSE_PROCESS,
    PROBITY_WHY_CAUSE_DESCHEDULED,
    PROBITY_WHY_CAUSE_BLOCKED,
    PROBITY_WHY_CAUSE_OFF,
    PROBITY_WHY_CAUSE_MORE_WORK, /* a function took longer on the CPU */
    PROBITY_WHY_CAUSE_MORE_CALLS,
    PROBITY_WHY_CAUSES
};

struct probity_why_cause {
    enum probity_why_cause_kind kind;
    enum probity_why_part part;   /* the part that grew most */
    uint64_t ns, usual_ns;        /* of this part: in this call, and the median */
    double share;                 /* of the difference to the median call; 0 to 1 */
    const struct probity_why_wait *wait; /* the longest of this part; or NULL */
    uint32_t culprit_slot, culprit_tid;  /* the thread that held the target; see holders */
    struct probity_past_doing culprit_doing;
    const struct probity_why_node *node; /* the path on which it happened; NULL: unknown */
    struct probity_why_value value, usual; /* of the node: in this call, and medians */
};

struct probity_why_options {
    uint64_t from_ns, to_ns; /* calls that begin in [from, to); both 0: all */
    size_t slowest;          /* number to keep, at least 1 */
    /* If not 0: keep only the call that is open in this thread at this time. */
    uint64_t at_ns;
    uint32_t at_tid; /* 0: any thread */
    /* Whether to keep calls of a thread with this id: 1 or 0. The others only count for medians.
     * NULL: those of all threads. */
    int (*is_wanted)(void *context, uint32_t tid);
    /* Whether calls of a function are candidates; NULL: spans are. */
    int (*is_like)(void *context, const struct probity_function *function);
    /* Whether a hit begins and ends a span in its thread (bits 1 and 2). */
    unsigned (*marks)(void *context, const struct probity_event *event);
    void *context;
    struct probity_wait_symbols symbols;
    /* 1: the traces have neither waits nor thread states, and each exit matches the innermost open
     * call, so that no path leads to another thread: paths are left out. */
    int has_no_waits;
    const struct probity_reader *resumed; /* continue from its states, if records are left out; or
                                           * NULL */
};

struct probity_why;

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_why_open(const struct probity_why_options *options, struct probity_why **ret_why);

/* Replaces at_ns of the options from now on, for a time that is known only when an event is
 * reached. UINT64_MAX, until then, keeps no call. */
void probity_why_choose(struct probity_why *why, uint64_t at_ns);

/* Takes the next event in time order. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_why_put(struct probity_why *why, const struct probity_event *event);

struct probity_run;

/* Takes a run of events (reader/run.h) in the same way. */
int probity_why_put_run(struct probity_why *why, const struct probity_run *run);

/* Number of calls and spans that began in the range and have not ended. */
uint64_t probity_why_pending(const struct probity_why *why);

/* The slowest calls that have ended, slowest first. Valid until close. */
const struct probity_why_case *const *probity_why_cases(const struct probity_why *why,
                                                        size_t *ret_count);

/* The critical path of a case, for the part that other threads had; NULL if it is not known. */
const struct probity_path_span *probity_why_path(const struct probity_why *why,
                                                 const struct probity_why_case *of);

/* The main difference. In why_cause.c. */
struct probity_why_cause probity_why_cause_of(const struct probity_why *why,
                                              const struct probity_why_case *of);

/* The median over all calls of a group of a value; `fine` has those that are not 0. */
uint64_t probity_why_median(const struct probity_why_group *group,
                            const struct probity_histogram *fine);

/* Number of calls of the group that took at least ns; exact to 1/256 of ns. */
uint64_t probity_why_rank(const struct probity_why_group *group, uint64_t ns);

/* Values of a case on a path, and the medians. */
struct probity_why_value probity_why_value_of(const struct probity_why_case *of, size_t node);
struct probity_why_value probity_why_usual(const struct probity_why_group *group, size_t node);

/* For threads. */
const struct probity_path *probity_why_paths(const struct probity_why *why);

const struct probity_scopes_repairs *probity_why_repairs(const struct probity_why *why);

/* What is known about waits. */
struct probity_waits_facts probity_why_facts(const struct probity_why *why);

void probity_why_close(struct probity_why *why);

#endif
