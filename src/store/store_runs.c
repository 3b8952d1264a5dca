/* SPDX-License-Identifier: MIT
 *
 * store_runs.c: converts runs to rows and back. Texts are bytes from traced programs and are
 * restored unchanged.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probity.h"
#include "store/store_set.h"

static int bind_text(sqlite3_stmt *statement, int place, const char *text)
{
    return sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC);
}

/* Runs a bound statement to its end. */
static int finish(struct probity_store *store, sqlite3_stmt *statement)
{
    int error = sqlite3_step(statement) == SQLITE_DONE ? 0 : probity_store_fail(store);

    sqlite3_finalize(statement);
    return error;
}

static int prepare(struct probity_store *store, const char *sql, sqlite3_stmt **ret_statement)
{
    store->why[0] = '\0';
    return sqlite3_prepare_v2(store->database, sql, -1, ret_statement, NULL) == SQLITE_OK
               ? 0
               : probity_store_fail(store);
}

/* ---- Writing -----------------------------------------------------------------------------------
 */

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Finds the run of a session. ret_number: 0 if there is none. ret_is_better: the existing run is
 * complete, whereas this copy is incomplete and has no more records. A complete run may have fewer
 * records than an incomplete one if the program was still running. */
static int find_session(struct probity_store *store, const struct probity_compare_run *run,
                        uint64_t *ret_number, int *ret_is_better)
{
    sqlite3_stmt *statement;
    int error = prepare(store, "SELECT number, complete, records FROM run WHERE "
                        "session = ?1", &statement);

    if (error != 0)
        return error;
    sqlite3_bind_blob(statement, 1, run->session, sizeof run->session, SQLITE_STATIC);
    int got = sqlite3_step(statement);
    *ret_number = got == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    *ret_is_better = got == SQLITE_ROW && !run->is_complete &&
                     sqlite3_column_int(statement, 1) != 0 &&
                     run->records <= (uint64_t)sqlite3_column_int64(statement, 2);
    if (got != SQLITE_ROW && got != SQLITE_DONE)
        error = probity_store_fail(store);
    sqlite3_finalize(statement);
    return error;
}

/* Writes the row of a run. number 0: a new run. label NULL: the label of the existing run or, for a
 * new run, its own. */
static int put_run(struct probity_store *store, const struct probity_compare_run *run,
                   const char *label, uint64_t number)
{
    sqlite3_stmt *statement;
    int error = prepare(store,
                        number == 0
                            ? "INSERT INTO run (session, label, path, added_ns, started_ns, "
                              "records, complete, damaged, why, requests) "
                              "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
                            : "UPDATE run SET label = coalesce(?2, label), "
                              "path = ?3, added_ns = ?4, started_ns = ?5, records = ?6, "
                              "complete = ?7, damaged = ?8, why = ?9, requests = ?10 "
                              "WHERE session = ?1",
                        &statement);

    if (error != 0)
        return error;
    sqlite3_bind_blob(statement, 1, run->session, sizeof run->session, SQLITE_STATIC);
    bind_text(statement, 2, label != NULL || number != 0 ? label : run->label);
    bind_text(statement, 3, run->path);
    sqlite3_bind_int64(statement, 4, (sqlite3_int64)now_ns());
    sqlite3_bind_int64(statement, 5, (sqlite3_int64)run->started_ns);
    sqlite3_bind_int64(statement, 6, (sqlite3_int64)run->records);
    sqlite3_bind_int(statement, 7, run->is_complete != 0);
    sqlite3_bind_int(statement, 8, run->is_damaged != 0);
    bind_text(statement, 9, run->why);
    sqlite3_bind_int(statement, 10, run->has_requests != 0);
    return finish(store, statement);
}

static int put_environment(struct probity_store *store, const struct probity_compare_run *run,
                           uint64_t number)
{
    int error = 0;

    for (int i = 0; error == 0 && i < PROBITY_COMPARE_ENVIRONMENTS; i++) {
        sqlite3_stmt *statement;
        error = prepare(store, "INSERT INTO environment (run, what, value) VALUES (?1, ?2, ?3)",
                        &statement);
        if (error != 0)
            return error;
        sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
        bind_text(statement, 2, probity_compare_environment_name(i));
        bind_text(statement, 3, run->environment[i]);
        error = finish(store, statement);
    }
    return error;
}

