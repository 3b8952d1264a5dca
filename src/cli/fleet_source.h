/* SPDX-License-Identifier: MIT
 *
 * fleet_source.h: runs in a database, and answers made from them.
 */
#ifndef PROBITY_CLI_FLEET_SOURCE_H
#define PROBITY_CLI_FLEET_SOURCE_H

#include "answers/blocks/blocks.h"
#include "answers/diff/compare_run.h"
#include "answers/tree/tree.h"
#include "cli/fleet_client.h"
#include "cli/query.h"
#include "fleet/sites.h"
#include "fleet/sums.h"

/* The chosen runs, in order of their starts. */
struct cli_fleet_runs {
    struct probity_fleet_run *runs;
    struct probity_trace_facts *facts; /* owns their texts and paths */
    struct cli_fleet_texts {
        char *bytes;                       /* all texts of a run */
        const char *host, *program, *label; /* some of these texts, zero-terminated */
    } *texts;
    size_t count;
    struct probity_reader *reader; /* provides the facts */
};

/* Queries the chosen runs. Reports errors; having no runs is an error. Returns an exit status; call
 * release in any case. */
int cli_fleet_runs(struct cli_fleet *fleet, const struct probity_fleet_choice *choice,
                   struct cli_fleet_runs *ret_runs);

/* Same as above without a reader; having no runs is no error. */
int cli_fleet_find_run(struct cli_fleet *fleet, const struct probity_fleet_choice *choice,
                       struct cli_fleet_runs *ret_runs);

void cli_fleet_runs_release(struct cli_fleet_runs *runs);

/* A database that is being queried. */
struct cli_fleet_asking {
    const struct cli_fleet_source *source;
    struct cli_fleet fleet;
    struct cli_fleet_runs runs;
    uint64_t *numbers; /* numbers of the runs, if the database is on a cluster */
    struct probity_fleet_range range;
};

/* Opens the database of a source and queries its runs. Reports errors. Returns an exit status; call
 * end in any case. */
int cli_fleet_begin(const struct cli_command *command, const struct cli_fleet_source *source,
                    struct cli_fleet_asking *ret_asking);
void cli_fleet_end(struct cli_fleet_asking *asking);

/* Executes the statement written by `write`, which queries the range; with --sql, prints the
 * statement instead, and the reply is empty. Reports errors. Returns an exit status. */
int cli_fleet_query(struct cli_fleet_asking *asking,
                    void (*write)(FILE *stream, const struct probity_fleet_range *range),
                    struct probity_fleet_answer *ret_answer);

/* Same as above for a statement that does not query the range. */
int cli_fleet_query_about(struct cli_fleet_asking *asking,
                          void (*write)(FILE *stream, const void *what), const void *what,
                          struct probity_fleet_answer *ret_answer);

/* Reports an error returned by a function that takes a reply. Returns CLI_FAILURE. */
int cli_fleet_fail_format(const struct cli_fleet *fleet, int error);

/* The steps with which a command makes its answer from a report. */
struct cli_fleet_want {
    /* Takes each site, before the report; NULL: sites are not queried. Returns 0 or
     * PROBITY_ERROR_MEMORY. */
    probity_fleet_take_site *take_site;
    int by_thread;
    enum probity_report_key measure; /* the same as for a report */
    /* Whether the answer depends on a function; others are left out. NULL: all are included. */
    int (*is_wanted)(void *context, const struct probity_function *function);
    /* Takes over the report. Returns 0 or PROBITY_ERROR_MEMORY. */
    int (*take)(void *context, struct probity_report *report,
                const struct probity_scopes_repairs *repairs, const struct probity_reader *reader);
};

/* Makes a report, passes it to the command, and prints the answer as if from traces. Returns an
 * exit status. */
int cli_fleet_report(struct cli_query *query, const struct cli_fleet_want *want);

/* Adds the times of threads to `threads`, lets the command finish, and prints the answer as if from
 * traces. Returns an exit status. */
int cli_fleet_threads(struct cli_query *query, struct probity_threads *threads);

/* Adds the call paths of the chosen runs to `tree`, lets the command finish, and prints the answer
 * as if from traces; ret_profiled and ret_counted: calls without times, as in cli_query_profiles().
 * Returns an exit status. */
int cli_fleet_tree(struct cli_query *query, struct probity_tree *tree, int by_thread,
                   uint64_t *ret_profiled, uint64_t *ret_counted);

/* Same as above for blocks between probes; the options are those of `blocks`. is_slowest: lists its
 * slowest instances, up to the limit in the options. */
int cli_fleet_blocks(struct cli_query *query, const struct probity_blocks_options *options,
                     int is_slowest, struct probity_blocks *blocks);

/* Takes over the contents of a run. Returns an exit status. */
typedef int cli_fleet_take_run(void *context, const struct probity_fleet_run *of,
                               struct probity_compare_run *run);

/* Makes runs for a comparison, in order of their starts, and passes on each of them. A relative
 * range is relative to the start of each run. Returns an exit status, CLI_DAMAGED if some run is
 * damaged or, if is_bare, incomplete. */
int cli_fleet_compare(const struct cli_command *command, const struct cli_fleet_source *source,
                      const struct cli_range *range, int is_bare, cli_fleet_take_run *take,
                      void *context);

/* Same as above without the measured values: runs have no items. ret_counts has their numbers of
 * functions; malloc'ed. */
int cli_fleet_list(const struct cli_command *command, const struct cli_fleet_source *source,
                   cli_fleet_take_run *take, void *context, uint64_t **ret_counts);

#endif
