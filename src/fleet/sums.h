/* SPDX-License-Identifier: MIT
 *
 * sums.h: statements whose answers are sums of calls, and how these become a report. Does no I/O.
 */
#ifndef PROBITY_FLEET_SUMS_H
#define PROBITY_FLEET_SUMS_H

#include "answers/report/report.h"
#include "base/hashtable.h"
#include "fleet/answer.h"
#include "fleet/run.h"
#include "fleet/sql.h"

/* Which calls to add up: of the chosen runs, those that begin in [from, to); to 0: no end. */
struct probity_fleet_range {
    struct probity_fleet_choice choice;
    uint64_t from_ns, to_ns;
    int by_thread;
};

/* Whether the rows of minutes suffice. */
int probity_fleet_is_whole_minutes(const struct probity_fleet_range *range);

/* Write the statements for functions, for threads, and for sums: from rows of minutes if they
 * suffice, otherwise from rows of calls. */
void probity_fleet_sql_functions(FILE *stream, const struct probity_fleet_range *range);
void probity_fleet_sql_threads(FILE *stream, const struct probity_fleet_range *range);
void probity_fleet_sql_sums(FILE *stream, const struct probity_fleet_range *range);

/* Takes the answers to these statements, in this order. */
struct probity_fleet_sums {
    const struct probity_fleet_run *runs; /* the chosen ones, in the order of `facts` */
    const struct probity_trace_facts *facts;
    size_t run_count;
    struct probity_hashtable functions, threads, numbers; /* numbers: of runs */
};

/* Returns 0 or PROBITY_ERROR_MEMORY; release it in any case. */
int probity_fleet_sums_init(struct probity_fleet_sums *sums, const struct probity_fleet_run *runs,
                            const struct probity_trace_facts *facts, size_t count);

/* Return 0, MEMORY, or PROBITY_ERROR_FORMAT if it is not such an answer. Functions and names belong
 * to the sums. */
int probity_fleet_take_functions(struct probity_fleet_sums *sums,
                                 struct probity_fleet_answer *answer);
int probity_fleet_take_threads(struct probity_fleet_sums *sums,
                               struct probity_fleet_answer *answer);
int probity_fleet_take_sums(struct probity_fleet_sums *sums, struct probity_fleet_answer *answer,
                            struct probity_report *report);

void probity_fleet_sums_release(struct probity_fleet_sums *sums);

#endif
