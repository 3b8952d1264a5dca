/* SPDX-License-Identifier: MIT
 *
 * fleet_source.h: the options by which a command reads from a database in place of traces, and a
 * report made from it.
 */
#ifndef PROBITY_CLI_FLEET_SOURCE_H
#define PROBITY_CLI_FLEET_SOURCE_H

#include "cli/fleet_client.h"
#include "cli/option.h"
#include "cli/query.h"
#include "fleet/sums.h"

struct cli_fleet_source {
    const char *url, *password_file;
    struct probity_fleet_choice choice;
    int as_sql; /* print the statements instead of executing them */
};

/* Rows for the table of options of a command whose context, CALL, has a `struct cli_fleet_source
 * source`. */
#define CLI_FLEET_DATABASE_ROWS(CALL)                                                              \
    {.name = "from-fleet", .value = "URL", .brief = "read from a database",                        \
     .help = "read from a database that `probity ship` fills, http://USER@HOST:PORT/DATABASE, in " \
             "place of traces (default, without a TRACE: PROBITY_FLEET)",                          \
     CLI_TEXT(CALL, source.url)},                                                                  \
    {.name = "password-file", .value = "FILE", .brief = "file with the password",                  \
     .help = "take its password from the first line of FILE (default: PROBITY_FLEET_PASSWORD)",    \
     CLI_TEXT(CALL, source.password_file)},                                                        \
    {.name = "host", .value = "NAME", .help = "from a database: only runs on this host",         \
     .brief = "only runs on this host", CLI_TEXT(CALL, source.choice.host)},                       \
    {.name = "executable", .value = "PATH",                                                        \
     .help = "from a database: only runs of this executable",                                    \
     .brief = "only runs of this executable", CLI_TEXT(CALL, source.choice.executable)},           \
    {.name = "label", .value = "LABEL", .help = "from a database: only runs with this label",    \
     .brief = "only runs with this label", CLI_TEXT(CALL, source.choice.label)},                   \
    {.name = "build", .value = "ID", .help = "from a database: only runs of this build id",      \
     .brief = "only runs of this build", CLI_TEXT(CALL, source.choice.build)}

#define CLI_FLEET_ROWS(CALL)                                                                       \
    CLI_FLEET_DATABASE_ROWS(CALL),                                                                 \
    {.name = "sql", .brief = "print the SQL statements",                                           \
     .help = "from a database: print the SQL statements instead of the answer",                  \
     CLI_FLAG(CALL, source.as_sql)}

/* Whether to read from a database: it is given, or there is no operand and PROBITY_FLEET is set. */
int cli_fleet_is_wanted(const struct cli_fleet_source *source, size_t operands);

/* Reports an option that needs --from-fleet. Returns CLI_OK or CLI_USAGE. */
int cli_fleet_is_unused(const struct cli_command *command, const struct cli_fleet_source *source);

/* The chosen runs, in order of their starts. */
struct cli_fleet_runs {
    struct probity_fleet_run *runs;
    struct probity_trace_facts *facts; /* their paths belong to this */
    struct cli_fleet_texts {
        char *host, *program, *label; /* zero-terminated */
    } *texts;
    size_t count;
    struct probity_reader *reader; /* of the facts */
};

/* Asks for the chosen runs. Reports errors, also that there are none. Returns an exit status;
 * release it in any case. */
int cli_fleet_runs(struct cli_fleet *fleet, const struct probity_fleet_choice *choice,
                   struct cli_fleet_runs *ret_runs);
void cli_fleet_runs_release(struct cli_fleet_runs *runs);

/* Makes a report from a database, has the command take it over, and prints it as the command prints
 * any. Returns an exit status. */
int cli_fleet_report(struct cli_query *answer, struct cli_fleet_source *source, int by_thread,
                     void (*take)(void *context, struct probity_report *report,
                                  const struct probity_scopes_repairs *repairs));

#endif
