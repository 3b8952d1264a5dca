/* SPDX-License-Identifier: MIT
 *
 * ship_send.h: sends the blocks of one run, each exactly once (doc/fleet.md, "Blocks").
 */
#ifndef PROBITY_CLI_SHIP_SEND_H
#define PROBITY_CLI_SHIP_SEND_H

#include "cli/ship_ask.h"

/* Checks the version of the tables, waits until no insert of this run is in progress, and queries
 * which blocks exist. Reports errors. Returns an exit status. */
int cli_ship_begin(struct cli_ship_send *send);

/* Number of rows of a block when it was sent, according to the server or else the ledger. 0:
 * neither shows that it was sent. */
uint64_t cli_ship_known(const struct cli_ship_send *send, enum probity_fleet_table_number table,
                        uint32_t block);

/* Sends a block unless it exists. Reports errors. Returns 0 or PROBITY_ERROR_WRITE. Has the type
 * probity_fleet_take. */
int cli_ship_block(struct cli_ship_send *send, const struct probity_fleet_batch *batch,
                   enum probity_fleet_table_number table, uint32_t block);

/* Checks that the server has every block of these tables, and no others. If some are missing,
 * counts them; the caller must then send all blocks again. Reports errors. Returns an exit
 * status. */
int cli_ship_verify(struct cli_ship_send *send);

void cli_ship_release(struct cli_ship_send *send);

#endif
