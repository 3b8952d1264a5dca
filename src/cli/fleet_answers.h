/* SPDX-License-Identifier: MIT
 *
 * fleet_answers.h: steps common to answers from a database. All report errors, and return an exit
 * status unless noted.
 */
#ifndef PROBITY_CLI_FLEET_ANSWERS_H
#define PROBITY_CLI_FLEET_ANSWERS_H

#include "cli/fleet_source.h"
#include "fleet/spans.h"

/* Opens the database, queries the runs and determines the range. Call end in any case. */
int cli_fleet_begin_query(struct cli_query *query, struct cli_fleet_asking *ret_asking);

/* Release the sums in any case. */
int cli_fleet_init_sums(const struct cli_fleet_asking *asking,
                        struct probity_fleet_sums *ret_sums);
int cli_fleet_ask_threads(struct cli_fleet_asking *asking, struct probity_fleet_sums *sums);

/* is_needed: the next statement contains the numbers. */
int cli_fleet_ask_functions(struct cli_fleet_asking *asking, struct probity_fleet_sums *sums,
                            int is_needed);

/* Queries the numbers of unmatched and unfinished calls in the range. */
int cli_fleet_find_repairs(struct cli_fleet_asking *asking,
                           struct probity_scopes_repairs *ret_repairs);

/* Fills blocks: a single set or, if the range is by run, one for each run. The probes must be
 * empty, and live as long as the blocks. */
int cli_fleet_fill_blocks(struct cli_fleet_asking *asking, const struct probity_fleet_sums *sums,
                          struct probity_fleet_probes_taken *probes,
                          struct probity_blocks *const *blocks);

/* Queries the sums of calls and finishes the reports: a single one or, if the range is by run, one
 * for each run. */
int cli_fleet_ask_sums(struct cli_fleet_asking *asking, struct probity_fleet_sums *sums,
                       struct probity_report *const *reports, size_t count);

/* Checks that all runs were sent with the detail needed for sums of calls in the range;
 * needs_calls: also with single calls and blocks. */
int cli_fleet_check_detail(const struct cli_fleet_asking *asking, int needs_calls);

#endif
