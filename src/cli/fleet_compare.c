/* SPDX-License-Identifier: MIT
 *
 * fleet_compare.c: reads runs from a database, each with its functions and blocks, for comparisons
 * and for lists of runs.
 */
#include "cli/fleet_answers.h"

#include <stdlib.h>

#include "probity.h"

static int fail(const struct cli_fleet_asking *asking, int error)
{
    return cli_fleet_fail_format(&asking->fleet, error);
}

/* ---- Comparisons -------------------------------------------------------------------------------
 */

/* The replies from which runs are made. */
struct answers {
    struct probity_report **reports; /* one for each run; the same applies to blocks */
    struct probity_blocks **blocks;
    struct probity_fleet_sums sums;
    struct probity_fleet_probes_taken probes;
};

/* Without rows of single blocks, the blocks in a range are unknown. */
static int has_blocks(const struct cli_fleet_asking *asking, int is_ranged)
{
    for (size_t i = 0; is_ranged && i < asking->runs.count; i++) {
        if (asking->runs.runs[i].detail == PROBITY_FLEET_DETAIL_SUMMARY)
            return 0;
    }
    return 1;
}

/* Determines the range of one run, and queries its sums. */
static int fill_one(struct cli_fleet_asking *asking, const struct cli_range *range, size_t i,
                    struct answers *answers)
{
    struct probity_reader *reader;

    if (probity_reader_of_facts(&asking->runs.facts[i], 1, &reader) != 0)
        return fail(asking, PROBITY_ERROR_MEMORY);
    int status = cli_parse_range(asking->fleet.command, range, reader, &asking->range.from_ns,
                                 &asking->range.to_ns);
    asking->range.choice.run = asking->runs.runs[i].run;
    if (status == CLI_OK)
        status = cli_fleet_check_detail(asking, 0);
    if (status == CLI_OK)
        status = cli_fleet_ask_sums(asking, &answers->sums, &answers->reports[i], 1);
    if (status == CLI_OK && has_blocks(asking, 1))
        status = cli_fleet_fill_blocks(asking, &answers->sums, &answers->probes,
                                       &answers->blocks[i]);
    probity_fleet_probes_taken_release(&answers->probes);
    probity_reader_close(reader);
    return status;
}

/* Without a range, one statement returns the sums of all runs. */
static int fill_runs(struct cli_fleet_asking *asking, const struct cli_range *range,
                     struct answers *answers)
{
    int is_ranged = range->from != NULL || range->to != NULL;
    int status = cli_fleet_ask_functions(asking, &answers->sums, 0);

    asking->range.group = answers->sums.group = is_ranged ? PROBITY_FLEET_OF_ALL
                                                          : PROBITY_FLEET_OF_RUN;
    if (status == CLI_OK && !is_ranged)
        status = cli_fleet_ask_sums(asking, &answers->sums, answers->reports, asking->runs.count);
    if (status == CLI_OK && !is_ranged)
        status = cli_fleet_fill_blocks(asking, &answers->sums, &answers->probes, answers->blocks);
    for (size_t i = 0; status == CLI_OK && is_ranged && i < asking->runs.count; i++)
        status = fill_one(asking, range, i, answers);
    return status;
}

/* Values that the database lacks are unknown, and not compared. */
static int make_run(const struct cli_fleet_asking *asking, size_t i, const struct answers *answers,
                    struct probity_compare_run *ret_run)
{
    static const enum probity_compare_environment unknown[] = {PROBITY_COMPARE_CLOCK,
                                                               PROBITY_COMPARE_GAP};
    const struct probity_trace_facts *facts = probity_reader_facts(asking->runs.reader, i);
    int error = probity_compare_run_describe(facts, ret_run);

    if (error != 0)
        return error;
    for (size_t j = 0; j < sizeof unknown / sizeof *unknown; j++)
        *ret_run->environment[unknown[j]] = '\0';
    if (answers != NULL)
        error = probity_compare_run_add_report(ret_run, answers->reports[i],
                                               (facts->info.flags & PROBITY_INFO_CPU_TIME) != 0);
    if (answers != NULL && error == 0)
        error = probity_compare_run_add_blocks(ret_run, answers->blocks[i]);
    if (error != 0)
        probity_compare_run_release(ret_run);
    return error;
}

