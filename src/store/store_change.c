/* SPDX-License-Identifier: MIT
 *
 * store_change.c: executes statements and changes of a history, and handles their failures. SQLite
 * may report a failure after a change has taken effect, if the lock cannot be released or the
 * directory cannot be synchronized. So the state is read again after a failed commit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/checksum.h"
#include "probity.h"
#include "store/store_set.h"

/* ---- Statements --------------------------------------------------------------------------------
 */

int probity_store_fail(struct probity_store *store)
{
    int code = sqlite3_errcode(store->database), system = sqlite3_system_errno(store->database);
    const char *text = sqlite3_errmsg(store->database);
    const char *remedy = "";
    int error = PROBITY_ERROR_READ;

    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        remedy = "; restore it from a copy, or remove it and add the traces again";
        error = PROBITY_ERROR_DAMAGED;
        break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        text = "locked by another process for ten seconds";
        error = PROBITY_ERROR_STATE;
        break;
    case SQLITE_NOMEM: error = PROBITY_ERROR_MEMORY; break;
    case SQLITE_CANTOPEN:
        text = system != 0 ? strerror(system) : text;
        error = PROBITY_ERROR_OPEN;
        break;
    case SQLITE_FULL:
    case SQLITE_IOERR:
        text = system != 0 ? strerror(system) : text;
        remedy = "; nothing was changed";
        error = PROBITY_ERROR_WRITE;
        break;
    case SQLITE_READONLY: error = PROBITY_ERROR_WRITE; break;
    default: break;
    }
    snprintf(store->why, sizeof store->why, "history '%s': %s%s", store->path, text, remedy);
    return error;
}

int probity_store_fail_with(struct probity_store *store, int error, const char *text)
{
    snprintf(store->why, sizeof store->why, "history '%s': %s", store->path, text);
    return error;
}

int probity_store_run(struct probity_store *store, const char *sql)
{
    return sqlite3_exec(store->database, sql, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : probity_store_fail(store);
}

int probity_store_number(struct probity_store *store, const char *sql, int64_t *ret_number)
{
    sqlite3_stmt *statement;
    int error = 0;

    if (sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL) != SQLITE_OK)
        return probity_store_fail(store);
    if (sqlite3_step(statement) == SQLITE_ROW)
        *ret_number = sqlite3_column_int64(statement, 0);
    else
        error = probity_store_fail(store);
    sqlite3_finalize(statement);
    return error;
}

/* ---- Changes -----------------------------------------------------------------------------------
 */

/* Computes a checksum of the version and the rows of runs. Every change alters it: a run that is
 * added again gets a new time. 0: no tables yet. */
static int state_of(struct probity_store *store, uint32_t *ret_state)
{
    sqlite3_stmt *statement;
    int64_t tables = 0, version = 0;
    uint32_t state = 1;
    int got, error = probity_store_number(store, "SELECT count(*) FROM sqlite_master", &tables);

    *ret_state = 0;
    if (error == 0 && tables > 0)
        error = probity_store_number(store, "PRAGMA user_version", &version);
    if (error != 0 || tables == 0)
        return error;
    state = probity_checksum(state, &version, sizeof version);
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
    /* the failure may already have ended the transaction */
    if (!sqlite3_get_autocommit(store->database))
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
}

/* Begins a change. If the file is not a database, this fails here instead of later. */
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

/* Whether there is a journal. A change is committed by removing the journal: while it exists, the
 * next process that opens the file rolls the change back, even if the rollback failed here. */
static int has_journal(const struct probity_store *store)
{
    struct stat status;
    char *path = NULL;
    int is_there = asprintf(&path, "%s-journal", store->path) >= 0 && stat(path, &status) == 0 &&
                   status.st_size > 0;

    free(path);
    return is_there;
}

/* Call after a failed commit. wanted: the state that the change should have produced. */
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
                                                     : "; the change may or may not have been "
                                                       "made: see `probity runs list`");
    return probity_store_fail_with(store, error, text);
}

static int end(struct probity_store *store, int error)
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

int probity_store_end(struct probity_store *store, int error)
{
    error = end(store, error);
    if (store->is_converting && error == 0)
        store->is_converted = 1;
    else if (store->is_converting)
        store->version = PROBITY_STORE_WITHOUT_REQUESTS;
    store->is_converting = 0;
    return error;
}
