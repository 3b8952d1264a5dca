/* SPDX-License-Identifier: MIT
 *
 * why.h: why a call or a span between two probes was slow: where its time was spent, what is usual
 * for such calls, and what differed. Every candidate call is divided in the same way, by what its
 * thread did (enum probity_why_part; the parts sum to the call) and by the functions below it. The
 * slowest calls are kept in full; the others contribute only to distributions, for medians.
 *
 * Memory: one entry per thread; for each candidate function, PROBITY_WHY_NODES_MAX paths below it,
 * each with three histograms; PROBITY_WHY_TARGETS_MAX names of locks, files and peers; and that of
 * path.h. Prints nothing.
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
    PROBITY_WHY_NODES_MAX = 4096,    /* time on other paths counts as their callers' */
    PROBITY_WHY_TARGETS_MAX = 65536, /* targets of waits; later ones are summed */
    PROBITY_WHY_WAITS_MAX = 16,      /* targets of one call; the others are summed */
    PROBITY_WHY_NESTED_MAX = 16      /* candidate calls open at the same time in a thread */
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
    PROBITY_WHY_BLOCKED,   /* blocked for no recorded reason; needs thread states */
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
    uint64_t longest_ns; /* the members below describe the longest wait */
    struct probity_past_doing doing;
    uint32_t culprit_slot, culprit_tid; /* the thread that held the target or ended the wait */
    struct probity_past_doing culprit_doing;
};

/* A path of calls below a function. The first node is that function. */
struct probity_why_node {
    struct probity_function_key key;
    uint32_t number, parent; /* index; the first node is its own parent */
    uint32_t child, sibling; /* index; 0: none */
    struct probity_histogram calls, wall, cpu; /* of the candidate calls that took this path */
};

/* Values of one candidate call on a path. */
struct probity_why_value {
    uint64_t calls, wall_ns, cpu_ns; /* including callees */
};

/* All calls of one function, or all spans. */
struct probity_why_group {
    struct probity_same_function function; /* unused for spans */
    struct probity_duration_stats durations;
    struct probity_histogram parts[PROBITY_WHY_PARTS]; /* only from calls in which it is not 0 */
    struct probity_why_node *nodes;
    size_t node_count, node_capacity;
    uint64_t nodes_lumped; /* calls below paths that did not fit */
};

/* One slow call. */
struct probity_why_case {
    const struct probity_why_group *group;
    uint64_t from_ns, to_ns; /* CLOCK_REALTIME */
    uint32_t thread_slot;
    int has_cpu, has_states;
    uint64_t parts[PROBITY_WHY_PARTS]; /* in ns; their sum is the call's time */
    struct probity_why_wait waits[PROBITY_WHY_WAITS_MAX + 1]; /* longest first */
    size_t wait_count;
    struct probity_why_value *values; /* by node; missing nodes are 0 */
    size_t value_count;
};

/* Why a call was slow. */
enum probity_why_cause_kind {
    PROBITY_WHY_CAUSE_NONE,      /* not slower than usual */
    PROBITY_WHY_CAUSE_LOCK,      /* from here to OFF: like the parts */
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
    double share;                 /* share of the difference to the median call; 0 to 1 */
    const struct probity_why_wait *wait; /* the longest wait of this part, or NULL */
    uint32_t culprit_slot, culprit_tid;  /* the thread that held the target, as in holders */
    struct probity_past_doing culprit_doing;
    const struct probity_why_node *node; /* the path to which the cause belongs; NULL: unknown */
    struct probity_why_value value, usual; /* at the node: in this call, and the medians */
};

struct probity_why_options {
    uint64_t from_ns, to_ns; /* calls that begin in [from, to); both 0: all */
    size_t slowest;          /* number of calls to keep, at least 1 */
    /* If not 0: keep only the call that is open in this thread at this time. */
    uint64_t at_ns;
    uint32_t at_tid; /* 0: any thread */
    /* Whether to keep calls of a thread with this id: 1 or 0. All others count only for medians.
     * NULL: those of all threads. */
    int (*is_wanted)(void *context, uint32_t tid);
    /* Whether calls of a function are candidates. NULL: candidates are spans. */
    int (*is_like)(void *context, const struct probity_function *function);
    /* Returns 1 if a hit begins a span in its thread, 2 if it ends one, 3 for both, or 0. */
    unsigned (*marks)(void *context, const struct probity_event *event);
    void *context;
    struct probity_wait_symbols symbols;
    /* 1: the traces have neither waits nor thread states, and each exit matches the innermost open
     * call. No path then leads to another thread, so paths are left out. */
    int has_no_waits;
    const struct probity_reader *resumed; /* if records are left out: continue from its states; or
                                           * NULL */
};

struct probity_why;

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_why_open(const struct probity_why_options *options, struct probity_why **ret_why);

/* Replaces at_ns of the options, for a time that is known only when an event is reached. UINT64_MAX
 * until then: no call is kept. */
void probity_why_choose(struct probity_why *why, uint64_t at_ns);

/* Takes the next event in time order. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_why_put(struct probity_why *why, const struct probity_event *event);

struct probity_run;

/* Takes a run of events (reader/run.h) in the same way. */
int probity_why_put_run(struct probity_why *why, const struct probity_run *run);

/* Returns the number of calls and spans that began in the range and have not ended. */
uint64_t probity_why_pending(const struct probity_why *why);

/* Returns the slowest calls that have ended, slowest first. Valid until close. */
const struct probity_why_case *const *probity_why_cases(const struct probity_why *why,
                                                        size_t *ret_count);

/* Returns the critical path of a case, for its parts in other threads, or NULL if it is unknown. */
const struct probity_path_span *probity_why_path(const struct probity_why *why,
                                                 const struct probity_why_case *of);

/* Returns the main cause. In why_cause.c. */
struct probity_why_cause probity_why_cause_of(const struct probity_why *why,
                                              const struct probity_why_case *of);

/* Returns the median of a value over all calls of a group; `fine` has the values that are not 0. */
uint64_t probity_why_median(const struct probity_why_group *group,
                            const struct probity_histogram *fine);

/* Returns the number of calls of the group that took at least ns. The limit is exact to 1/256. */
uint64_t probity_why_rank(const struct probity_why_group *group, uint64_t ns);

/* Return the values of a case on a path, and the medians. */
struct probity_why_value probity_why_value_of(const struct probity_why_case *of, size_t node);
struct probity_why_value probity_why_usual(const struct probity_why_group *group, size_t node);

/* Returns the paths, for the labels of threads. */
const struct probity_path *probity_why_paths(const struct probity_why *why);

const struct probity_scopes_repairs *probity_why_repairs(const struct probity_why *why);

/* Returns what is known about waits. */
struct probity_waits_facts probity_why_facts(const struct probity_why *why);

void probity_why_close(struct probity_why *why);

#endif
