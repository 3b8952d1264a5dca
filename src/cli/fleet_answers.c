/* SPDX-License-Identifier: MIT
 *
 * fleet_answers.c: makes answers from a database. Functions and threads are queried before the sums
 * that refer to them. Names are compared here, so statements contain only the numbers of functions.
 */
#include "cli/fleet_answers.h"

#include <stdlib.h>
#include <string.h>

#include "print/text.h"
#include "probity.h"

static int fail(const struct cli_fleet_asking *asking, int error)
{
    return cli_fleet_fail_format(&asking->fleet, error);
}

/* ---- Checks ------------------------------------------------------------------------------------
 */

/* Without rows of calls, sums are known only for whole minutes, and only of wall times. */
int cli_fleet_check_detail(const struct cli_fleet_asking *asking, int needs_calls)
{
    const struct cli_fleet_runs *runs = &asking->runs;
    int is_summed = asking->range.measure == 0 || asking->range.measure == PROBITY_REPORT_TOTAL;

    if (!needs_calls && probity_fleet_is_of_minutes(&asking->range))
        return CLI_OK;
    for (size_t i = 0; i < runs->count; i++) {
        const char *path = runs->facts[i].path;
        if (runs->runs[i].detail != PROBITY_FLEET_DETAIL_SUMMARY)
            continue;
        if (needs_calls || !is_summed)
            return cli_fail(asking->fleet.command, "'%s' was sent with --detail summary, without "
                            "its calls, which this command requires", path);
        return cli_fail(asking->fleet.command, "'%s' was sent with --detail summary: --since and "
                        "--until must be whole minutes, such as 2026-01-31T12:00", path);
    }
    return CLI_OK;
}

/* ---- Reports -----------------------------------------------------------------------------------
 */

static void add_repairs(struct probity_scopes_repairs *sum, const struct probity_scopes_repairs *of)
{
    sum->unwound += of->unwound;
    sum->open += of->open;
    sum->orphans += of->orphans;
    sum->pauses_unmatched += of->pauses_unmatched;
    sum->resumes_unmatched += of->resumes_unmatched;
}

static int is_whole(const struct cli_fleet_asking *asking, size_t i)
{
    const struct probity_trace_facts *facts = &asking->runs.facts[i];

    return facts->info.anchor.realtime_ns >= asking->range.from_ns && !facts->is_partial &&
           (asking->range.to_ns == 0 || facts->last_wall_ns < asking->range.to_ns);
}

/* Queries the repairs of the runs with these numbers, only part of which is in the range. It is
 * unknown what was unmatched in a part of a run. */
static int ask_repairs(struct cli_fleet_asking *asking, const uint64_t *numbers, size_t count,
                       struct probity_scopes_repairs *sum)
{
    struct probity_scopes_repairs repairs = {0};
    struct probity_fleet_answer answer;

    asking->range.runs = numbers;
    asking->range.run_count = count;
    int status = cli_fleet_query(asking, probity_fleet_sql_repairs, &answer);
    int error = status == CLI_OK && !asking->source->as_sql
                    ? probity_fleet_take_repairs(&answer, &repairs)
                    : 0;
    asking->range.runs = NULL;
    add_repairs(sum, &repairs);
    return error == 0 ? status : fail(asking, error);
}

/* Queries the repairs in all functions, as in a report from traces. They are known for runs that
 * are completely in the range. */
int cli_fleet_find_repairs(struct cli_fleet_asking *asking,
                           struct probity_scopes_repairs *ret_repairs)
{
    const struct cli_fleet_runs *runs = &asking->runs;
    uint64_t *numbers = calloc(runs->count + 1, sizeof *numbers);
    int is_ranged = asking->range.from_ns != 0 || asking->range.to_ns != 0, status = CLI_OK;
    size_t count = 0;

