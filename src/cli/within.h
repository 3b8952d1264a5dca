/* SPDX-License-Identifier: MIT
 *
 * within.h: --function for commands that pass on events: passes on only calls of matching
 * functions, and the events of their threads during these calls. For commands that need all events,
 * determines whether something happened in such a call.
 */
#ifndef PROBITY_CLI_WITHIN_H
#define PROBITY_CLI_WITHIN_H

#include "cli/patterns.h"
#include "reader/reader.h"

struct cli_within;

/* The patterns must stay valid. Returns 0 or PROBITY_ERROR_MEMORY. */
int cli_within_open(struct cli_patterns *patterns, struct cli_within **ret_within);

/* Takes the next event in time order. Returns 1 if it is wanted, 0, or PROBITY_ERROR_MEMORY.
 * Declarations, and events that concern all threads, are wanted. If the event ends matching calls
 * as well as calls around them, *event is replaced until the next call. */
int cli_within_put(struct cli_within *within, const struct probity_event **event);

/* Whether a call of a matching function was open in a thread at a time since its latest outermost
 * one began: 1 or 0. */
int cli_within_is_open(const struct cli_within *within, uint32_t thread_slot, uint64_t wall_ns);

void cli_within_close(struct cli_within *within);

#endif
