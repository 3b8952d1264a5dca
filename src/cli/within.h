/* SPDX-License-Identifier: MIT
 *
 * within.h: --function for commands that pass events on: only calls of the functions that match,
 * and the events of their threads during these calls.
 */
#ifndef PROBITY_CLI_WITHIN_H
#define PROBITY_CLI_WITHIN_H

#include "cli/patterns.h"
#include "reader/reader.h"

struct cli_within;

/* The patterns must live as long. Returns 0 or PROBITY_ERROR_MEMORY. */
int cli_within_open(struct cli_patterns *patterns, struct cli_within **ret_within);

/* Takes the next event in time order. Returns 1 if it is wanted, 0, or PROBITY_ERROR_MEMORY.
 * Declarations, and events that concern all threads, are wanted. *event is replaced, until the next
 * call, if it ends matching calls as well as calls around them. */
int cli_within_put(struct cli_within *within, const struct probity_event **event);

void cli_within_close(struct cli_within *within);

#endif