/* Binds the values of an item. SQLite stores NaN as NULL. */
static void bind_item(sqlite3_stmt *statement, const struct probity_compare_item *item)
{
    enum { FIRST_VALUE = 10 };

    bind_text(statement, 2, probity_compare_kind_name(item->kind));
    bind_text(statement, 3, item->name);
    bind_text(statement, 4, item->signature);
    bind_text(statement, 5, item->file);
    bind_text(statement, 6, item->object);
    sqlite3_bind_int64(statement, 7, item->line);
    sqlite3_bind_int64(statement, 8, item->instance);
    sqlite3_bind_double(statement, 9, item->quantile_error);
    for (int i = 0; i < PROBITY_COMPARE_STATISTICS; i++)
        sqlite3_bind_double(statement, FIRST_VALUE + i, item->values[i]);
}

static void bind_request(sqlite3_stmt *statement, const struct probity_compare_item *item)
{
    bind_text(statement, 2, item->name);
    bind_text(statement, 3, item->signature);
    sqlite3_bind_int(statement, 4, (item->instance & 1) != 0);
    sqlite3_bind_double(statement, 5, item->quantile_error);
    sqlite3_bind_double(statement, 6, item->values[PROBITY_COMPARE_CALLS]);
    sqlite3_bind_double(statement, 7, item->values[PROBITY_COMPARE_TOTAL]);
    sqlite3_bind_double(statement, 8, item->values[PROBITY_COMPARE_MEAN]);
    sqlite3_bind_double(statement, 9, item->values[PROBITY_COMPARE_MEDIAN]);
    sqlite3_bind_double(statement, 10, item->values[PROBITY_COMPARE_P99]);
}

/* Adds the requests of a run, or all other items. */
static int put_items_of(struct probity_store *store, const struct probity_compare_run *run,
                        uint64_t number, int are_requests)
{
    sqlite3_stmt *statement;
    int error = prepare(store,
                        are_requests
                            ? "INSERT INTO request (run, name, named, site, quantile_error, "
                              "requests, total_ns, mean_ns, median_ns, p99_ns) "
                              "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
                            : "INSERT INTO item (run, kind, name, signature, file, object, line, "
                              "instance, quantile_error, calls, self_ns, total_ns, cpu_ns, "
                              "mean_ns, median_ns, p99_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
                              "?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
                        &statement);

    if (error != 0)
        return error;
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
    for (size_t i = 0; error == 0 && i < run->item_count; i++) {
        if ((run->items[i].kind == PROBITY_COMPARE_REQUEST) != are_requests)
            continue;
        if (are_requests)
            bind_request(statement, &run->items[i]);
        else
            bind_item(statement, &run->items[i]);
        error = sqlite3_step(statement) == SQLITE_DONE ? 0 : probity_store_fail(store);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return error;
}

static int put_items(struct probity_store *store, const struct probity_compare_run *run,
                     uint64_t number)
{
    int error = put_items_of(store, run, number, 0);

    return error == 0 ? put_items_of(store, run, number, 1) : error;
}

static int remove_of(struct probity_store *store, const char *sql, uint64_t number)
{
    sqlite3_stmt *statement;
    int error = prepare(store, sql, &statement);

    if (error != 0)
        return error;
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
    return finish(store, statement);
}

static int replace(struct probity_store *store, const struct probity_compare_run *run,
                   const char *label, uint64_t *number)
{
    int error = put_run(store, run, label, *number);

    if (error == 0 && *number == 0)
        *number = (uint64_t)sqlite3_last_insert_rowid(store->database);
    else if (error == 0)
        error = remove_of(store, "DELETE FROM environment WHERE run = ?1", *number);
    if (error == 0)
        error = remove_of(store, "DELETE FROM item WHERE run = ?1", *number);
    if (error == 0)
        error = remove_of(store, "DELETE FROM request WHERE run = ?1", *number);
    if (error == 0)
        error = put_environment(store, run, *number);
    return error == 0 ? put_items(store, run, *number) : error;
}

int probity_store_put(struct probity_store *store, const struct probity_compare_run *run,
                      const char *label, uint64_t *ret_number, enum probity_store_put *ret_how)
{
    uint64_t number = 0;
    int is_better = 0, error = probity_store_begin(store);

    if (error != 0)
        return error;
    error = find_session(store, run, &number, &is_better);
    enum probity_store_put how = number == 0 ? PROBITY_STORE_ADDED
                                 : is_better ? PROBITY_STORE_KEPT
                                             : PROBITY_STORE_UPDATED;
    if (error == 0 && how != PROBITY_STORE_KEPT)
        error = probity_store_update(store);
    if (error == 0 && how != PROBITY_STORE_KEPT)
        error = replace(store, run, label, &number);
    error = probity_store_end(store, error);
    if (error == 0) {
        *ret_number = number;
        *ret_how = how;
    }
    return error;
}

#define CHOSEN "(?1 = 0 OR run.number = ?1) AND (?2 IS NULL OR label = ?2)"

static void bind_choice(sqlite3_stmt *statement, const struct probity_store_choice *choice)
{
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)choice->number);
    bind_text(statement, 2, choice->label);
}

