/* SPDX-License-Identifier: MIT
 *
 * ship_schema.h: creates the tables of a database, or migrates those of an earlier version.
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

/* Creates missing tables and columns. Changes nothing if existing ones are incompatible. Reports
 * errors, and what it did. Returns an exit status. */
int cli_ship_make_tables(const struct cli_ship_schema *schema);

/* The version of the tables: the statement; the function that takes the reply, which may be an
 * error (0: there is no version); and a check that this is the version of this tool. Report errors.
 * Return an exit status. */
extern const char cli_ship_version_sql[];
int cli_ship_take_version(const struct cli_fleet *fleet, const struct cli_http_answer *answer,
                          unsigned *ret_version);
int cli_ship_judge_version(const struct cli_fleet *fleet, unsigned version);

#endif
