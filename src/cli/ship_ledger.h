/* SPDX-License-Identifier: MIT
 *
 * ship_ledger.h: TRACE.shipped, which lists the blocks of a run that a database has acknowledged
 * (doc/fleet.md). It also excludes a second sender of the same trace. It is never the only
 * evidence: the server is queried as well.
 */
#ifndef PROBITY_CLI_SHIP_LEDGER_H
#define PROBITY_CLI_SHIP_LEDGER_H

#include "cli/cli.h"
#include "fleet/schema.h"

struct cli_ledger_block {
    uint64_t rows; /* 0: not in the ledger */
    uint32_t checksum;
};

struct cli_ledger {
    const struct cli_command *command;
    char *path;
    int file; /* -1: it could not be created */
    const char *url;
    size_t url_bytes;
    uint64_t run;
    struct cli_ledger_block *blocks[PROBITY_FLEET_TABLES];
    size_t counts[PROBITY_FLEET_TABLES], rooms[PROBITY_FLEET_TABLES];
};

/* Opens the ledger next to a trace and locks it. Warns if it cannot be written. Returns CLI_OK, or
 * CLI_FAILURE after reporting that another process has locked it. */
int cli_ledger_open(const struct cli_command *command, const char *trace, const char *url,
                    uint64_t run, struct cli_ledger *ret_ledger);

/* Returns the ledger's entry for a block; rows 0: none. */
struct cli_ledger_block cli_ledger_at(const struct cli_ledger *ledger,
                                      enum probity_fleet_table_number table, uint32_t block);

/* These add an acknowledged block, or a line stating that all blocks were acknowledged. Return 0 or
 * -1. */
int cli_ledger_add(struct cli_ledger *ledger, enum probity_fleet_table_number table,
                   uint32_t block, struct cli_ledger_block what);
int cli_ledger_finish(struct cli_ledger *ledger, const char *detail);

void cli_ledger_close(struct cli_ledger *ledger);

#endif
