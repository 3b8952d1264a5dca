/* SPDX-License-Identifier: MIT
 *
 * ship_migrate.c: renames the old table, and copies its rows run by run and day by day. Missing
 * rows are found by counting, so no state is needed; a day with part of a run is removed from the
 * new table, which contains only copies, and copied again.
 */
#include "cli/ship_migrate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probity.h"

enum { PIECES_MAX = 1000, DAY_BYTES = 11, ATTEMPTS_MAX = 5, SQL_BYTES = 800 };

/* The calls of a run that ended on one day. */
struct piece {
    char day[DAY_BYTES];
    uint64_t run, copied;
};

static int execute(struct cli_fleet *fleet, const char *sql)
{
    struct probity_fleet_answer answer;

    return cli_fleet_ask(fleet, sql, &answer);
}

static const char *on_cluster(const struct cli_ship_schema *schema, char *ret_text, size_t bytes)
{
    if (schema->cluster == NULL)
        return "";
    snprintf(ret_text, bytes, " ON CLUSTER '%s'", schema->cluster);
    return ret_text;
}

int cli_ship_put_calls_aside(const struct cli_ship_schema *schema)
{
    char sql[512], cluster[256];

    snprintf(sql, sizeof sql, "RENAME TABLE %s TO " PROBITY_FLEET_OLD_CALLS "%s",
             probity_fleet_tables[PROBITY_FLEET_CALLS].name,
             on_cluster(schema, cluster, sizeof cluster));
    return execute(schema->fleet, sql);
}

/* ---- What is missing ---------------------------------------------------------------------------
 */

/* Excludes rows that the new table would remove at once. */
static void print_comparison(const struct cli_ship_schema *schema, char ret_sql[SQL_BYTES])
{
    char days[64] = "";

    if (schema->ttl_days > 0)
        snprintf(days, sizeof days, " WHERE day + %u > today()", schema->ttl_days);
    snprintf(ret_sql, SQL_BYTES, "SELECT toString(day), run, new FROM (SELECT day, run, "
             "sum(is_old) AS old, sum(1 - is_old) AS new FROM (SELECT day, run, toUInt64(1) AS "
             "is_old FROM " PROBITY_FLEET_OLD_CALLS "%s UNION ALL SELECT day, run, toUInt64(0) AS "
             "is_old FROM %s%s) GROUP BY day, run) WHERE old != new ORDER BY day, run LIMIT %d",
             days, probity_fleet_tables[PROBITY_FLEET_CALLS].name, days, PIECES_MAX);
}

/* Finds some of the pieces of which the two tables have different numbers of rows. Returns their
 * number, or -1 after reporting an error. */
static int find_pieces(const struct cli_ship_schema *schema, struct piece pieces[PIECES_MAX])
{
    char sql[SQL_BYTES];
    struct probity_fleet_answer answer;
    int count = 0;

    print_comparison(schema, sql);
    if (cli_fleet_ask(schema->fleet, sql, &answer) != CLI_OK)
        return -1;
    while (count < PIECES_MAX && !probity_fleet_answer_is_over(&answer)) {
        size_t length;
        const char *day = probity_fleet_take_text(&answer, &length);
        struct piece *piece = &pieces[count++];
        snprintf(piece->day, sizeof piece->day, "%.*s", (int)(length < DAY_BYTES ? length : 0),
                 day);
        piece->run = probity_fleet_take_number(&answer, 8);
        piece->copied = probity_fleet_take_number(&answer, 8);
        if (answer.is_bad || strspn(piece->day, "0123456789-") != DAY_BYTES - 1) {
            cli_fail(schema->fleet->command, "'%s' returned an invalid reply", schema->fleet->url);
            return -1;
        }
    }
    return count;
}

/* ---- Copying -----------------------------------------------------------------------------------
 */

static int remove_day(const struct cli_ship_schema *schema, const char *day)
{
    const struct probity_fleet_table *table = &probity_fleet_tables[PROBITY_FLEET_CALLS];
    char sql[512], cluster[256];

    snprintf(sql, sizeof sql, "ALTER TABLE %s%s DROP PARTITION '%s'",
             schema->cluster != NULL ? table->stored_as : table->name,
             on_cluster(schema, cluster, sizeof cluster), day);
    return execute(schema->fleet, sql);
}

static int copy_piece(const struct cli_ship_schema *schema, const struct piece *piece)
{
    char *sql = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&sql, &bytes);

    if (stream != NULL)
        probity_fleet_schema_copy_calls(stream, piece->day, piece->run);
    int status = stream != NULL && fclose(stream) == 0
                     ? execute(schema->fleet, sql)
                     : cli_fail(schema->fleet->command, "%s",
                                probity_error_text(PROBITY_ERROR_MEMORY));
    free(sql);
    return status;
}

/* Days with part of a run are removed first, so that the next round copies them. */
static int copy_round(const struct cli_ship_schema *schema, const struct piece *pieces, int count)
{
    int status = CLI_OK, has_removed = 0;
    const char *removed = "";

    for (int i = 0; status == CLI_OK && i < count; i++) {
        if (pieces[i].copied == 0 || strcmp(pieces[i].day, removed) == 0)
            continue;
        removed = pieces[i].day;
        has_removed = 1;
        status = remove_day(schema, removed);
    }
    for (int i = 0; status == CLI_OK && !has_removed && i < count; i++)
        status = copy_piece(schema, &pieces[i]);
    return status;
}

static int copy_rounds(const struct cli_ship_schema *schema, struct piece *pieces)
{
    struct piece first = {.run = 0};
    int attempts = 0, status = CLI_OK;

    while (status == CLI_OK) {
        int count = find_pieces(schema, pieces);
        if (count <= 0)
            return count == 0 ? CLI_OK : CLI_FAILURE;
        int is_same = first.run == pieces[0].run && strcmp(first.day, pieces[0].day) == 0;
        attempts = is_same ? attempts + 1 : 1;
        first = pieces[0];
        if (attempts > ATTEMPTS_MAX)
            return cli_fail(schema->fleet->command, "'%s': the calls of %s cannot be copied, "
                            "because another process changes them", schema->fleet->url,
                            PROBITY_FLEET_OLD_CALLS);
        status = copy_round(schema, pieces, count);
    }
    return status;
}

int cli_ship_copy_calls(const struct cli_ship_schema *schema)
{
    struct piece *pieces = calloc(PIECES_MAX, sizeof *pieces);

    if (pieces == NULL)
        return cli_fail(schema->fleet->command, "%s",
                        probity_error_text(PROBITY_ERROR_MEMORY));
    schema->fleet->is_copying = 1;
    int status = copy_rounds(schema, pieces);
    schema->fleet->is_copying = 0;
    free(pieces);
    return status;
}
