/* SPDX-License-Identifier: MIT
 *
 * fleet_source.c: asks for the runs first, because the times of a range may be relative to them,
 * then for functions, threads and sums.
 */
#include "cli/fleet_source.h"

#include <stdlib.h>
#include <string.h>

#include "probity.h"

int cli_fleet_is_wanted(const struct cli_fleet_source *source, size_t operands)
{
    const char *given = getenv("PROBITY_FLEET");

    return source->url != NULL || (operands == 0 && given != NULL && *given != '\0');
}

int cli_fleet_is_unused(const struct cli_command *command, const struct cli_fleet_source *source)
{
    const struct probity_fleet_choice *choice = &source->choice;

    if (choice->host == NULL && choice->executable == NULL && choice->label == NULL &&
        choice->build == NULL && source->password_file == NULL && !source->as_sql)
        return CLI_OK;
    return cli_fail_usage(command, "--host, --executable, --label, --build, --password-file and "
                          "--sql require --from-fleet");
}

static int fail_memory(const struct cli_fleet *fleet)
{
    return cli_fail(fleet->command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
}

static int fail_format(const struct cli_fleet *fleet, int error)
{
    return error == PROBITY_ERROR_MEMORY
               ? fail_memory(fleet)
               : cli_fail(fleet->command, "'%s' returned an answer that does not fit the tables of "
                          "schema version 1", fleet->url);
}

/* ---- Runs --------------------------------------------------------------------------------------
 */

static char *copy(const struct probity_text *text)
{
    return strndup(text->bytes != NULL ? text->bytes : "", text->length);
}

static int make_room(struct cli_fleet_runs *runs, size_t *room)
{
    size_t wanted = 2 * *room + 16;

    if (wanted > 2 * (size_t)PROBITY_READER_TRACES_MAX)
        return -1;
    void *more_runs = realloc(runs->runs, wanted * sizeof *runs->runs);
    runs->runs = more_runs != NULL ? more_runs : runs->runs;
    void *more_facts = realloc(runs->facts, wanted * sizeof *runs->facts);
    runs->facts = more_facts != NULL ? more_facts : runs->facts;
    void *more_texts = realloc(runs->texts, wanted * sizeof *runs->texts);
    runs->texts = more_texts != NULL ? more_texts : runs->texts;
    if (more_runs == NULL || more_facts == NULL || more_texts == NULL)
        return -1;
    *room = wanted;
    return 0;
}

/* A run's texts point into the answer, so those that are used are copied. */
static int take_run(struct cli_fleet_runs *runs, size_t *room, struct probity_fleet_answer *answer)
{
    if (runs->count == *room && make_room(runs, room) != 0)
        return PROBITY_ERROR_MEMORY;
    struct probity_trace_facts *facts = &runs->facts[runs->count];
    int error = probity_fleet_run_get(answer, &runs->runs[runs->count], facts);
    if (error != 0)
        return error;
    runs->texts[runs->count] = (struct cli_fleet_texts){
        copy(&facts->info.text[PROBITY_TAG_HOST]), copy(&facts->info.text[PROBITY_TAG_PROGRAM]),
        copy(&facts->info.text[PROBITY_TAG_LABEL])};
    const struct cli_fleet_texts *texts = &runs->texts[runs->count];
    memset(facts->info.text, 0, sizeof facts->info.text);
    facts->is_partial = !runs->runs[runs->count].is_finished;
    runs->count++;
    return texts->host != NULL && texts->program != NULL && texts->label != NULL
               ? 0
               : PROBITY_ERROR_MEMORY;
}

static int ask(struct cli_fleet *fleet, void (*write)(FILE *stream, const void *what),
               const void *what, struct probity_fleet_answer *ret_answer, FILE *echo)
{
    char *sql = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&sql, &bytes);

    if (stream == NULL)
        return fail_memory(fleet);
    write(stream, what);
    if (fclose(stream) != 0)
        return fail_memory(fleet);
    if (echo != NULL)
        fprintf(echo, "%s;\n", sql);
    int status = ret_answer != NULL ? cli_fleet_ask(fleet, sql, ret_answer) : CLI_OK;
    free(sql);
    return status;
}

