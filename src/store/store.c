/* SPDX-License-Identifier: MIT
 *
 * store.c: opens a history. The file is untrusted: its contents are used only as data,
 * and anything invalid is reported as damage.
 */
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "probity.h"
#include "store/store_set.h"

enum {
    APPLICATION = 0x50726274, /* "Prbt" */
    ROW_BYTES_MAX = 4 << 20, /* a block's name has four texts of up to 64 KiB each */
    BUSY_MS = 10000 /* a change takes milliseconds; a process that holds the lock longer is stuck */
};

#define REQUESTS_COLUMN "requests INTEGER NOT NULL DEFAULT 0 CHECK (requests IN (0, 1))"

/* See doc/runs.md, which is normative. */
static const char schema[] =
    "CREATE TABLE run ("
    " number INTEGER PRIMARY KEY AUTOINCREMENT,"
    " session BLOB NOT NULL UNIQUE CHECK (length(session) = 16),"
    " label TEXT NOT NULL,"
    " path TEXT NOT NULL,"
    " added_ns INTEGER NOT NULL,"
    " started_ns INTEGER NOT NULL,"
    " records INTEGER NOT NULL,"
    " complete INTEGER NOT NULL CHECK (complete IN (0, 1)),"
    " damaged INTEGER NOT NULL CHECK (damaged IN (0, 1)),"
    " why TEXT NOT NULL,"
    " " REQUESTS_COLUMN ");"
    "CREATE INDEX run_of_label ON run (label, started_ns);"
    "CREATE TABLE environment ("
    " run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,"
    " what TEXT NOT NULL,"
    " value TEXT NOT NULL,"
    " PRIMARY KEY (run, what)) WITHOUT ROWID;"
    "CREATE TABLE item ("
    " run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,"
    " kind TEXT NOT NULL CHECK (kind IN ('function', 'block')),"
    " name TEXT NOT NULL,"
    " signature TEXT NOT NULL,"
    " file TEXT NOT NULL,"
    " object TEXT NOT NULL,"
    " line INTEGER NOT NULL,"
    " instance INTEGER NOT NULL,"
    " quantile_error REAL NOT NULL,"
    " calls REAL, self_ns REAL, total_ns REAL, cpu_ns REAL, mean_ns REAL, median_ns REAL,"
    " p99_ns REAL);"
    "CREATE INDEX item_of_run ON item (run, kind);";

static const char request_tables[] =
    "CREATE TABLE request ("
    " run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,"
    " name TEXT NOT NULL,"
    " named TEXT NOT NULL,"
    " site INTEGER NOT NULL CHECK (site IN (0, 1)),"
    " quantile_error REAL NOT NULL,"
    " requests REAL, total_ns REAL, mean_ns REAL, median_ns REAL, p99_ns REAL);"
    "CREATE INDEX request_of_run ON request (run);";

/* ---- Failures ----------------------------------------------------------------------------------
 */

const char *probity_store_why(const struct probity_store *store)
{
    return store->why[0] != '\0' ? store->why : probity_error_text(PROBITY_ERROR_MEMORY);
}

const char *probity_store_warning(const struct probity_store *store)
{
    return store->is_warned ? store->why : NULL;
}

/* ---- The file ----------------------------------------------------------------------------------
 */

/* Opens a file, except in cases that are unsafe. A journal may name a super-journal, for a change
 * of several databases; SQLite opens and deletes the file that is named, whatever it is. A history
 * is never part of such a change. Opening a device or a pipe, which a link may refer to, has side
 * effects. */
