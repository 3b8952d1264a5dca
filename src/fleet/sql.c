/* SPDX-License-Identifier: MIT
 *
 * sql.c: quotes texts, and writes the statements and conditions that select runs.
 */
#include "fleet/sql.h"

#include <inttypes.h>
#include <string.h>

#include "fleet/schema.h"

void probity_fleet_sql_text(FILE *stream, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_.,:/+-@=% ";

    fputc('\'', stream);
    for (; *text != '\0'; text++) {
        if (strchr(plain, *text) != NULL)
            fputc(*text, stream);
        else
            fprintf(stream, "\\x%02x", (unsigned)(unsigned char)*text);
    }
    fputc('\'', stream);
}

static void put_equal(FILE *stream, const char *column, const char *text)
{
    if (text == NULL)
        return;
    fprintf(stream, " AND %s = ", column);
    probity_fleet_sql_text(stream, text);
}

void probity_fleet_sql_choice(FILE *stream, const struct probity_fleet_choice *choice)
{
    fputs("1", stream);
    put_equal(stream, "host", choice->host);
    put_equal(stream, "executable", choice->executable);
    put_equal(stream, "label", choice->label);
    put_equal(stream, "build", choice->build);
    if (choice->from_ns > 0)
        fprintf(stream, " AND ended_ns >= %" PRIu64, choice->from_ns);
    if (choice->to_ns > 0)
        fprintf(stream, " AND started_ns < %" PRIu64, choice->to_ns);
    if (choice->run > 0)
        fprintf(stream, " AND run = %" PRIu64, choice->run);
}

/* No deduplication is needed before the condition: of its columns, only the end of a run differs
 * between the versions of its row. */
void probity_fleet_sql_runs(FILE *stream, const struct probity_fleet_choice *choice)
{
    const struct probity_fleet_table *table = &probity_fleet_tables[PROBITY_FLEET_RUNS];

    fputs("SELECT ", stream);
    for (size_t i = 0; i < table->column_count; i++)
        fprintf(stream, "%s%s", i > 0 ? ", " : "", table->columns[i].name);
    fprintf(stream, " FROM %s WHERE ", table->name);
    probity_fleet_sql_choice(stream, choice);
    fputs(" ORDER BY started_ns, run, version DESC LIMIT 1 BY run", stream);
}

void probity_fleet_sql_run_numbers(FILE *stream, const struct probity_fleet_choice *choice)
{
    fprintf(stream, "SELECT run FROM %s WHERE ", probity_fleet_tables[PROBITY_FLEET_RUNS].name);
    probity_fleet_sql_choice(stream, choice);
}
