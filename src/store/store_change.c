/* SPDX-License-Identifier: MIT
 *
 * store_change.c: changes of a history. SQLite also fails behind the moment from which a change
 * stands: where the lock cannot be given back, or the folder not synchronized. So what a failing
 * end has left is read again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "probity.h"
#include "store/store_set.h"

/* Every change touches a row of the runs: one that is put again has another time. 0: no tables yet.
 */
static int state_of(struct probity_store *store, uint32_t *ret_state)
{
    sqlite3_stmt *statement;
    int64_t tables = 0;
    uint32_t state = 1;
    int got, error = probity_store_number(store, "SELECT count(*) FROM sqlite_master", &tables);

    *ret_state = 0;
    if (error != 0 || tables == 0)
        return error;
    if (sqlite3_prepare_v2(store->database, "SELECT number, session, label, added_ns FROM run "
                           "ORDER BY number", -1, &statement, NULL) != SQLITE_OK)
        return probity_store_fail(store);
    while ((got = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const void *bytes = sqlite3_column_blob(statement, i);
            state = probity_checksum(state, bytes, (size_t)sqlite3_column_bytes(statement, i));
        }
    }
    error = got == SQLITE_DONE ? 0 : probity_store_fail(store);
    sqlite3_finalize(statement);
    *ret_state = state;
    return error;
}

static void undo(struct probity_store *store)
{
    /* What failed may have ended the transaction already. */
    if (!sqlite3_get_autocommit(store->database))
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
}

/* A file of another sort fails here as it would later. */
int probity_store_begin(struct probity_store *store)
{
    int error = probity_store_run(store, "BEGIN IMMEDIATE");

    if (error != 0)
        return error;
    error = state_of(store, &store->before);
    if (error != 0)
        undo(store);
    return error;
}

/* Removing the journal is what makes a change: while it stands, whoever opens the file next takes
 * the change back, also where that was refused here. */
static int has_journal(const struct probity_store *store)
{
    struct stat status;
    char *path = NULL;
    int is_there = asprintf(&path, "%s-journal", store->path) >= 0 && stat(path, &status) == 0 &&
                   status.st_size > 0;

    free(path);
    return is_there;
}

/* Behind an end that failed. wanted: the state that the change was to bring. */
static int look_again(struct probity_store *store, uint32_t wanted)
{
    int system = sqlite3_system_errno(store->database), error = PROBITY_ERROR_WRITE;
    const char *cause = system != 0 ? strerror(system) : sqlite3_errmsg(store->database);
    uint32_t found;
    char text[512];

    snprintf(text, sizeof text, "%.300s", cause);
    undo(store);
    int is_known = state_of(store, &found) == 0;
    size_t length = strlen(text), room = sizeof text - length;
    if (is_known && found == wanted) {
        snprintf(text + length, room, "; but the change was made");
        probity_store_fail_with(store, 0, text);
        store->is_warned = 1;
        return 0;
    }
    int is_as_before = is_known ? found == store->before : has_journal(store);
    snprintf(text + length, room, "%s", is_as_before ? "; nothing was changed"
                                                     : "; whether the change was made is not "
                                                       "known: see `probity runs list`");
    return probity_store_fail_with(store, error, text);
}

int probity_store_end(struct probity_store *store, int error)
{
    uint32_t wanted = 0;

    if (error == 0)
        error = state_of(store, &wanted);
    if (error != 0) {
        undo(store);
        return error;
    }
    if (sqlite3_exec(store->database, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    int code = sqlite3_errcode(store->database) & 0xff;
    if (code == SQLITE_IOERR || code == SQLITE_FULL)
        return look_again(store, wanted);
    error = probity_store_fail(store);
    undo(store);
    return error;
}