int probity_store_remove(struct probity_store *store, const struct probity_store_choice *choice,
                         uint64_t *ret_count)
{
    sqlite3_stmt *statement;
    int error = probity_store_begin(store);

    if (error != 0)
        return error;
    error = prepare(store, "DELETE FROM run WHERE " CHOSEN, &statement);
    if (error == 0) {
        bind_choice(statement, choice);
        error = finish(store, statement);
        *ret_count = (uint64_t)sqlite3_changes(store->database);
    }
    return probity_store_end(store, error);
}

/* ---- Reading -----------------------------------------------------------------------------------
 */

/* Whether a text is missing because memory ran out. */
static int is_out_of_memory(sqlite3_stmt *statement)
{
    return sqlite3_errcode(sqlite3_db_handle(statement)) == SQLITE_NOMEM;
}

/* Returns a text, malloc'ed; "" for NULL, which a valid file does not contain; NULL if out of
 * memory. */
static char *text_at(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    if (text == NULL && is_out_of_memory(statement))
        return NULL;
    return strdup(text != NULL ? text : "");
}

/* Takes a row of table `environment`. Returns 0 or PROBITY_ERROR_MEMORY. */
static int take_environment(sqlite3_stmt *statement, char **environment)
{
    const char *what = (const char *)sqlite3_column_text(statement, 0);

    if (what == NULL)
        return is_out_of_memory(statement) ? PROBITY_ERROR_MEMORY : 0;
    for (int i = 0; i < PROBITY_COMPARE_ENVIRONMENTS; i++) {
        if (strcmp(what, probity_compare_environment_name(i)) != 0)
            continue;
        free(environment[i]);
        environment[i] = text_at(statement, 1);
        return environment[i] != NULL ? 0 : PROBITY_ERROR_MEMORY;
    }
    return 0;
}

static int read_environment(struct probity_store *store, struct probity_store_entry *entry)
{
    sqlite3_stmt *statement;
    int got = SQLITE_DONE, error = prepare(
        store, "SELECT what, value FROM environment WHERE run = ?1", &statement);

    if (error != 0)
        return error;
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)entry->number);
    while (error == 0 && (got = sqlite3_step(statement)) == SQLITE_ROW)
        error = take_environment(statement, entry->run.environment);
    if (error == 0 && got != SQLITE_DONE)
        error = probity_store_fail(store);
    sqlite3_finalize(statement);
    for (int i = 0; error == 0 && i < PROBITY_COMPARE_ENVIRONMENTS; i++) {
        if (entry->run.environment[i] == NULL)
            entry->run.environment[i] = strdup("");
        error = entry->run.environment[i] != NULL ? 0 : PROBITY_ERROR_MEMORY;
    }
    return error;
}

static int read_entry(struct probity_store *store, sqlite3_stmt *statement,
                      struct probity_store_entry *ret_entry)
{
    struct probity_compare_run *run = &ret_entry->run;
    const void *session = sqlite3_column_blob(statement, 1);

    if (session != NULL && sqlite3_column_bytes(statement, 1) == sizeof run->session)
        memcpy(run->session, session, sizeof run->session);
    ret_entry->number = (uint64_t)sqlite3_column_int64(statement, 0);
    run->label = text_at(statement, 2);
    run->path = text_at(statement, 3);
    ret_entry->added_ns = (uint64_t)sqlite3_column_int64(statement, 4);
    run->started_ns = (uint64_t)sqlite3_column_int64(statement, 5);
    run->records = (uint64_t)sqlite3_column_int64(statement, 6);
    run->is_complete = sqlite3_column_int(statement, 7) != 0;
    run->is_damaged = sqlite3_column_int(statement, 8) != 0;
    run->why = text_at(statement, 9);
    run->has_requests = sqlite3_column_int(statement, 10) != 0;
    for (int i = 0; i < PROBITY_COMPARE_KINDS; i++)
        ret_entry->counts[i] = (uint64_t)sqlite3_column_int64(statement, 11 + i);
    if (!run->has_requests)
        ret_entry->counts[PROBITY_COMPARE_REQUEST] = UINT64_MAX;
    int error = read_environment(store, ret_entry);
    return run->label == NULL || run->path == NULL || run->why == NULL ? PROBITY_ERROR_MEMORY
                                                                       : error;
}

