/* SPDX-License-Identifier: MIT
 *
 * waiting.h: what threads waited for: rows by lock, file, peer, function or thread, each with its
 * waits, its waiters, its holders and what they did, and the longest waits; split by thread
 * states (doc/sched.md), if they are among the events. Memory: see waits.h and thread_states.h;
 * PROBITY_WAITING_ROWS_MAX rows with at most PROBITY_WAITING_HOLDERS_MAX holders each. Everything
 * beyond is summed in one row, or one holder. Prints nothing.
 */
#ifndef PROBITY_ANSWERS_WAITS_WAITING_H
#define PROBITY_ANSWERS_WAITS_WAITING_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/thread_table.h"
#include "analysis/waits.h"
#include "answers/waits/waiting_row.h"

struct probity_waiting;

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_waiting_open(const struct probity_waiting_options *options,
                         struct probity_waiting **ret_waiting);

/* Takes the next event in time order. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_waiting_put(struct probity_waiting *waiting, const struct probity_event *event);

/* Returns the number of waits and calls that began in the range and have not ended. */
uint64_t probity_waiting_pending(const struct probity_waiting *waiting);

/* Call after the last put. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_waiting_finish(struct probity_waiting *waiting);

/* After finish: returns the rows, most waiting first. Valid until close. */
const struct probity_waiting_row *const *probity_waiting_rows(
    const struct probity_waiting *waiting, size_t *ret_count);

/* Returns a thread that is named in a row; NULL for NO_THREAD. */
const struct probity_thread_label *probity_waiting_thread(const struct probity_waiting *waiting,
                                                          uint32_t thread_slot);

struct probity_waits_facts probity_waiting_facts(const struct probity_waiting *waiting);
const struct probity_scopes_repairs *probity_waiting_repairs(
    const struct probity_waiting *waiting);

void probity_waiting_close(struct probity_waiting *waiting);

#endif
