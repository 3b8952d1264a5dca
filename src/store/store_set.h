/* SPDX-License-Identifier: MIT
 *
 * store_set.h: shared by the files that implement store.h.
 */
#ifndef PROBITY_STORE_STORE_SET_H
#define PROBITY_STORE_STORE_SET_H

#include <stdint.h>

#include "store/sqlite.h"
#include "store/store.h"

enum { PROBITY_STORE_VERSION = 2, PROBITY_STORE_WITHOUT_REQUESTS = 1 };

struct probity_store {
    sqlite3 *database;
    char *path;
    struct sqlite3_vfs files; /* registered if the name is not NULL */
    char files_name[32];
    int version;       /* version of the file */
    int is_converting; /* the current change converts the history */
    int is_converted;
    char why[1024];
    int is_warned;   /* `why` describes a failure after a change that took effect nevertheless */
    uint32_t before; /* state of the history when the change began */
};

/* Stores a description of the last failure. Returns its error code. */
int probity_store_fail(struct probity_store *store);
int probity_store_fail_with(struct probity_store *store, int error, const char *text);

/* Run statements without a result, or a statement that returns one number. Return 0 or an error. */
int probity_store_run(struct probity_store *store, const char *sql);
int probity_store_number(struct probity_store *store, const char *sql, int64_t *ret_number);

/* Begin and end a change; other processes wait until it ends. On error the change did not take
 * effect, or the error states that this is unknown. */
int probity_store_begin(struct probity_store *store);
int probity_store_end(struct probity_store *store, int error);

/* Within a change: converts a history without requests. Reads the version again, because another
 * process may have converted it in the meantime. Returns 0 or an error. */
int probity_store_update(struct probity_store *store);

#endif
