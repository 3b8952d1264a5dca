/* SPDX-License-Identifier: MIT
 *
 * fleet_options.h: the options, common to all such commands, for reading from a database instead of
 * traces.
 */
#ifndef PROBITY_CLI_FLEET_OPTIONS_H
#define PROBITY_CLI_FLEET_OPTIONS_H

#include "cli/cli.h"
#include "cli/option.h"
#include "fleet/sql.h"

struct cli_fleet_source {
    const char *url, *password_file;
    struct probity_fleet_choice choice;
    int as_sql; /* print the statements instead of executing them */
};

/* Rows for the table of options of a command whose context, CALL, has the source as SOURCE.
 * INSTEAD: the input that the database replaces. Commands that take labels in other ways have no
 * option for labels. */
#define CLI_FLEET_URL_ROW(CALL, SOURCE, INSTEAD)                                                   \
    {.name = "from-fleet", .value = "URL", .brief = "read from a database",                        \
     .help = "read from a database that `probity ship` fills, http://USER@HOST:PORT/DATABASE, "    \
             "instead of " INSTEAD,                                                                \
     CLI_TEXT(CALL, SOURCE.url)}

#define CLI_FLEET_CHOICE_ROWS(CALL, SOURCE)                                                        \
    {.name = "password-file", .value = "FILE", .brief = "file with the password",                  \
     .help = "take its password from the first line of FILE (default: PROBITY_FLEET_PASSWORD)",    \
     CLI_TEXT(CALL, SOURCE.password_file)},                                                        \
    {.name = "host", .value = "NAME", .help = "from a database: only runs on this host",           \
     .brief = "only runs on this host", CLI_TEXT(CALL, SOURCE.choice.host)},                       \
    {.name = "executable", .value = "PATH",                                                        \
     .help = "from a database: only runs of this executable",                                      \
     .brief = "only runs of this executable", CLI_TEXT(CALL, SOURCE.choice.executable)},           \
    {.name = "build", .value = "ID", .help = "from a database: only runs of this build id",        \
     .brief = "only runs of this build", CLI_TEXT(CALL, SOURCE.choice.build)}

#define CLI_FLEET_LABEL_ROW(CALL, SOURCE)                                                          \
    {.name = "label", .value = "LABEL", .help = "from a database: only runs with this label",      \
     .brief = "only runs with this label", CLI_TEXT(CALL, SOURCE.choice.label)}

#define CLI_FLEET_SQL_ROW(CALL, SOURCE)                                                            \
    {.name = "sql", .brief = "print the SQL statements",                                           \
     .help = "from a database: print the SQL statements instead of the answer",                    \
     CLI_FLAG(CALL, SOURCE.as_sql)}

#define CLI_FLEET_ROWS(CALL, SOURCE)                                                               \
    CLI_FLEET_URL_ROW(CALL, SOURCE, "traces (default, without a TRACE: PROBITY_FLEET)"),           \
    CLI_FLEET_CHOICE_ROWS(CALL, SOURCE), CLI_FLEET_LABEL_ROW(CALL, SOURCE),                        \
    CLI_FLEET_SQL_ROW(CALL, SOURCE)

/* Whether to read from a database: one is given, or there is no trace and PROBITY_FLEET is set. */
int cli_fleet_is_wanted(const struct cli_fleet_source *source, size_t traces);

/* Rejects an option that requires --from-fleet. Returns CLI_OK or CLI_USAGE. */
int cli_fleet_is_unused(const struct cli_command *command, const struct cli_fleet_source *source);

/* Reports that the command cannot read from a database. Returns CLI_USAGE. */
int cli_fleet_refuse(const struct cli_command *command);

#endif
