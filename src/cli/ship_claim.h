/* SPDX-License-Identifier: MIT
 *
 * ship_claim.h: a sender's claim of a run on the server, which excludes senders elsewhere.
 */
#ifndef PROBITY_CLI_SHIP_CLAIM_H
#define PROBITY_CLI_SHIP_CLAIM_H

#include "cli/ship_ask.h"

/* Claims the run, so that no sender elsewhere sends it as well. Returns an exit status, or
 * CLI_SHIP_BUSY if there is another sender, after reporting it unless is_quiet. */
enum { CLI_SHIP_BUSY = -1 };
int cli_ship_claim(struct cli_ship_send *send, int is_quiet);

/* Renews the claim when necessary; if it had expired, counts all blocks again. Reports errors.
 * Returns 0 or -1. */
int cli_ship_hold(struct cli_ship_send *send);

/* Returns the time, by the server's clock, from which nothing may be inserted under this claim. 0:
 * there is no claim. */
uint64_t cli_ship_deadline(const struct cli_ship_send *send);

/* Releases the claim, if it is held. */
void cli_ship_unclaim(struct cli_ship_send *send);

#endif
