/* SPDX-License-Identifier: MIT
 *
 * store_set.h: what the files of store.h share, and nobody else sees.
 */
#ifndef PROBITY_STORE_STORE_SET_H
#define PROBITY_STORE_STORE_SET_H

#include <sqlite3.h>

#include "store/store.h"

struct probity_store {
    sqlite3 *database;
    char *path;
    struct sqlite3_vfs files; /* registered while it has a name */
    char files_name[32];
    char why[1024];
};

/* Puts what failed last into words. Returns the error that it is. */
int probity_store_fail(struct probity_store *store);

/* A change: others wait until it ends; with an error, it did not happen. */
int probity_store_begin(struct probity_store *store);
int probity_store_end(struct probity_store *store, int error);

#endif
