/* SPDX-License-Identifier: MIT
 *
 * sums.h: statements that query sums of calls, and the conversion of their replies into a report.
 * Does no I/O.
 */
#ifndef PROBITY_FLEET_SUMS_H
#define PROBITY_FLEET_SUMS_H

#include "analysis/same_function.h"
#include "answers/report/report.h"
#include "answers/threads/threads.h"
#include "base/hashtable.h"
#include "fleet/answer.h"
#include "fleet/run.h"
#include "fleet/sql.h"

/* What sums are grouped by, in addition to the function. */
enum probity_fleet_group {
    PROBITY_FLEET_OF_ALL, /* all selected runs together */
    PROBITY_FLEET_OF_RUN,
    PROBITY_FLEET_OF_THREAD
};

/* The calls to sum: those of the selected runs that begin in [from, to); to 0: no end. */
struct probity_fleet_range {
    struct probity_fleet_choice choice;
    uint64_t from_ns, to_ns;
    enum probity_fleet_group group;
    enum probity_report_key measure; /* what counts as the duration of a call, as in a report */
    const uint64_t *functions;       /* only calls of these functions, at least one; NULL: all */
    size_t function_count;
    const uint64_t *runs; /* only these of the selected runs, at least one; NULL: all */
    size_t run_count;
    int has_hours; /* 1: the hourly rows are complete for all selected runs */
    const uint64_t *chosen; /* the numbers of the selected runs, at least one; NULL: a subquery
                             * finds them; in a cluster, each server would return all runs for
                             * it */
    size_t chosen_count;
    int of_any_run; /* 1: list the functions of all runs, without querying their calls */
};

/* Whether the per-minute rows suffice. */
int probity_fleet_is_of_minutes(const struct probity_fleet_range *range);

/* Write the statements for functions, for threads, and for sums (from per-minute rows if they
 * suffice, otherwise from rows of calls). */
void probity_fleet_sql_functions(FILE *stream, const struct probity_fleet_range *range);
void probity_fleet_sql_threads(FILE *stream, const struct probity_fleet_range *range);
void probity_fleet_sql_sums(FILE *stream, const struct probity_fleet_range *range);

/* Writes the statement that counts calls in the range, of any function, that were closed by a
 * repair or have not ended. */
void probity_fleet_sql_repairs(FILE *stream, const struct probity_fleet_range *range);

/* Writes the statement for the number of declared functions of each chosen run. */
void probity_fleet_sql_counts(FILE *stream, const struct probity_fleet_range *range);

/* Writes the statement for the times of threads, from rows of calls. These rows do not include the
 * pauses of callees, so ends are too early if there were any. */
void probity_fleet_sql_spans(FILE *stream, const struct probity_fleet_range *range);

/* The contents of the replies to these statements, which are taken in this order. */
struct probity_fleet_sums {
    const struct probity_fleet_run *runs; /* the selected runs, in the order of `facts` */
    const struct probity_trace_facts *facts;
    size_t run_count;
    enum probity_fleet_group group; /* grouping of the sums to take */
    struct probity_hashtable functions, threads, numbers; /* numbers: those of runs */
    size_t paused_threads; /* threads with spans in which a call was paused */
};

/* Returns 0 or PROBITY_ERROR_MEMORY. Release it in either case. */
int probity_fleet_sums_init(struct probity_fleet_sums *sums, const struct probity_fleet_run *runs,
                            const struct probity_trace_facts *facts, size_t count);

/* Return 0, MEMORY, or PROBITY_ERROR_FORMAT if the reply has another format. The sums own functions
 * and names. */
int probity_fleet_take_functions(struct probity_fleet_sums *sums,
                                 struct probity_fleet_answer *answer);
int probity_fleet_take_threads(struct probity_fleet_sums *sums,
                               struct probity_fleet_answer *answer);
/* reports: one for each run if the sums are by run, otherwise one. */
int probity_fleet_take_sums(struct probity_fleet_sums *sums, struct probity_fleet_answer *answer,
                            struct probity_report *const *reports);
/* ret_counts: one for each run. */
int probity_fleet_take_counts(const struct probity_fleet_sums *sums,
                              struct probity_fleet_answer *answer, uint64_t *ret_counts);
int probity_fleet_take_repairs(struct probity_fleet_answer *answer,
                               struct probity_scopes_repairs *ret_repairs);
int probity_fleet_take_spans(struct probity_fleet_sums *sums, struct probity_fleet_answer *answer,
                             struct probity_threads *threads);

/* Finds the function with this number, after functions were taken; the trace in ret_key is 0.
 * Returns 0, or FORMAT if there is none. */
int probity_fleet_function_at(const struct probity_fleet_sums *sums, uint64_t number,
                              struct probity_function_key *ret_key);

/* Finds the thread with this number, after threads were taken. Returns NULL if there is none. */
const struct probity_thread_label *probity_fleet_thread_at(const struct probity_fleet_sums *sums,
                                                           uint64_t run, uint32_t thread);

/* Finds the index of a run in the order of the facts. Returns 0, or FORMAT if the run was not
 * selected. */
int probity_fleet_run_at(const struct probity_fleet_sums *sums, uint64_t run, size_t *ret_index);

/* Reads a histogram, which is two arrays. Returns 0, MEMORY or FORMAT. */
int probity_fleet_take_histogram(struct probity_fleet_answer *answer,
                                 struct probity_histogram *durations);

/* Write parts of statements: the condition for rows of the selected runs whose moment is in the
 * range (a column or an expression, in units of the given number of ns); and the bucket of a
 * duration as the column `bucket`, after the columns `near` and `shift`. */
void probity_fleet_sql_condition(FILE *stream, const struct probity_fleet_range *range,
                                 const char *moment, uint64_t unit_ns);
extern const char probity_fleet_bucket_columns[];

/* Lists the numbers of the functions that `is_wanted` accepts. It is called with NULL for a
 * function whose declaration was lost. The list is malloc'ed. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_fleet_sums_choose(struct probity_fleet_sums *sums,
                              int (*is_wanted)(void *context,
                                               const struct probity_function *function),
                              void *context, uint64_t **ret_numbers, size_t *ret_count);

void probity_fleet_sums_release(struct probity_fleet_sums *sums);

#endif
