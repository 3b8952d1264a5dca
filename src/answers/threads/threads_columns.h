/* SPDX-License-Identifier: MIT
 *
 * threads_columns.h: the columns of a thread or process in CSV and its members in JSON.
 */
#ifndef PROBITY_ANSWERS_THREADS_THREADS_COLUMNS_H
#define PROBITY_ANSWERS_THREADS_THREADS_COLUMNS_H

#include "answers/threads/threads.h"
#include "print/columns.h"

struct probity_threads_row {
    const struct probity_threads_sums *sums;
    uint64_t all_cpu_ns; /* over all threads; 0: unknown */
    int is_cpu_known;
};

enum { PROBITY_THREADS_COLUMNS = 10, PROBITY_THREADS_STATES = 7 };

/* Each row is a struct probity_threads_row. */
extern const struct probity_column probity_threads_columns[PROBITY_THREADS_COLUMNS];

/* The same, for the additional columns if states were read. */
extern const struct probity_column probity_threads_states[PROBITY_THREADS_STATES];

/* Returns the share of a state in the time between first and last record; negative if unknown. */
double probity_threads_state_share(const struct probity_threads_sums *sums, uint32_t state);

#endif
