/* SPDX-License-Identifier: MIT
 *
 * fleet_source.c: queries the runs first, because the times of a range may be relative to them,
 * then functions, threads and sums.
 */
#include "cli/fleet_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "probity.h"

static int fail_memory(const struct cli_fleet *fleet)
{
    return cli_fail(fleet->command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
}

int cli_fleet_fail_format(const struct cli_fleet *fleet, int error)
{
    return error == PROBITY_ERROR_MEMORY
               ? fail_memory(fleet)
               : cli_fail(fleet->command, "'%s' returned a reply that does not match the tables "
                          "of schema version %d", fleet->url, PROBITY_FLEET_SCHEMA_VERSION);
}

/* ---- Runs --------------------------------------------------------------------------------------
 */

/* Copies the texts of a run, zero-terminated, because they point into the reply. */
static int keep_texts(struct probity_info *info, struct cli_fleet_texts *ret_texts)
{
    size_t bytes = 0, count = sizeof info->text / sizeof *info->text;

    for (size_t i = 0; i < count; i++)
        bytes += info->text[i].length + 1;
    char *at = malloc(bytes);
    *ret_texts = (struct cli_fleet_texts){.bytes = at};
    for (size_t i = 0; at != NULL && i < count; i++) {
        struct probity_text *text = &info->text[i];
        if (text->length > 0)
            memcpy(at, text->bytes, text->length);
        at[text->length] = '\0';
        text->bytes = at;
        at += text->length + 1;
    }
    if (ret_texts->bytes == NULL) {
        memset(info->text, 0, sizeof info->text);
        return PROBITY_ERROR_MEMORY;
    }
    ret_texts->host = info->text[PROBITY_TAG_HOST].bytes;
    ret_texts->program = info->text[PROBITY_TAG_PROGRAM].bytes;
    ret_texts->label = info->text[PROBITY_TAG_LABEL].bytes;
    return 0;
}

static int make_room(struct cli_fleet_runs *runs)
{
    if (runs->count >= 2 * (size_t)PROBITY_READER_TRACES_MAX)
        return -1;
    void *more_runs = probity_array_append(runs->runs, sizeof *runs->runs, runs->count);
    runs->runs = more_runs != NULL ? more_runs : runs->runs;
    void *more_facts = probity_array_append(runs->facts, sizeof *runs->facts, runs->count);
    runs->facts = more_facts != NULL ? more_facts : runs->facts;
    void *more_texts = probity_array_append(runs->texts, sizeof *runs->texts, runs->count);
    runs->texts = more_texts != NULL ? more_texts : runs->texts;
    return more_runs != NULL && more_facts != NULL && more_texts != NULL ? 0 : -1;
}

static int take_run(struct cli_fleet_runs *runs, struct probity_fleet_answer *answer)
{
    if (make_room(runs) != 0)
        return PROBITY_ERROR_MEMORY;
    struct probity_trace_facts *facts = &runs->facts[runs->count];
    int error = probity_fleet_run_get(answer, &runs->runs[runs->count], facts);
    if (error != 0)
        return error;
    facts->is_partial = !probity_fleet_run_is_complete(&runs->runs[runs->count]);
    return keep_texts(&facts->info, &runs->texts[runs->count++]);
}

/* With a distributed table, each server would have to execute the subquery, and rejects it.
 * Literals contain no '(', so only subqueries are changed. */
static int make_global(char **sql)
{
    static const char from[] = " IN (SELECT ", to[] = " GLOBAL IN (SELECT ";
    char *longer = NULL, *at = *sql, *found;
    size_t bytes;
    FILE *stream = open_memstream(&longer, &bytes);

    if (stream == NULL)
        return -1;
    for (; (found = strstr(at, from)) != NULL; at = found + sizeof from - 1)
        fprintf(stream, "%.*s%s", (int)(found - at), at, to);
    fputs(at, stream);
    int error = fclose(stream);
    free(*sql);
    *sql = longer;
    return error;
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
    if (fclose(stream) != 0 || (fleet->is_cluster && make_global(&sql) != 0)) {
        free(sql);
        return fail_memory(fleet);
    }
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

int cli_fleet_find_run(struct cli_fleet *fleet, const struct probity_fleet_choice *choice,
                       struct cli_fleet_runs *ret_runs)
{
    struct probity_fleet_answer answer;
    int error = 0;

    *ret_runs = (struct cli_fleet_runs){.count = 0};
    int status = ask(fleet, write_runs, choice, &answer, NULL);
    if (status != CLI_OK)
        return status;
    while (error == 0 && !probity_fleet_answer_is_over(&answer))
        error = take_run(ret_runs, &answer);
    return error != 0 ? cli_fleet_fail_format(fleet, error) : CLI_OK;
}

int cli_fleet_runs(struct cli_fleet *fleet, const struct probity_fleet_choice *choice,
                   struct cli_fleet_runs *ret_runs)
{
    int status = cli_fleet_find_run(fleet, choice, ret_runs);

    if (status != CLI_OK)
        return status;
    if (ret_runs->count == 0)
        return cli_fail(fleet->command, "'%s' has no such runs; `probity fleet` lists them",
                        fleet->url);
    int error = probity_reader_of_facts(ret_runs->facts, ret_runs->count, &ret_runs->reader);
    return error == 0 ? CLI_OK : fail_memory(fleet);
}

void cli_fleet_runs_release(struct cli_fleet_runs *runs)
{
    if (runs->reader != NULL)
        probity_reader_close(runs->reader);
    for (size_t i = 0; i < runs->count; i++)
        free((char *)runs->facts[i].path);
    for (size_t i = 0; i < runs->count; i++)
        free(runs->texts[i].bytes);
    free(runs->texts);
    free(runs->runs);
    free(runs->facts);
}

/* ---- Querying ----------------------------------------------------------------------------------
 */

static int list_runs(struct cli_fleet_asking *asking)
{
    const struct cli_fleet_runs *runs = &asking->runs;

    asking->numbers = calloc(runs->count, sizeof *asking->numbers);
    if (asking->numbers == NULL)
        return fail_memory(&asking->fleet);
    for (size_t i = 0; i < runs->count; i++)
        asking->numbers[i] = runs->runs[i].run;
    asking->range.chosen = asking->numbers;
    asking->range.chosen_count = runs->count;
    return CLI_OK;
}

/* The rows of an hour are sent after the hour has ended, or with the end of the trace. */
static int has_hours(const struct cli_fleet_runs *runs)
{
    size_t finished = 0;

    for (size_t i = 0; i < runs->count; i++)
        finished += probity_fleet_run_is_complete(&runs->runs[i]) != 0;
    return finished == runs->count;
}

int cli_fleet_begin(const struct cli_command *command, const struct cli_fleet_source *source,
                    struct cli_fleet_asking *ret_asking)
{
    const struct cli_fleet_options options = {
        .command = command, .url = source->url, .password_file = source->password_file};

    *ret_asking = (struct cli_fleet_asking){.source = source, .range.choice = source->choice};
    int status = cli_fleet_open(&options, &ret_asking->fleet);
    if (status == CLI_OK && source->as_sql)
        status = ask(&ret_asking->fleet, write_runs, &source->choice, NULL, stdout);
    if (status == CLI_OK)
        status = cli_fleet_runs(&ret_asking->fleet, &source->choice, &ret_asking->runs);
    if (status == CLI_OK)
        cli_fleet_find_cluster(&ret_asking->fleet);
    ret_asking->range.has_hours = status == CLI_OK && has_hours(&ret_asking->runs);
    return status == CLI_OK && ret_asking->fleet.is_cluster ? list_runs(ret_asking) : status;
}

void cli_fleet_end(struct cli_fleet_asking *asking)
{
    cli_fleet_runs_release(&asking->runs);
    free(asking->numbers);
    cli_fleet_close(&asking->fleet);
}

struct about {
    void (*write)(FILE *stream, const struct probity_fleet_range *range);
    const struct probity_fleet_range *range;
};

static void write_about(FILE *stream, const void *what)
{
    const struct about *about = what;

    about->write(stream, about->range);
}

int cli_fleet_query_about(struct cli_fleet_asking *asking,
                          void (*write)(FILE *stream, const void *what), const void *what,
                          struct probity_fleet_answer *ret_answer)
{
    *ret_answer = (struct probity_fleet_answer){.is_bad = 0};
    if (asking->source->as_sql)
        return ask(&asking->fleet, write, what, NULL, stdout);
    return ask(&asking->fleet, write, what, ret_answer, NULL);
}

int cli_fleet_query(struct cli_fleet_asking *asking,
                    void (*write)(FILE *stream, const struct probity_fleet_range *range),
                    struct probity_fleet_answer *ret_answer)
{
    const struct about about = {write, &asking->range};

    return cli_fleet_query_about(asking, write_about, &about, ret_answer);
}
