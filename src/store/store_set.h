/* SPDX-License-Identifier: MIT
 *
 * store_set.h: what the files of store.h share, and nobody else sees.
 */
#ifndef PROBITY_STORE_STORE_SET_H
#define PROBITY_STORE_STORE_SET_H

#include <sqlite3.h>
#include <stdint.h>

#include "store/store.h"

struct probity_store {
    sqlite3 *database;
    char *path;
    struct sqlite3_vfs files; /* registered while it has a name */
    char files_name[32];
    char why[1024];
    int is_warned;   /* why is of something that was done nevertheless */
    uint32_t before; /* state of the history when the change began */
};

/* Puts what failed last into words. Returns the error that it is. */
int probity_store_fail(struct probity_store *store);
int probity_store_fail_with(struct probity_store *store, int error, const char *text);

/* Statements without a result, and one with one number. Return 0 or an error. */
int probity_store_run(struct probity_store *store, const char *sql);
int probity_store_number(struct probity_store *store, const char *sql, int64_t *ret_number);

/* A change: others wait until it ends; with an error, it did not happen, or the error says that
 * this is not known. */
int probity_store_begin(struct probity_store *store);
int probity_store_end(struct probity_store *store, int error);

#endif