static int make_runs(struct cli_fleet_asking *asking, const struct answers *answers,
                     cli_fleet_take_run *take, void *context)
{
    int status = CLI_OK;

    for (size_t i = 0; status == CLI_OK && i < asking->runs.count; i++) {
        struct probity_compare_run run;
        int error = make_run(asking, i, answers, &run);
        status = error == 0 ? take(context, &asking->runs.runs[i], &run) : fail(asking, error);
    }
    return status;
}

static int open_answers(const struct cli_fleet_asking *asking, struct answers *answers)
{
    size_t count = asking->runs.count;

    answers->reports = calloc(count + 1, sizeof *answers->reports);
    answers->blocks = calloc(count + 1, sizeof *answers->blocks);
    if (answers->reports == NULL || answers->blocks == NULL)
        return fail(asking, PROBITY_ERROR_MEMORY);
    for (size_t i = 0; i < count; i++) {
        if (probity_report_open(NULL, &answers->reports[i]) != 0 ||
            probity_blocks_open(NULL, &answers->blocks[i]) != 0)
            return fail(asking, PROBITY_ERROR_MEMORY);
    }
    return CLI_OK;
}

static void release_answers(const struct cli_fleet_asking *asking, struct answers *answers)
{
    for (size_t i = 0; i < asking->runs.count; i++) {
        if (answers->reports != NULL && answers->reports[i] != NULL)
            probity_report_close(answers->reports[i]);
        if (answers->blocks != NULL && answers->blocks[i] != NULL)
            probity_blocks_close(answers->blocks[i]);
    }
    free(answers->reports);
    free(answers->blocks);
    probity_fleet_probes_taken_release(&answers->probes);
    probity_fleet_sums_release(&answers->sums);
}

static int compare(struct cli_fleet_asking *asking, const struct cli_range *range,
                   cli_fleet_take_run *take, void *context)
{
    struct answers answers = {.reports = NULL};
    int status = cli_fleet_init_sums(asking, &answers.sums);

    if (status == CLI_OK)
        status = open_answers(asking, &answers);
    if (status == CLI_OK)
        status = fill_runs(asking, range, &answers);
    if (status == CLI_OK && !asking->source->as_sql)
        status = make_runs(asking, &answers, take, context);
    release_answers(asking, &answers);
    return status;
}

int cli_fleet_compare(const struct cli_command *command, const struct cli_fleet_source *source,
                      const struct cli_range *range, int is_bare, cli_fleet_take_run *take,
                      void *context)
{
    struct cli_fleet_asking asking;
    int status = cli_fleet_begin(command, source, &asking);

    if (status == CLI_OK)
        status = compare(&asking, range, take, context);
    if (status == CLI_OK && !source->as_sql)
        status = is_bare ? cli_judge_bare(command, asking.runs.reader)
                         : cli_judge_traces(command, asking.runs.reader);
    cli_fleet_end(&asking);
    return status;
}

static int count_functions(struct cli_fleet_asking *asking, uint64_t *counts)
{
    struct probity_fleet_answer answer;
    struct probity_fleet_sums sums;
    int error = 0, status = cli_fleet_init_sums(asking, &sums);

    if (status == CLI_OK)
        status = cli_fleet_query(asking, probity_fleet_sql_counts, &answer);
    if (status == CLI_OK)
        error = probity_fleet_take_counts(&sums, &answer, counts);
    probity_fleet_sums_release(&sums);
    return error == 0 ? status : fail(asking, error);
}

int cli_fleet_list(const struct cli_command *command, const struct cli_fleet_source *source,
                   cli_fleet_take_run *take, void *context, uint64_t **ret_counts)
{
    struct cli_fleet_asking asking;
    int status = cli_fleet_begin(command, source, &asking);

    *ret_counts = calloc(asking.runs.count + 1, sizeof **ret_counts);
    if (status == CLI_OK)
        status = *ret_counts != NULL ? count_functions(&asking, *ret_counts)
                                     : fail(&asking, PROBITY_ERROR_MEMORY);
    if (status == CLI_OK && !source->as_sql)
        status = make_runs(&asking, NULL, take, context);
    if (status == CLI_OK && !source->as_sql)
        status = cli_judge_traces(command, asking.runs.reader);
    cli_fleet_end(&asking);
    return status;
}
