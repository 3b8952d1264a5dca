/* SPDX-License-Identifier: MIT
 *
 * ship_migrate.h: migrates calls of schema version 2, whose table had other columns and another
 * order.
 */
#ifndef PROBITY_CLI_SHIP_MIGRATE_H
#define PROBITY_CLI_SHIP_MIGRATE_H

#include "cli/ship_schema.h"

/* Renames the table of calls of version 2. Returns an exit status. */
int cli_ship_put_calls_aside(const struct cli_ship_schema *schema);

/* Copies the calls of the renamed table that the new one lacks; nothing may send calls meanwhile.
 * May be interrupted and repeated. Reports errors. Returns an exit status. */
int cli_ship_copy_calls(const struct cli_ship_schema *schema);

#endif
