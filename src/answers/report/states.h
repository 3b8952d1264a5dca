/* SPDX-License-Identifier: MIT
 *
 * states.h: the total and self times of functions, split into running, waiting for a CPU, blocked
 * and unknown. There is one report per state, with the time in that state in place of the CPU time.
 * The rest of the wall time is blocked. Memory: three reports. Prints nothing.
 */
#ifndef PROBITY_ANSWERS_REPORT_STATES_H
#define PROBITY_ANSWERS_REPORT_STATES_H

#include "analysis/thread_states.h"
#include "answers/report/report.h"

struct probity_states_row {
    const struct probity_report_function *entry; /* its CPU times are the running times */
    struct probity_thread_split total, self;     /* the parts sum to the wall time */
};

struct probity_states_report;

/* In the options, by_thread and costs_of must be 0. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_states_report_open(const struct probity_report_options *options,
                               struct probity_states_report **ret_states);

/* The same as probity_report_put(); the events include thread states. */
int probity_states_report_put(struct probity_states_report *states,
                              const struct probity_event *event);
uint64_t probity_states_report_pending(const struct probity_states_report *states);

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_states_report_finish(struct probity_states_report *states);

/* After finish, once: returns the functions, sorted, or NULL if out of memory. Valid until
 * close. */
struct probity_states_row *probity_states_report_rows(struct probity_states_report *states,
                                                      enum probity_report_key key,
                                                      size_t *ret_count);

/* Call after finish. */
const struct probity_scopes_repairs *probity_states_report_repairs(
    const struct probity_states_report *states);

void probity_states_report_close(struct probity_states_report *states);

/* Completes a split of wall_ns whose other parts are known: the rest is the time blocked. */
void probity_states_complete(struct probity_thread_split *split, uint64_t wall_ns);

#endif