    if (numbers == NULL)
        return fail(asking, PROBITY_ERROR_MEMORY);
    *ret_repairs = (struct probity_scopes_repairs){0};
    for (size_t i = 0; i < runs->count; i++) {
        if (is_ranged && !is_whole(asking, i))
            numbers[count++] = runs->runs[i].run;
        else
            add_repairs(ret_repairs, &runs->runs[i].repairs);
    }
    if (count > 0)
        status = ask_repairs(asking, numbers, count, ret_repairs);
    free(numbers);
    return status;
}

int cli_fleet_ask_threads(struct cli_fleet_asking *asking, struct probity_fleet_sums *sums)
{
    struct probity_fleet_answer answer;
    int status = cli_fleet_query(asking, probity_fleet_sql_threads, &answer);
    int error = status == CLI_OK ? probity_fleet_take_threads(sums, &answer) : 0;

    return error == 0 ? status : fail(asking, error);
}

/* With --sql, the numbers of chosen functions are part of the next statement, so this statement is
 * executed nevertheless. */
int cli_fleet_ask_functions(struct cli_fleet_asking *asking, struct probity_fleet_sums *sums,
                         int is_needed)
{
    const struct cli_fleet_source *source = asking->source;
    const struct cli_fleet_source executing = {.as_sql = 0};
    struct probity_fleet_answer answer;

    asking->range.of_any_run = is_needed;
    int status = cli_fleet_query(asking, probity_fleet_sql_functions, &answer);
    if (status == CLI_OK && source->as_sql && is_needed) {
        asking->source = &executing;
        status = cli_fleet_query(asking, probity_fleet_sql_functions, &answer);
        asking->source = source;
    }
    int error = status == CLI_OK ? probity_fleet_take_functions(sums, &answer) : 0;
    return error == 0 ? status : fail(asking, error);
}

int cli_fleet_ask_sums(struct cli_fleet_asking *asking, struct probity_fleet_sums *sums,
                       struct probity_report *const *reports, size_t count)
{
    struct probity_fleet_answer answer;
    int status = CLI_OK, error = 0;

    if (asking->range.functions == NULL || asking->range.function_count > 0) {
        status = cli_fleet_query(asking, probity_fleet_sql_sums, &answer);
        error = status == CLI_OK ? probity_fleet_take_sums(sums, &answer, reports) : 0;
    }
    for (size_t i = 0; status == CLI_OK && error == 0 && i < count; i++)
        error = probity_report_finish(reports[i]);
    return error == 0 ? status : fail(asking, error);
}

/* Fills the reports: a single one, or one for each run. */
static int fill(struct cli_fleet_asking *asking, struct probity_fleet_sums *sums,
                const struct cli_fleet_want *want, void *context,
                struct probity_report *const *reports, size_t count)
{
    uint64_t *numbers = NULL;
    int status = cli_fleet_ask_functions(asking, sums, want->is_wanted != NULL), error = 0;

    if (status == CLI_OK && want->is_wanted != NULL)
        error = probity_fleet_sums_choose(sums, want->is_wanted, context, &numbers,
                                          &asking->range.function_count);
    if (error != 0)
        return fail(asking, error);
    asking->range.functions = numbers;
    if (status == CLI_OK && asking->range.group == PROBITY_FLEET_OF_THREAD)
        status = cli_fleet_ask_threads(asking, sums);
    if (status == CLI_OK)
        status = cli_fleet_ask_sums(asking, sums, reports, count);
    asking->range.functions = NULL;
    free(numbers);
    return status;
}

int cli_fleet_init_sums(const struct cli_fleet_asking *asking, struct probity_fleet_sums *ret_sums)
{
    const struct cli_fleet_runs *runs = &asking->runs;
    int error = probity_fleet_sums_init(ret_sums, runs->runs, runs->facts, runs->count);

    ret_sums->group = asking->range.group;
    return error == 0 ? CLI_OK : fail(asking, error);
}

static int ask_sites(struct cli_fleet_asking *asking, const struct probity_fleet_sums *sums,
                     const struct cli_fleet_want *want, void *context)
{
    struct probity_fleet_answer answer;
    int status = cli_fleet_query(asking, probity_fleet_sql_sites, &answer);
    int error = status == CLI_OK
                    ? probity_fleet_take_sites(sums, &answer, want->take_site, context)
                    : 0;

    return error == 0 ? status : fail(asking, error);
}

