/* SPDX-License-Identifier: MIT
 *
 * ship_schema.h: makes the tables of a database, and brings those of an earlier version up to date.
 */
#ifndef PROBITY_CLI_SHIP_SCHEMA_H
#define PROBITY_CLI_SHIP_SCHEMA_H

#include "cli/fleet_client.h"
#include "fleet/schema.h"

struct cli_ship_schema {
    struct cli_fleet *fleet;
    const char *cluster; /* NULL: a single server */
    unsigned ttl_days;
};

/* Prints the statements for a database that has no tables yet. Returns an exit status. */
int cli_ship_print_schema(const struct cli_ship_schema *schema);

/* Makes what tables and columns are missing, unless some that are there have to be other ones: then
 * changes nothing. Reports errors, and what was done. Returns an exit status. */
int cli_ship_make_tables(const struct cli_ship_schema *schema);

/* The version of the tables: the statement, what takes its answer, also an error; 0: there is no
 * version; and whether it is the one that is known here. Report errors. Return an exit status. */
extern const char cli_ship_version_sql[];
int cli_ship_take_version(const struct cli_fleet *fleet, const struct cli_http_answer *answer,
                          unsigned *ret_version);
int cli_ship_judge_version(const struct cli_fleet *fleet, unsigned version);

#endif
