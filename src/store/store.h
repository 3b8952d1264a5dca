/* SPDX-License-Identifier: MIT
 *
 * store.h: the history of runs of a project, in one SQLite file (doc/runs.md). Holds what a
 * comparison needs of each run, not its trace. Several processes may use a history at the same
 * time; a change is whole or did not happen. A store belongs to one thread at a time. Needs
 * libsqlite3.
 */
#ifndef PROBITY_STORE_STORE_H
#define PROBITY_STORE_STORE_H

#include "analysis/compare_run.h"

struct probity_store;

/* A run as the history has it. */
struct probity_store_entry {
    uint64_t number;   /* never used again */
    uint64_t added_ns; /* CLOCK_REALTIME */
    uint64_t counts[PROBITY_COMPARE_KINDS]; /* of its items */
    struct probity_compare_run run; /* its path is that of the trace when it was added */
};

/* Which runs are meant. */
struct probity_store_choice {
    uint64_t number;   /* 0: any */
    const char *label; /* NULL: any */
};

enum probity_store_put {
    PROBITY_STORE_ADDED,
    PROBITY_STORE_UPDATED, /* it was there */
    PROBITY_STORE_KEPT     /* it was there and complete, and this copy is not, nor has it more */
};

/* Makes a history, or opens one to read or to write it. On failure *ret_store is there to ask why,
 * and to be closed; or NULL: no memory. Return 0 or an error. */
int probity_store_create(const char *path, struct probity_store **ret_store);
int probity_store_open(const char *path, int is_for_writing, struct probity_store **ret_store);

/* One sentence: what failed last, and why. */
const char *probity_store_why(const struct probity_store *store);

/* The same of a failure behind a change that was made all the same; NULL: there was none. */
const char *probity_store_warning(const struct probity_store *store);

/* Adds a run, or puts it in the place of what is there of the same session. label NULL: the one
 * that is there, of a new run its own. ret_number: the run's. Returns 0 or an error. */
int probity_store_put(struct probity_store *store, const struct probity_compare_run *run,
                      const char *label, uint64_t *ret_number, enum probity_store_put *ret_how);

/* Hands out the runs that are meant, in the order of their starts, without their items. `take`
 * returns 0 to go on; anything else ends it and is returned. It may load runs, and keep the run
 * of the entry if it leaves an empty one. */
typedef int probity_store_take(void *context, struct probity_store_entry *entry);
int probity_store_each(struct probity_store *store, const struct probity_store_choice *choice,
                       probity_store_take *take, void *context);

/* Adds the items of a run. Returns 0 or an error. */
int probity_store_load(struct probity_store *store, uint64_t number,
                       struct probity_compare_run *run);

/* Removes the runs that are meant; ret_count: how many. Returns 0 or an error. */
int probity_store_remove(struct probity_store *store, const struct probity_store_choice *choice,
                         uint64_t *ret_count);

void probity_store_close(struct probity_store *store);

#endif