static int open_checked(sqlite3_vfs *files, const char *path, sqlite3_file *ret_file, int flags,
                        int *ret_flags)
{
    sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
    struct stat status;

    (void)files;
    ret_file->pMethods = NULL;
    if ((flags & SQLITE_OPEN_SUPER_JOURNAL) != 0)
        return SQLITE_CORRUPT;
    if (path != NULL && stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return SQLITE_CANTOPEN;
    return usual->xOpen(usual, path, ret_file, flags, ret_flags);
}

/* Registers SQLite's VFS with these exceptions, under a unique name. */
static int add_files(struct probity_store *store)
{
    if (probity_sqlite_load() != 0)
        return probity_store_fail_with(store, PROBITY_ERROR_SYSTEM, "SQLite cannot be loaded");
    sqlite3_vfs *usual = sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find(NULL) : NULL;
    if (usual == NULL)
        return probity_store_fail_with(store, PROBITY_ERROR_SYSTEM, "SQLite has no file system "
                                       "support");
    snprintf(store->files_name, sizeof store->files_name, "probity-%p", (void *)store);
    store->files = *usual;
    store->files.zName = store->files_name;
    store->files.xOpen = open_checked;
    if (sqlite3_vfs_register(&store->files, 0) == SQLITE_OK)
        return 0;
    store->files_name[0] = '\0';
    return PROBITY_ERROR_MEMORY;
}

/* Opens the file so that nothing in it can make the library do more than read and write it. */
static int open_file(struct probity_store *store, int flags)
{
    int error = add_files(store);

    if (error != 0)
        return error;
    if (sqlite3_open_v2(store->path, &store->database, flags, store->files_name) != SQLITE_OK)
        return store->database != NULL ? probity_store_fail(store) : PROBITY_ERROR_MEMORY;
    sqlite3_extended_result_codes(store->database, 1);
    sqlite3_busy_timeout(store->database, BUSY_MS);
    sqlite3_limit(store->database, SQLITE_LIMIT_LENGTH, ROW_BYTES_MAX);
    sqlite3_db_config(store->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(store->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(store->database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(store->database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    return probity_store_run(store, "PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON");
}

/* Rejects computed columns: they take no space in the file, so a small file could exhaust
 * memory. */
static int check_tables(struct probity_store *store)
{
    int64_t computed = 0;
    int error = probity_store_number(
        store, "SELECT (SELECT count(*) FROM pragma_table_xinfo('run') WHERE hidden) + "
        "(SELECT count(*) FROM pragma_table_xinfo('environment') WHERE hidden) + "
        "(SELECT count(*) FROM pragma_table_xinfo('item') WHERE hidden) + "
        "(SELECT count(*) FROM pragma_table_xinfo('request') WHERE hidden)", &computed);

    if (error == 0 && computed > 0)
        error = probity_store_fail_with(store, PROBITY_ERROR_DAMAGED, "its tables are not those of "
                                        "a history of runs");
    return error;
}

static int check_version(struct probity_store *store)
{
    int64_t application = 0, version = 0;
    int error = probity_store_number(store, "PRAGMA application_id", &application);
    char text[160];

    if (error == 0)
        error = probity_store_number(store, "PRAGMA user_version", &version);
    if (error != 0)
        return error;
    if (application != APPLICATION)
        return probity_store_fail_with(store, PROBITY_ERROR_FORMAT, "not a history of runs written "
                                       "by Probity");
    if (version == PROBITY_STORE_VERSION || version == PROBITY_STORE_WITHOUT_REQUESTS) {
        store->version = (int)version;
        return check_tables(store);
    }
    snprintf(text, sizeof text, "it has version %lld, but this Probity supports only versions up "
             "to %d; use the Probity version that wrote it", (long long)version,
             PROBITY_STORE_VERSION);
    return probity_store_fail_with(store, PROBITY_ERROR_VERSION, text);
}

/* ---- Tables ------------------------------------------------------------------------------------
 * The version is part of the transaction, so that no process sees a history without its tables.
 */

static int set_version(struct probity_store *store)
{
    char text[96];

    snprintf(text, sizeof text, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             APPLICATION, PROBITY_STORE_VERSION);
    return probity_store_run(store, text);
}

/* Adds the tables for requests. Existing rows do not change, so this is fast even in a large
 * history. */
static int add_requests(struct probity_store *store)
{
    int error = probity_store_run(store, "ALTER TABLE run ADD COLUMN " REQUESTS_COLUMN);

    if (error == 0)
        error = probity_store_run(store, request_tables);
    if (error == 0)
        error = set_version(store);
    if (error != 0)
        return error;
    store->version = PROBITY_STORE_VERSION;
    store->is_converting = 1;
    return 0;
}

int probity_store_update(struct probity_store *store)
{
    int error = check_version(store);

    return error == 0 && store->version == PROBITY_STORE_WITHOUT_REQUESTS ? add_requests(store)
                                                                          : error;
}

static int make_tables(struct probity_store *store)
{
    int64_t tables = 0;
    int error = probity_store_number(store, "SELECT count(*) FROM sqlite_master", &tables);

    if (error != 0 || tables > 0)
        return error != 0 ? error : probity_store_update(store);
    store->version = PROBITY_STORE_VERSION;
    error = probity_store_run(store, schema);
    if (error == 0)
        error = probity_store_run(store, request_tables);
    return error == 0 ? set_version(store) : error;
}

int probity_store_is_converted(const struct probity_store *store)
{
    return store->is_converted;
}

/* ---- Opening and closing -----------------------------------------------------------------------
 */

static int make_store(const char *path, struct probity_store **ret_store)
{
    struct probity_store *store = calloc(1, sizeof *store);

    *ret_store = store;
    if (store == NULL)
        return PROBITY_ERROR_MEMORY;
    store->path = strdup(path);
    return store->path != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

int probity_store_open(const char *path, int is_for_writing, struct probity_store **ret_store)
{
    int error = make_store(path, ret_store);

    /* Opens it for writing first, because only a process with write access can roll back a change
     * that a killed process left unfinished. SQLite falls back to reading if the file is not
     * writable. */
    if (error == 0)
        error = open_file(*ret_store, SQLITE_OPEN_READWRITE);
    if (error == 0 && !is_for_writing)
        error = probity_store_run(*ret_store, "PRAGMA query_only = ON");
    return error == 0 ? check_version(*ret_store) : error;
}

int probity_store_create(const char *path, struct probity_store **ret_store)
{
    int error = make_store(path, ret_store);

    if (error == 0)
        error = open_file(*ret_store, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (error == 0)
        error = probity_store_begin(*ret_store);
    return error == 0 ? probity_store_end(*ret_store, make_tables(*ret_store)) : error;
}

void probity_store_close(struct probity_store *store)
{
    if (store == NULL)
        return;
    if (store->database != NULL)
        sqlite3_close_v2(store->database);
    if (store->files_name[0] != '\0')
        sqlite3_vfs_unregister(&store->files);
    free(store->path);
    free(store);
}