static void write_runs(FILE *stream, const void *choice)
{
    probity_fleet_sql_runs(stream, choice);
}

int cli_fleet_runs(struct cli_fleet *fleet, const struct probity_fleet_choice *choice,
                   struct cli_fleet_runs *ret_runs)
{
    struct probity_fleet_answer answer;
    size_t room = 0;
    int error = 0;

    *ret_runs = (struct cli_fleet_runs){.count = 0};
    int status = ask(fleet, write_runs, choice, &answer, NULL);
    if (status != CLI_OK)
        return status;
    while (error == 0 && !probity_fleet_answer_is_over(&answer))
        error = take_run(ret_runs, &room, &answer);
    if (error != 0)
        return fail_format(fleet, error);
    if (ret_runs->count == 0)
        return cli_fail(fleet->command, "'%s' has no such runs; `probity fleet` lists them",
                        fleet->url);
    error = probity_reader_of_facts(ret_runs->facts, ret_runs->count, &ret_runs->reader);
    return error == 0 ? CLI_OK : fail_memory(fleet);
}

void cli_fleet_runs_release(struct cli_fleet_runs *runs)
{
    if (runs->reader != NULL)
        probity_reader_close(runs->reader);
    for (size_t i = 0; i < runs->count; i++)
        free((char *)runs->facts[i].path);
    for (size_t i = 0; i < runs->count; i++) {
        free(runs->texts[i].host);
        free(runs->texts[i].program);
        free(runs->texts[i].label);
    }
    free(runs->texts);
    free(runs->runs);
    free(runs->facts);
}

/* ---- A report ----------------------------------------------------------------------------------
 */

static void write_functions(FILE *stream, const void *range)
{
    probity_fleet_sql_functions(stream, range);
}

static void write_threads(FILE *stream, const void *range)
{
    probity_fleet_sql_threads(stream, range);
}

static void write_sums(FILE *stream, const void *range)
{
    probity_fleet_sql_sums(stream, range);
}

static int print_statements(struct cli_fleet *fleet, const struct probity_fleet_range *range)
{
    int status = ask(fleet, write_runs, &range->choice, NULL, stdout);

    if (status == CLI_OK)
        status = ask(fleet, write_functions, range, NULL, stdout);
    if (status == CLI_OK && range->by_thread)
        status = ask(fleet, write_threads, range, NULL, stdout);
    return status == CLI_OK ? ask(fleet, write_sums, range, NULL, stdout) : status;
}

static int fill(struct cli_fleet *fleet, const struct probity_fleet_range *range,
                struct probity_fleet_sums *sums, struct probity_report *report)
{
    struct probity_fleet_answer answer;
    int error = 0, status = ask(fleet, write_functions, range, &answer, NULL);

    if (status == CLI_OK)
        error = probity_fleet_take_functions(sums, &answer);
    if (status == CLI_OK && error == 0 && range->by_thread) {
        status = ask(fleet, write_threads, range, &answer, NULL);
        error = status == CLI_OK ? probity_fleet_take_threads(sums, &answer) : 0;
    }
    if (status == CLI_OK && error == 0) {
        status = ask(fleet, write_sums, range, &answer, NULL);
        error = status == CLI_OK ? probity_fleet_take_sums(sums, &answer, report) : 0;
    }
    if (status == CLI_OK && error == 0)
        error = probity_report_finish(report);
    return status != CLI_OK || error == 0 ? status : fail_format(fleet, error);
}

/* Which ends have no call, and what was unmatched, is known of whole runs only. */
static struct probity_scopes_repairs repairs_of(const struct cli_fleet_runs *runs,
                                                const struct probity_fleet_range *range,
                                                struct probity_report *report)
{
    struct probity_scopes_repairs sum = {0};
    size_t count;
    const struct probity_report_function *functions = probity_report_functions(report, &count);

