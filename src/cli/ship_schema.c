/* SPDX-License-Identifier: MIT
 *
 * ship_schema.c: compares the tables of a database with those of fleet/schema.h. Examines all of
 * them before it changes the first, so that a database that cannot be migrated is left unchanged.
 */
#include "cli/ship_schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ship_ask.h"
#include "cli/ship_migrate.h"
#include "print/text.h"
#include "probity.h"

enum { CODE_UNKNOWN_TABLE = 60 };

/* The tables of the database. */
struct found {
    unsigned version;                 /* 0: the database has none of the tables */
    int is_cluster;
    uint64_t columns[PROBITY_FLEET_TABLES]; /* bit i: column i exists */
    int is_table[PROBITY_FLEET_TABLES];
    int has_old_calls, must_rename; /* calls of version 2: under another name; under the original
                                     * name */
    unsigned tables_made, columns_made;
};

/* A statement for the database, being written. */
struct statement {
    FILE *stream;
    char *sql;
    size_t bytes;
};

static int fail_memory(const struct cli_fleet *fleet)
{
    return cli_fail(fleet->command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
}

static struct probity_fleet_schema schema_of(const struct cli_ship_schema *schema, unsigned version)
{
    return (struct probity_fleet_schema){version, schema->cluster, schema->ttl_days,
                                         schema->fleet->database};
}

int cli_ship_print_schema(const struct cli_ship_schema *schema)
{
    const struct probity_fleet_schema newest = schema_of(schema, PROBITY_FLEET_TOKENS);
    const char *between = "";

    for (size_t i = 0; i < PROBITY_FLEET_TABLES; i++) {
        for (int number = 0; number <= (schema->cluster != NULL); number++) {
            fputs(between, stdout);
            probity_fleet_schema_print(stdout, &newest, &probity_fleet_tables[i], number);
            puts(";");
            between = "\n";
        }
    }
    return CLI_OK;
}

/* ---- Existing tables ---------------------------------------------------------------------------
 */

static int is_text(const char *text, size_t length, const char *expected, size_t expected_length)
{
    return length == expected_length && memcmp(text, expected, length) == 0;
}

/* PROBITY_FLEET_TABLES: a table that is none of these. */
static size_t table_at(const char *name, size_t length)
{
    size_t i = 0;

    while (i < PROBITY_FLEET_TABLES &&
           !is_text(name, length, probity_fleet_tables[i].name,
                    strlen(probity_fleet_tables[i].name)))
        i++;
    return i;
}

static int fail_type(const struct cli_fleet *fleet, const struct probity_fleet_table *table,
                     const struct probity_fleet_column *column, const char *type, size_t length)
{
    return cli_fail(fleet->command, "'%s': column %s of %s is %.*s, but must be %s; create the "
                    "tables in another database, and send the traces to it", fleet->url,
                    column->name, table->name, (int)(length < 40 ? length : 40), type,
                    probity_fleet_type_name(column->type));
}

/* A row of a reply: two texts about a table. */
struct row {
    size_t table;
    const char *text[2];
    size_t length[2];
};

typedef int take_row(const struct cli_fleet *fleet, const struct row *row, struct found *found);

/* Reads rows up to one about a table of this schema. Returns 0 after the last row, or if the reply
 * is invalid. */
static int next_row(struct probity_fleet_answer *answer, struct row *ret_row)
{
    while (!probity_fleet_answer_is_over(answer)) {
        size_t length;
        const char *name = probity_fleet_take_text(answer, &length);
        for (int i = 0; i < 2; i++)
            ret_row->text[i] = probity_fleet_take_text(answer, &ret_row->length[i]);
        ret_row->table = answer->is_bad ? PROBITY_FLEET_TABLES : table_at(name, length);
        if (ret_row->table != PROBITY_FLEET_TABLES)
            return 1;
    }
    return 0;
}

static int all_rows(const struct cli_fleet *fleet, const struct probity_fleet_answer *answer)
{
    return answer->is_bad ? cli_fail(fleet->command, "'%s' returned an invalid reply", fleet->url)
                          : CLI_OK;
}

static int ask_rows(struct cli_fleet *fleet, const char *sql, take_row *take, struct found *found)
{
    struct probity_fleet_answer answer;
    struct row row;
    int status = cli_fleet_ask(fleet, sql, &answer);

    while (status == CLI_OK && next_row(&answer, &row))
        status = take(fleet, &row, found);
    return status == CLI_OK ? all_rows(fleet, &answer) : status;
}

/* A column and its type. */
static int take_column(const struct cli_fleet *fleet, const struct row *row, struct found *found)
{
    const struct probity_fleet_table *table = &probity_fleet_tables[row->table];

    for (size_t i = 0; i < table->column_count; i++) {
        const struct probity_fleet_column *wanted = &table->columns[i];
        const char *expected = probity_fleet_type_name(wanted->type);
        if (!is_text(row->text[0], row->length[0], wanted->name, strlen(wanted->name)))
            continue;
        if (!is_text(row->text[1], row->length[1], expected, strlen(expected)))
            return fail_type(fleet, table, wanted, row->text[1], row->length[1]);
        found->columns[row->table] |= UINT64_C(1) << i;
    }
    return CLI_OK;
}

static int find_columns(struct cli_fleet *fleet, struct found *found)
{
    return ask_rows(fleet, "SELECT table, name, type FROM system.columns WHERE database "
                    "= currentDatabase() AND table LIKE 'probity\\_%'", take_column, found);
}

static int fail_key(const struct cli_fleet *fleet, const struct probity_fleet_table *table,
                    const char *key, size_t length)
{
    const char *wanted;
    size_t wanted_length = probity_fleet_schema_key(table, &wanted);

    return cli_fail(fleet->command, "'%s': %s is sorted by '%.*s', but must be by '%.*s', which "
                    "cannot be changed; create the tables in another database, and send the traces "
                    "to it", fleet->url, table->name, (int)(length < 80 ? length : 80), key,
                    (int)wanted_length, wanted);
}

/* The order of calls in version 2. */
static int is_old_key(const struct row *row)
{
    static const char key[] = "run, function, thread, start_ns";

    return row->table == PROBITY_FLEET_CALLS &&
           is_text(row->text[1], row->length[1], key, sizeof key - 1);
}

/* The engine and the sorting key, which is unknown for a distributed table. */
static int take_table(const struct cli_fleet *fleet, const struct row *row, struct found *found)
{
    static const char distributed[] = "Distributed";
    const struct probity_fleet_table *table = &probity_fleet_tables[row->table];
    const char *wanted;
    size_t wanted_length = probity_fleet_schema_key(table, &wanted);

    found->is_table[row->table] = 1;
    if (is_text(row->text[0], row->length[0], distributed, sizeof distributed - 1))
        found->is_cluster = 1;
    else if (!is_text(row->text[1], row->length[1], wanted, wanted_length) && !is_old_key(row))
        return fail_key(fleet, table, row->text[1], row->length[1]);
    return CLI_OK;
}

static int find_tables(struct cli_fleet *fleet, struct found *found)
{
    return ask_rows(fleet, "SELECT name, engine, sorting_key FROM system.tables WHERE "
                    "database = currentDatabase() AND name LIKE 'probity\\_%'", take_table, found);
}

/* Calls have other columns since version 3; the first new one is at_ns. */
static int find_old_calls(struct cli_fleet *fleet, struct found *found)
{
    const struct probity_fleet_table *table = &probity_fleet_tables[PROBITY_FLEET_CALLS];
    struct probity_fleet_answer answer;
    size_t i = 0;
    int status = cli_fleet_ask(fleet, "SELECT toUInt8(count() > 0) FROM system.tables WHERE "
                               "database = currentDatabase() AND name = '" PROBITY_FLEET_OLD_CALLS
                               "'", &answer);

    if (status != CLI_OK)
        return status;
    found->has_old_calls = (int)probity_fleet_take_number(&answer, 1);
    while (strcmp(table->columns[i].name, "at_ns") != 0)
        i++;
    found->must_rename = found->is_table[PROBITY_FLEET_CALLS] &&
                         !(found->columns[PROBITY_FLEET_CALLS] >> i & 1);
    if (found->must_rename && found->has_old_calls)
        return cli_fail(fleet->command, "'%s' has the calls of schema version 2 in %s and in %s; "
                        "drop one of these tables", fleet->url, table->name,
                        PROBITY_FLEET_OLD_CALLS);
    return all_rows(fleet, &answer);
}

/* ---- The version -------------------------------------------------------------------------------
 */

const char cli_ship_version_sql[] = "SELECT max(version) FROM probity_versions";

int cli_ship_take_version(const struct cli_fleet *fleet, const struct cli_http_answer *answer,
                          unsigned *ret_version)
{
    struct probity_fleet_answer numbers = {answer->bytes, answer->bytes + answer->count, 0};

    *ret_version = 0;
    if (answer->status != 200)
        return cli_fleet_error_code(answer) == CODE_UNKNOWN_TABLE ? CLI_OK
                                                                  : cli_fleet_fail(fleet, answer);
    *ret_version = (unsigned)probity_fleet_take_number(&numbers, 4);
    return CLI_OK;
}

static int find_version(struct cli_fleet *fleet, unsigned *ret_version)
{
    struct cli_http_answer answer;

    cli_fleet_try(fleet, cli_ship_version_sql, &answer);
    return cli_ship_take_version(fleet, &answer, ret_version);
}

static int fail_newer(const struct cli_fleet *fleet, unsigned version)
{
    return cli_fail(fleet->command, "'%s' has tables of schema version %u, which this program (%d) "
                    "does not support; use a newer one", fleet->url, version,
                    PROBITY_FLEET_SCHEMA_VERSION);
}

int cli_ship_judge_version(const struct cli_fleet *fleet, unsigned version)
{
    if (version == PROBITY_FLEET_SCHEMA_VERSION)
        return CLI_OK;
    if (version > PROBITY_FLEET_SCHEMA_VERSION)
        return fail_newer(fleet, version);
    return cli_fail(fleet->command, "'%s' does not have the tables of schema version %d "
                    "(probity_versions); `probity ship --init` creates them, or migrates those of "
                    "an earlier version", fleet->url, PROBITY_FLEET_SCHEMA_VERSION);
}

static int put_version(struct cli_fleet *fleet)
{
    const uint64_t now_ns = cli_ship_now_ns();
    const uint64_t values[] = {PROBITY_FLEET_SCHEMA_VERSION, now_ns / 1000000000};
    struct probity_fleet_batch batch = {.table = &probity_fleet_tables[PROBITY_FLEET_VERSIONS]};
    struct probity_fleet_bytes bytes = {.items = NULL};
    struct cli_http_answer answer;
    char id[64];

    probity_fleet_put_row(&batch, values);
    int error = batch.error != 0 ? batch.error : probity_fleet_batch_encode(&batch, &bytes);
    snprintf(id, sizeof id, "probity-init-%" PRIx64, now_ns);
    const struct cli_fleet_insert insert = {.table = batch.table, .id = id, .bytes = bytes.items,
                                            .count = bytes.count};
    int status = error == 0 ? CLI_OK : fail_memory(fleet);
    if (status == CLI_OK) {
        cli_fleet_insert(fleet, &insert, &answer);
        status = answer.status == 200 ? CLI_OK : cli_fleet_fail(fleet, &answer);
    }
    free(bytes.items);
    probity_fleet_batch_release(&batch);
    return status;
}

/* ---- Creating and migrating --------------------------------------------------------------------
 */

static int begin_statement(const struct cli_fleet *fleet, struct statement *ret_statement)
{
    *ret_statement = (struct statement){.sql = NULL};
    ret_statement->stream = open_memstream(&ret_statement->sql, &ret_statement->bytes);
    return ret_statement->stream != NULL ? CLI_OK : fail_memory(fleet);
}

/* is_one: whether something was written. Returns -1 if not, or an exit status. */
static int execute(struct cli_fleet *fleet, struct statement *statement, int is_one)
{
    struct probity_fleet_answer answer;
    int status = fclose(statement->stream) != 0 ? fail_memory(fleet)
                 : is_one ? cli_fleet_ask(fleet, statement->sql, &answer)
                          : -1;

    free(statement->sql);
    return status;
}

static int make_table(const struct cli_ship_schema *schema, size_t table)
{
    const struct probity_fleet_schema of = schema_of(schema, schema->fleet->version);
    struct statement statement;
    int status = CLI_OK;

    for (int number = 0; status == CLI_OK; number++) {
        status = begin_statement(schema->fleet, &statement);
        if (status == CLI_OK)
            status = execute(schema->fleet, &statement,
                             probity_fleet_schema_print(statement.stream, &of,
                                                        &probity_fleet_tables[table], number));
    }
    return status < 0 ? CLI_OK : status;
}

static int add_column(const struct cli_ship_schema *schema, size_t table, size_t column)
{
    const struct probity_fleet_schema of = schema_of(schema, schema->fleet->version);
    struct statement statement;
    int status = CLI_OK;

    for (int number = 0; status == CLI_OK; number++) {
        status = begin_statement(schema->fleet, &statement);
        if (status == CLI_OK)
            status = execute(schema->fleet, &statement,
                             probity_fleet_schema_add_column(
                                 statement.stream, &of, &probity_fleet_tables[table], column,
                                 number));
    }
    return status < 0 ? CLI_OK : status;
}

static int migrate_table(const struct cli_ship_schema *schema, size_t table, struct found *found)
{
    int status = CLI_OK;

    found->tables_made += !found->is_table[table];
    if (!found->is_table[table])
        return make_table(schema, table);
    for (size_t i = 0; status == CLI_OK && i < probity_fleet_tables[table].column_count; i++) {
        if (found->columns[table] >> i & 1)
            continue;
        status = add_column(schema, table, i);
        found->columns_made++;
    }
    return status;
}

static int find(const struct cli_ship_schema *schema, struct found *ret_found)
{
    struct cli_fleet *fleet = schema->fleet;
    int status = find_version(fleet, &ret_found->version);

    if (status == CLI_OK && ret_found->version > PROBITY_FLEET_SCHEMA_VERSION)
        status = fail_newer(fleet, ret_found->version);
    if (status == CLI_OK)
        status = find_tables(fleet, ret_found);
    if (status == CLI_OK)
        status = find_columns(fleet, ret_found);
    if (status == CLI_OK)
        status = find_old_calls(fleet, ret_found);
    int has_runs = ret_found->is_table[PROBITY_FLEET_RUNS];
    if (ret_found->version == 0 && has_runs)
        ret_found->version = 1;
    if (status == CLI_OK && has_runs && ret_found->is_cluster != (schema->cluster != NULL))
        status = cli_fail(fleet->command, ret_found->is_cluster
                              ? "the tables of '%s' are on a cluster: name it with --cluster"
                              : "the tables of '%s' are those of a single server: use another "
                                "database for a cluster", fleet->url);
    return status;
}

static int put_calls_aside(const struct cli_ship_schema *schema, struct found *found)
{
    int status = cli_ship_put_calls_aside(schema);

    found->is_table[PROBITY_FLEET_CALLS] = 0;
    found->columns[PROBITY_FLEET_CALLS] = 0;
    found->has_old_calls = 1;
    return status;
}

static void report(const struct cli_fleet *fleet, const struct found *found)
{
    fprintf(stderr, "probity ship: '%s' has the tables of schema version %d", fleet->url,
            PROBITY_FLEET_SCHEMA_VERSION);
    if (found->version > 0 && found->version < PROBITY_FLEET_SCHEMA_VERSION)
        fprintf(stderr, "; migrated from version %u: %u table%s, %u column%s added",
                found->version, found->tables_made, probity_text_s(found->tables_made),
                found->columns_made, probity_text_s(found->columns_made));
    if (found->version > 0 && found->version < PROBITY_FLEET_SCHEMA_COMPLETE)
        fputs("; send the traces that were sent before again", stderr);
    if (found->version < PROBITY_FLEET_SCHEMA_VERSION && found->has_old_calls)
        fputs("; the calls were copied from " PROBITY_FLEET_OLD_CALLS ", which is no longer needed",
              stderr);
    fputc('\n', stderr);
}

int cli_ship_make_tables(const struct cli_ship_schema *schema)
{
    struct found found = {.version = 0};
    int status = cli_fleet_connect(schema->fleet);

    if (status == CLI_OK)
        status = find(schema, &found);
    if (status == CLI_OK && found.must_rename)
        status = put_calls_aside(schema, &found);
    for (size_t i = 0; status == CLI_OK && i < PROBITY_FLEET_TABLES; i++)
        status = migrate_table(schema, i, &found);
    if (status == CLI_OK && found.version < PROBITY_FLEET_SCHEMA_VERSION && found.has_old_calls)
        status = cli_ship_copy_calls(schema);
    if (status == CLI_OK && found.version < PROBITY_FLEET_SCHEMA_VERSION)
        status = put_version(schema->fleet);
    if (status == CLI_OK)
        report(schema->fleet, &found);
    return status;
}