static int make_report(struct cli_fleet_asking *asking, struct cli_query *query,
                       const struct cli_fleet_want *want)
{
    const struct probity_report_options options = {.by_thread = want->by_thread,
                                                   .measure = want->measure};
    struct probity_scopes_repairs repairs = {0};
    struct probity_fleet_sums sums;
    struct probity_report *report;

    if (probity_report_open(&options, &report) != 0)
        return fail(asking, PROBITY_ERROR_MEMORY);
    int status = cli_fleet_init_sums(asking, &sums);
    if (status == CLI_OK && want->take_site != NULL)
        status = ask_sites(asking, &sums, want, query->context);
    if (status == CLI_OK)
        status = fill(asking, &sums, want, query->context, &report, 1);
    if (status == CLI_OK)
        status = cli_fleet_find_repairs(asking, &repairs);
    if (status == CLI_OK && !asking->source->as_sql) {
        int error = want->take(query->context, report, &repairs, asking->runs.reader);
        status = error == 0 ? cli_query_print(query, asking->runs.reader) : fail(asking, error);
    } else {
        probity_report_close(report);
    }
    probity_fleet_sums_release(&sums);
    return status;
}

/* Queries the runs, and determines the range. */
int cli_fleet_begin_query(struct cli_query *query, struct cli_fleet_asking *ret_asking)
{
    int status = cli_fleet_begin(query->command, &query->source, ret_asking);

    return status == CLI_OK
               ? cli_parse_range(query->command, &query->range, ret_asking->runs.reader,
                                 &ret_asking->range.from_ns, &ret_asking->range.to_ns)
               : status;
}

int cli_fleet_report(struct cli_query *query, const struct cli_fleet_want *want)
{
    struct cli_fleet_asking asking;
    int status = cli_fleet_begin_query(query, &asking);

    asking.range.group = want->by_thread ? PROBITY_FLEET_OF_THREAD : PROBITY_FLEET_OF_ALL;
    asking.range.measure = want->measure;
    if (status == CLI_OK)
        status = cli_fleet_check_detail(&asking, 0);
    if (status == CLI_OK)
        status = make_report(&asking, query, want);
    cli_fleet_end(&asking);
    return status;
}

/* ---- Threads -----------------------------------------------------------------------------------
 */

static int make_threads(struct cli_fleet_asking *asking, struct probity_threads *threads)
{
    struct probity_fleet_answer answer;
    struct probity_fleet_sums sums;
    int error = 0, status = cli_fleet_init_sums(asking, &sums);

    if (status == CLI_OK)
        status = cli_fleet_ask_threads(asking, &sums);
    if (status == CLI_OK)
        status = cli_fleet_query(asking, probity_fleet_sql_spans, &answer);
    if (status == CLI_OK)
        error = probity_fleet_take_spans(&sums, &answer, threads);
    if (sums.paused_threads > 0)
        cli_warn(asking->fleet.command, "%zu thread%s had pauses: time of the last record, and "
                 "time in outermost calls, are lower bounds", sums.paused_threads,
                 probity_text_s(sums.paused_threads));
    probity_fleet_sums_release(&sums);
    return error == 0 ? status : fail(asking, error);
}

int cli_fleet_threads(struct cli_query *query, struct probity_threads *threads)
{
    struct cli_fleet_asking asking;
    int status = cli_fleet_begin_query(query, &asking);

    if (status == CLI_OK)
        status = cli_fleet_check_detail(&asking, 1);
    if (status == CLI_OK)
        status = make_threads(&asking, threads);
    if (status == CLI_OK && !asking.source->as_sql) {
        int error = query->steps->finish(query->context, asking.runs.reader);
        status = error == 0 ? cli_query_print(query, asking.runs.reader) : fail(&asking, error);
    }
    cli_fleet_end(&asking);
    return status;
}