    for (size_t i = 0; range->from_ns == 0 && range->to_ns == 0 && i < runs->count; i++) {
        const struct probity_scopes_repairs *of = &runs->runs[i].repairs;
        sum.unwound += of->unwound;
        sum.open += of->open;
        sum.orphans += of->orphans;
        sum.pauses_unmatched += of->pauses_unmatched;
        sum.resumes_unmatched += of->resumes_unmatched;
    }
    for (size_t i = 0; (range->from_ns != 0 || range->to_ns != 0) && i < count; i++) {
        sum.unwound += functions[i].sums.repaired - functions[i].sums.open;
        sum.open += functions[i].sums.open;
    }
    return sum;
}

/* Without rows of calls, sums are known of whole minutes only. */
static int check_range(struct cli_fleet *fleet, const struct probity_fleet_range *range,
                       const struct cli_fleet_runs *runs)
{
    for (size_t i = 0; !probity_fleet_is_whole_minutes(range) && i < runs->count; i++) {
        if (runs->runs[i].detail == PROBITY_FLEET_DETAIL_SUMMARY)
            return cli_fail(fleet->command, "'%s' was sent with --detail summary: --since and "
                            "--until must be whole minutes, such as 2026-01-31T12:00",
                            runs->facts[i].path);
    }
    return CLI_OK;
}

struct making {
    struct cli_query *answer;
    struct cli_fleet_source *source;
    struct cli_fleet fleet;
    struct cli_fleet_runs runs;
    struct probity_fleet_range range;
    void (*take)(void *context, struct probity_report *report,
                 const struct probity_scopes_repairs *repairs);
};

static int make_report(struct making *making)
{
    const struct probity_report_options options = {.by_thread = making->range.by_thread};
    struct cli_query *answer = making->answer;
    struct probity_fleet_sums sums;
    struct probity_report *report;

    if (probity_report_open(&options, &report) != 0)
        return fail_memory(&making->fleet);
    int error = probity_fleet_sums_init(&sums, making->runs.runs, making->runs.facts,
                                        making->runs.count);
    int status = error == 0 ? fill(&making->fleet, &making->range, &sums, report)
                            : fail_memory(&making->fleet);
    struct probity_scopes_repairs repairs = {0};
    if (status == CLI_OK)
        repairs = repairs_of(&making->runs, &making->range, report);
    making->take(answer->context, report, &repairs);
    if (status == CLI_OK)
        status = cli_query_print(answer, making->runs.reader);
    probity_fleet_sums_release(&sums);
    return status;
}

static int run(struct making *making)
{
    struct cli_fleet *fleet = &making->fleet;
    struct probity_fleet_range *range = &making->range;
    int status = cli_fleet_runs(fleet, &making->source->choice, &making->runs);

    if (status == CLI_OK)
        status = cli_parse_range(fleet->command, &making->answer->range, making->runs.reader,
                                 &range->from_ns, &range->to_ns);
    if (status == CLI_OK)
        status = check_range(fleet, range, &making->runs);
    if (status != CLI_OK)
        return status;
    return making->source->as_sql ? print_statements(fleet, range) : make_report(making);
}

int cli_fleet_report(struct cli_query *answer, struct cli_fleet_source *source, int by_thread,
                     void (*take)(void *context, struct probity_report *report,
                                  const struct probity_scopes_repairs *repairs))
{
    const struct cli_fleet_options options = {answer->command, source->url, source->password_file};
    struct making making = {.answer = answer, .source = source, .take = take,
                            .range = {.choice = source->choice, .by_thread = by_thread}};
    int status = cli_fleet_open(&options, &making.fleet);

    if (status == CLI_OK)
        status = run(&making);
    cli_fleet_runs_release(&making.runs);
    cli_fleet_close(&making.fleet);
    return status;
}