/* Reads runs; the two expressions: whether the requests of a run are known, and their number. */
#define RUNS(ARE_KNOWN, REQUESTS)                                                                  \
    "SELECT number, session, label, path, added_ns, started_ns, records, complete, damaged, why, " \
    ARE_KNOWN ", (SELECT count(*) FROM item WHERE run = number AND kind = 'function'), "           \
    "(SELECT count(*) FROM item WHERE run = number AND kind = 'block'), " REQUESTS                 \
    " FROM run WHERE " CHOSEN " ORDER BY started_ns, number"

int probity_store_each(struct probity_store *store, const struct probity_store_choice *choice,
                       probity_store_take *take, void *context)
{
    int has_requests = store->version != PROBITY_STORE_WITHOUT_REQUESTS;
    sqlite3_stmt *statement;
    int got = SQLITE_DONE, error = prepare(
        store,
        has_requests ? RUNS("requests", "(SELECT count(*) FROM request WHERE run = number)")
                     : RUNS("0", "0"),
        &statement);

    if (error != 0)
        return error;
    bind_choice(statement, choice);
    while (error == 0 && (got = sqlite3_step(statement)) == SQLITE_ROW) {
        struct probity_store_entry entry = {.number = 0};
        error = read_entry(store, statement, &entry);
        if (error == 0)
            error = take(context, &entry);
        probity_compare_run_release(&entry.run);
    }
    if (error == 0 && got != SQLITE_DONE)
        error = probity_store_fail(store);
    sqlite3_finalize(statement);
    return error;
}

static int load_item(struct probity_store *store, sqlite3_stmt *statement,
                     struct probity_compare_run *run)
{
    struct probity_compare_item item = {.kind = PROBITY_COMPARE_FUNCTION};
    char **texts[] = {&item.name, &item.signature, &item.file, &item.object};
    const char *kind = (const char *)sqlite3_column_text(statement, 0);
    enum { FIRST_VALUE = 8 };

    if (kind != NULL && strcmp(kind, "block") == 0)
        item.kind = PROBITY_COMPARE_BLOCK;
    else if (kind != NULL && strcmp(kind, "request") == 0)
        item.kind = PROBITY_COMPARE_REQUEST;
    for (int i = 0; i < 4; i++)
        *texts[i] = (char *)(uintptr_t)sqlite3_column_text(statement, 1 + i);
    if (is_out_of_memory(statement))
        return PROBITY_ERROR_MEMORY;
    item.line = (uint32_t)sqlite3_column_int64(statement, 5);
    item.instance = (uint32_t)sqlite3_column_int64(statement, 6);
    item.quantile_error = sqlite3_column_double(statement, 7);
    for (int i = 0; i < PROBITY_COMPARE_STATISTICS; i++) {
        int is_known = sqlite3_column_type(statement, FIRST_VALUE + i) != SQLITE_NULL;
        item.values[i] = is_known ? sqlite3_column_double(statement, FIRST_VALUE + i) : NAN;
        if (is_known && !isfinite(item.values[i]))
            return probity_store_fail_with(store, PROBITY_ERROR_DAMAGED,
                                           "a value of a run is infinite");
    }
    return probity_compare_run_add(run, &item);
}

static int load_items(struct probity_store *store, const char *sql, uint64_t number,
                      struct probity_compare_run *run)
{
    sqlite3_stmt *statement;
    int got = SQLITE_DONE, error = prepare(store, sql, &statement);

    if (error != 0)
        return error;
    sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
    while (error == 0 && (got = sqlite3_step(statement)) == SQLITE_ROW)
        error = load_item(store, statement, run);
    if (error == 0 && got != SQLITE_DONE)
        error = probity_store_fail(store);
    sqlite3_finalize(statement);
    return error;
}

int probity_store_load(struct probity_store *store, uint64_t number,
                       struct probity_compare_run *run)
{
    int error = load_items(store, "SELECT kind, name, signature, file, object, line, instance, "
                           "quantile_error, calls, self_ns, total_ns, cpu_ns, mean_ns, median_ns, "
                           "p99_ns FROM item WHERE run = ?1 ORDER BY rowid", number, run);

    if (error != 0 || store->version == PROBITY_STORE_WITHOUT_REQUESTS)
        return error;
    return load_items(store, "SELECT 'request', name, named, '', '', 0, site, quantile_error, "
                      "requests, NULL, total_ns, NULL, mean_ns, median_ns, p99_ns FROM request "
                      "WHERE run = ?1 ORDER BY rowid", number, run);
}
