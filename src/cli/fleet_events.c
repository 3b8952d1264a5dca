/* SPDX-License-Identifier: MIT
 *
 * fleet_events.c: makes call trees and blocks from a database.
 */
#include "cli/fleet_answers.h"
#include "fleet/trees.h"

static int fail(const struct cli_fleet_asking *asking, int error)
{
    return cli_fleet_fail_format(&asking->fleet, error);
}

/* Returns the exit status of a step, after reporting a failure. */
static int status_of(const struct cli_fleet_asking *asking, int error)
{
    return error == 0 ? CLI_OK : fail(asking, error);
}

/* Lets the command finish, then prints. */
static int finish(const struct cli_fleet_asking *asking, struct cli_query *query)
{
    if (asking->source->as_sql)
        return CLI_OK;
    int error = query->steps->finish(query->context, asking->runs.reader);
    return error == 0 ? cli_query_print(query, asking->runs.reader) : fail(asking, error);
}

/* ---- Call trees --------------------------------------------------------------------------------
 */

static int fill_tree(struct cli_fleet_asking *asking, const struct probity_fleet_sums *sums,
                     struct probity_fleet_paths_taken *paths, struct probity_tree *tree)
{
    struct probity_scopes_repairs repairs = {0};
    struct probity_fleet_answer answer;
    int status = cli_fleet_query(asking, probity_fleet_sql_paths, &answer);

    if (status == CLI_OK)
        status = status_of(asking, probity_fleet_take_paths(paths, &answer));
    if (status == CLI_OK)
        status = cli_fleet_query(asking, probity_fleet_sql_path_sums, &answer);
    if (status == CLI_OK)
        status = status_of(asking, probity_fleet_take_path_sums(paths, sums, &answer, tree));
    if (status == CLI_OK)
        status = cli_fleet_find_repairs(asking, &repairs);
    probity_tree_add_repairs(tree, &repairs, 0);
    return status;
}

static int find_profiled(struct cli_fleet_asking *asking, uint64_t *ret_profiled,
                         uint64_t *ret_counted)
{
    struct probity_fleet_answer answer;
    int status = cli_fleet_query(asking, probity_fleet_sql_profiled, &answer);

    if (status == CLI_OK && !asking->source->as_sql)
        status = status_of(asking,
                           probity_fleet_take_profiled(&answer, ret_profiled, ret_counted));
    return status;
}

int cli_fleet_tree(struct cli_query *query, struct probity_tree *tree, int by_thread,
                   uint64_t *ret_profiled, uint64_t *ret_counted)
{
    struct probity_fleet_paths_taken paths = {.table = {0}};
    struct probity_fleet_sums sums = {.runs = NULL};
    struct cli_fleet_asking asking;
    int status = cli_fleet_begin_query(query, &asking);

    asking.range.group = by_thread ? PROBITY_FLEET_OF_THREAD : PROBITY_FLEET_OF_ALL;
    if (status == CLI_OK && !probity_fleet_is_of_minutes(&asking.range))
        status = cli_fail(query->command, "--since and --until must be whole minutes, such as "
                          "2026-01-31T12:00: the database has sums of call paths by minute");
    if (status == CLI_OK)
        status = cli_fleet_init_sums(&asking, &sums);
    if (status == CLI_OK)
        status = cli_fleet_ask_functions(&asking, &sums, 0);
    if (status == CLI_OK && by_thread)
        status = cli_fleet_ask_threads(&asking, &sums);
    if (status == CLI_OK)
        status = fill_tree(&asking, &sums, &paths, tree);
    if (status == CLI_OK)
        status = find_profiled(&asking, ret_profiled, ret_counted);
    if (status == CLI_OK)
        status = finish(&asking, query);
    probity_fleet_paths_taken_release(&paths);
    probity_fleet_sums_release(&sums);
    cli_fleet_end(&asking);
    return status;
}

/* ---- Blocks ------------------------------------------------------------------------------------
 */

static void write_probes(FILE *stream, const void *spans)
{
    probity_fleet_sql_probes(stream, spans);
}

static void write_sums(FILE *stream, const void *spans)
{
    probity_fleet_sql_spans_sums(stream, spans);
}

static void write_slowest(FILE *stream, const void *spans)
{
    probity_fleet_sql_slowest(stream, spans);
}

static int fill_blocks(struct cli_fleet_asking *asking, const struct probity_fleet_sums *sums,
                       const struct probity_fleet_spans *spans,
                       struct probity_fleet_probes_taken *probes,
                       struct probity_blocks *const *blocks)
{
    struct probity_fleet_answer answer;
    int status = cli_fleet_query_about(asking, write_probes, spans, &answer);

    if (status == CLI_OK)
        status = status_of(asking, probity_fleet_take_probes(probes, &answer));
    if (status == CLI_OK)
        status = cli_fleet_query_about(asking, write_sums, spans, &answer);
    if (status == CLI_OK)
        status =
            status_of(asking, probity_fleet_take_spans_sums(probes, sums, &answer, blocks));
    if (status != CLI_OK || spans->slowest == 0)
        return status;
    status = cli_fleet_query_about(asking, write_slowest, spans, &answer);
    return status != CLI_OK
               ? status
               : status_of(asking, probity_fleet_take_slowest(probes, sums, &answer, blocks[0]));
}

int cli_fleet_blocks(struct cli_query *query, const struct probity_blocks_options *options,
                     int is_slowest, struct probity_blocks *blocks)
{
    struct probity_fleet_probes_taken probes = {.table = {0}};
    struct probity_fleet_sums sums = {.runs = NULL};
    struct cli_fleet_asking asking;
    int status = cli_fleet_begin_query(query, &asking);
    const struct probity_fleet_spans spans = {&asking.range, options->by_correlation,
                                              is_slowest ? options->slowest : 0};

    asking.range.group = options->by_thread ? PROBITY_FLEET_OF_THREAD : PROBITY_FLEET_OF_ALL;
    if (status == CLI_OK && (is_slowest || !probity_fleet_spans_are_of_minutes(&spans)))
        status = cli_fleet_check_detail(&asking, 1);
    if (status == CLI_OK)
        status = cli_fleet_init_sums(&asking, &sums);
    if (status == CLI_OK && (options->by_thread || is_slowest))
        status = cli_fleet_ask_threads(&asking, &sums);
    if (status == CLI_OK)
        status = fill_blocks(&asking, &sums, &spans, &probes, &blocks);
    if (status == CLI_OK)
        status = finish(&asking, query);
    probity_fleet_probes_taken_release(&probes);
    probity_fleet_sums_release(&sums);
    cli_fleet_end(&asking);
    return status;
}

int cli_fleet_fill_blocks(struct cli_fleet_asking *asking, const struct probity_fleet_sums *sums,
                          struct probity_fleet_probes_taken *probes,
                          struct probity_blocks *const *blocks)
{
    const struct probity_fleet_spans spans = {.range = &asking->range};

    return fill_blocks(asking, sums, &spans, probes, blocks);
}
