/* SPDX-License-Identifier: MIT
 *
 * store.h: the history of a project's runs, in one SQLite file (doc/runs.md). It contains the
 * values of each run that a comparison needs, not its trace. Several processes may use a history
 * concurrently; changes are atomic. For use by one thread at a time. Needs libsqlite3.
 */
#ifndef PROBITY_STORE_STORE_H
#define PROBITY_STORE_STORE_H

#include "answers/diff/compare_run.h"

struct probity_store;

/* A run in the history. */
struct probity_store_entry {
    uint64_t number;   /* never assigned to another run */
    char id[20];       /* used in place of the number if the run is not in a history; or "" */
    uint64_t added_ns; /* CLOCK_REALTIME */
    uint64_t counts[PROBITY_COMPARE_KINDS]; /* number of its items; UINT64_MAX: unknown */
    struct probity_compare_run run; /* its path is that of the trace when the run was added */
};

/* Selects runs. */
struct probity_store_choice {
    uint64_t number;   /* 0: any */
    const char *label; /* NULL: any */
};

enum probity_store_put {
    PROBITY_STORE_ADDED,
    PROBITY_STORE_UPDATED, /* the run existed and was replaced */
    PROBITY_STORE_KEPT     /* the existing run is complete; this copy is neither complete nor
                            * longer */
};

/* Create a history, or open one for reading or writing. A history of version 1, which has no
 * requests, is converted by create, and when a run is put into it. Return 0 or an error. After an
 * error *ret_store can be queried for the reason and must be closed; NULL: out of memory. */
int probity_store_create(const char *path, struct probity_store **ret_store);
int probity_store_open(const char *path, int is_for_writing, struct probity_store **ret_store);

/* Describes the last failure and its reason, in one sentence. */
const char *probity_store_why(const struct probity_store *store);

/* Describes a failure after a change that took effect nevertheless; NULL: none. */
const char *probity_store_warning(const struct probity_store *store);

/* Whether create or put has converted the history since it was opened. */
int probity_store_is_converted(const struct probity_store *store);

/* Adds a run, or replaces the run of the same session. label NULL: that of the existing run or, for
 * a new run, its own label. ret_number: that of the run. Returns 0 or an error. */
int probity_store_put(struct probity_store *store, const struct probity_compare_run *run,
                      const char *label, uint64_t *ret_number, enum probity_store_put *ret_how);

/* Calls `take` for each selected run, in order of their starts, without its items. `take` returns 0
 * to continue; any other value stops the iteration and is returned. It may load the run, and may
 * take ownership of it if it leaves an empty one. */
typedef int probity_store_take(void *context, struct probity_store_entry *entry);
int probity_store_each(struct probity_store *store, const struct probity_store_choice *choice,
                       probity_store_take *take, void *context);

/* Adds the items of a run. Returns 0 or an error. */
int probity_store_load(struct probity_store *store, uint64_t number,
                       struct probity_compare_run *run);

/* Removes the selected runs; ret_count: how many. Returns 0 or an error. */
int probity_store_remove(struct probity_store *store, const struct probity_store_choice *choice,
                         uint64_t *ret_count);

void probity_store_close(struct probity_store *store);

#endif
