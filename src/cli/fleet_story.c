/* SPDX-License-Identifier: MIT
 *
 * fleet_story.c: queries the hits first, which show in which runs and threads and at which times
 * the calls were. Queries and prints each run's part before the next one.
 */
#include "cli/fleet_story.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fleet_source.h"
#include "cli/output_stream.h"
#include "fleet/story.h"
#include "print/json.h"
#include "print/time_text.h"
#include "probity_typed.h"

enum { RUNS_MAX = 100, INDENT = 2, DEPTH_SHOWN_MAX = 40 };

struct story {
    const struct cli_fleet_story_options *options;
    struct cli_fleet fleet;
    struct probity_fleet_story of;
    uint64_t id;
    size_t runs; /* number of runs printed */
    int status;  /* status of queries made during printing */
};

/* The hits of one run. */
struct part {
    const struct probity_fleet_step *first;
    size_t count;
    struct cli_fleet_runs runs; /* only this run */
};

/* ---- Querying ----------------------------------------------------------------------------------
 */

static int parse_id(const char *text, uint64_t *ret_id)
{
    char *end;

    errno = 0;
    *ret_id = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    return isdigit((unsigned char)*text) && *end == '\0' && errno == 0 ? 0 : -1;
}

/* One of the statements of fleet/story.h. */
struct asked {
    FILE *stream;
    char *sql;
    size_t bytes;
};

static int begin(struct story *story, struct asked *ret_asked)
{
    *ret_asked = (struct asked){.sql = NULL};
    ret_asked->stream = open_memstream(&ret_asked->sql, &ret_asked->bytes);
    return ret_asked->stream != NULL ? CLI_OK
                                     : cli_fleet_fail_format(&story->fleet, PROBITY_ERROR_MEMORY);
}

static int execute(struct story *story, struct asked *asked, struct probity_fleet_answer *answer)
{
    int status = fclose(asked->stream) == 0
                     ? CLI_OK
                     : cli_fleet_fail_format(&story->fleet, PROBITY_ERROR_MEMORY);

    if (status == CLI_OK && story->options->source->as_sql)
        printf("%s;\n", asked->sql);
    if (status == CLI_OK)
        status = cli_fleet_ask(&story->fleet, asked->sql, answer);
    free(asked->sql);
    return status;
}

static int judge(struct story *story, int status, int error)
{
    return status == CLI_OK && error != 0 ? cli_fleet_fail_format(&story->fleet, error) : status;
}

static int ask_steps(struct story *story)
{
    struct probity_fleet_answer answer;
    struct asked asked;
    int error = 0, status = begin(story, &asked);

    if (status != CLI_OK)
        return status;
    probity_fleet_sql_steps(asked.stream, story->id);
    status = execute(story, &asked, &answer);
    if (status == CLI_OK)
        error = probity_fleet_take_steps(&story->of, &answer);
    status = judge(story, status, error);
    if (status == CLI_OK && story->of.step_count == PROBITY_FLEET_STEPS_MAX)
        cli_warn(story->options->command, "more than %d hits have the id %" PRIu64
                 "; these are the first", PROBITY_FLEET_STEPS_MAX, story->id);
    return status;
}

static int ask_calls(struct story *story, const struct part *part)
{
    struct probity_fleet_answer answer;
    struct asked asked;
    int has_cpu = (part->runs.facts[0].info.flags & PROBITY_INFO_CPU_TIME) != 0;
    int error = 0, status = begin(story, &asked);

    if (status != CLI_OK)
        return status;
    if (!probity_fleet_sql_story_calls(asked.stream, part->first, part->count)) {
        fclose(asked.stream);
        free(asked.sql);
        return CLI_OK;
    }
    status = execute(story, &asked, &answer);
    if (status == CLI_OK)
        error = probity_fleet_take_story_calls(&story->of, has_cpu, &answer);
    return judge(story, status, error);
}

/* number 0: probes, 1: threads, 2: functions. */
static int ask_names(struct story *story, const struct part *part, int number)
{
    struct probity_fleet_answer answer;
    struct asked asked;
    int error = 0, status = begin(story, &asked);

    if (status != CLI_OK)
        return status;
    if (number == 0)
        probity_fleet_sql_probe_names(asked.stream, part->first->run);
    else if (number == 1)
        probity_fleet_sql_thread_names(asked.stream, part->first->run);
    else
        probity_fleet_sql_call_names(asked.stream, &story->of);
    status = execute(story, &asked, &answer);
    if (status == CLI_OK)
        error = probity_fleet_take_names(&story->of, &answer);
    return judge(story, status, error);
}

static int ask_part(struct story *story, const struct part *part)
{
    probity_fleet_story_forget(&story->of);
    int status = ask_calls(story, part);

    for (int i = 0; status == CLI_OK && i < (story->of.call_count > 0 ? 3 : 2); i++)
        status = ask_names(story, part, i);
    return status;
}

/* ---- Printing ----------------------------------------------------------------------------------
 */

static void put_time(FILE *stream, uint64_t ns, int is_known)
{
    char text[PROBITY_TIME_TEXT_BYTES];

    fprintf(stream, " %9s", is_known ? probity_time_text(ns, text) : "-");
}

static void put_thread(FILE *stream, const struct story *story, uint32_t thread)
{
    fputs("  ", stream);
    cli_put_text(stream, probity_fleet_story_name(&story->of, thread));
}

static void put_step(FILE *stream, const struct story *story, const struct part *part,
                     const struct probity_fleet_step *step)
{
    put_time(stream, step->at_ns - part->first->at_ns, 1);
    put_time(stream, step->wall_ns, step->has_previous);
    put_time(stream, step->cpu_ns, step->is_cpu_known);
    fputs("  ", stream);
    cli_put_text(stream, probity_fleet_story_name(&story->of, step->probe));
    if (step->role != PROBITY_ROLE_NONE)
        fprintf(stream, " (%s)", probity_role_name(step->role));
    put_thread(stream, story, step->thread);
    fputc('\n', stream);
}

static void put_call(FILE *stream, const struct story *story, const struct part *part,
                     const struct probity_fleet_story_call *call, uint32_t outermost)
{
    uint32_t depth = call->depth > outermost ? call->depth - outermost : 0;
    int has_cpu = (part->runs.facts[0].info.flags & PROBITY_INFO_CPU_TIME) != 0;

    put_time(stream, call->start_ns - part->first->at_ns, 1);
    put_time(stream, call->total_ns, 1);
    put_time(stream, call->cpu_ns, has_cpu);
    depth = depth < DEPTH_SHOWN_MAX ? depth : DEPTH_SHOWN_MAX;
    fprintf(stream, "  %*s", (int)(INDENT * (depth + 1)), "");
    cli_put_text(stream, probity_fleet_story_name(&story->of, call->function));
    put_thread(stream, story, call->thread);
    fputc('\n', stream);
}

static uint32_t outermost_depth(const struct probity_fleet_story *of)
{
    uint32_t least = UINT32_MAX;

    for (size_t i = 0; i < of->call_count; i++)
        least = of->calls[i].depth < least ? of->calls[i].depth : least;
    return least;
}

static void print_part(FILE *stream, const struct story *story, const struct part *part)
{
    const struct cli_fleet_texts *texts = part->runs.texts;
    uint32_t outermost = outermost_depth(&story->of);
    size_t call = 0;

    fprintf(stream, "%srun %016" PRIx64 "  ", story->runs > 0 ? "\n" : "", part->first->run);
    cli_put_text(stream, texts->host);
    fputs("  ", stream);
    cli_put_text(stream, texts->program);
    fputs("  ", stream);
    cli_put_text(stream, texts->label);
    fputs("\n     after      wall       CPU  hit (role), or call, and thread\n", stream);
    for (size_t i = 0; i < part->count; i++) {
        for (; call < story->of.call_count &&
               story->of.calls[call].start_ns < part->first[i].at_ns; call++)
            put_call(stream, story, part, &story->of.calls[call], outermost);
        put_step(stream, story, part, &part->first[i]);
    }
    for (; call < story->of.call_count; call++)
        put_call(stream, story, part, &story->of.calls[call], outermost);
}

static json_t *json_of_step(const struct story *story, const struct probity_fleet_step *step)
{
    json_t *object = json_object();

    probity_json_put_integer(object, "at_ns", step->at_ns);
    json_object_set_new(object, "probe", probity_json_string(
                            probity_fleet_story_name(&story->of, step->probe)));
    json_object_set_new(object, "role", step->role != PROBITY_ROLE_NONE
                                            ? json_string(probity_role_name(step->role))
                                            : json_null());
    probity_json_put_integer(object, "thread", step->thread);
    json_object_set_new(object, "thread_name", probity_json_string(
                            probity_fleet_story_name(&story->of, step->thread)));
    if (step->has_previous)
        probity_json_put_integer(object, "wall_ns", step->wall_ns);
    if (step->is_cpu_known)
        probity_json_put_integer(object, "cpu_ns", step->cpu_ns);
    return object;
}

static json_t *json_of_call(const struct story *story, const struct probity_fleet_story_call *call,
                            int has_cpu)
{
    json_t *object = json_object();

    probity_json_put_integer(object, "start_ns", call->start_ns);
    json_object_set_new(object, "function", probity_json_string(
                            probity_fleet_story_name(&story->of, call->function)));
    probity_json_put_integer(object, "thread", call->thread);
    probity_json_put_integer(object, "depth", call->depth);
    probity_json_put_integer(object, "total_ns", call->total_ns);
    if (has_cpu)
        probity_json_put_integer(object, "total_cpu_ns", call->cpu_ns);
    return object;
}

static int print_json_part(FILE *stream, const struct story *story, const struct part *part)
{
    const struct cli_fleet_texts *texts = part->runs.texts;
    int has_cpu = (part->runs.facts[0].info.flags & PROBITY_INFO_CPU_TIME) != 0;
    json_t *object = json_object(), *hits = json_array(), *calls = json_array();
    char number[24];

    snprintf(number, sizeof number, "%016" PRIx64, part->first->run);
    json_object_set_new(object, "run", json_string(number));
    json_object_set_new(object, "host", probity_json_string(texts->host));
    json_object_set_new(object, "program", probity_json_string(texts->program));
    json_object_set_new(object, "label", probity_json_string(texts->label));
    for (size_t i = 0; i < part->count; i++)
        json_array_append_new(hits, json_of_step(story, &part->first[i]));
    for (size_t i = 0; i < story->of.call_count; i++)
        json_array_append_new(calls, json_of_call(story, &story->of.calls[i], has_cpu));
    json_object_set_new(object, "hits", hits);
    json_object_set_new(object, "calls", calls);
    return probity_json_write(stream, story->runs > 0 ? ",\n" : "\n", object, 15);
}

/* ---- Runs --------------------------------------------------------------------------------------
 */

/* Queries the run of a part. Returns whether it is chosen. */
static int find_run(struct story *story, struct part *part, int *ret_is_chosen)
{
    struct probity_fleet_choice choice = story->options->source->choice;

    choice.run = part->first->run;
    int status = cli_fleet_find_run(&story->fleet, &choice, &part->runs);
    *ret_is_chosen = status == CLI_OK && part->runs.count == 1;
    return status;
}

static int put_part(struct story *story, FILE *stream, struct part *part)
{
    int is_chosen, error = 0, status = find_run(story, part, &is_chosen);

    if (status == CLI_OK && is_chosen)
        status = ask_part(story, part);
    if (status == CLI_OK && is_chosen && !story->options->source->as_sql) {
        if (story->options->as_json)
            error = print_json_part(stream, story, part);
        else
            print_part(stream, story, part);
    }
    story->runs += status == CLI_OK && is_chosen;
    cli_fleet_runs_release(&part->runs);
    story->status = status;
    return error;
}

static int print(void *context, FILE *stream, int has_color)
{
    struct story *story = context;
    int error = 0, is_json = story->options->as_json && !story->options->source->as_sql;

    (void)has_color;
    if (is_json)
        fprintf(stream, "{\"id\": %" PRIu64 ", \"runs\": [", story->id);
    for (size_t i = 0; error == 0 && story->status == CLI_OK && i < story->of.step_count;) {
        struct part part = {.first = &story->of.steps[i]};
        while (i < story->of.step_count && story->of.steps[i].run == part.first->run)
            part.count++, i++;
        if (story->runs == RUNS_MAX) {
            cli_warn(story->options->command, "more than %d runs have hits with this id; select "
                     "some, for example with --host", RUNS_MAX);
            break;
        }
        error = put_part(story, stream, &part);
    }
    if (is_json)
        fputs("]}\n", stream);
    return error;
}

int cli_fleet_story(const struct cli_fleet_story_options *options)
{
    const struct cli_fleet_source *source = options->source;
    const struct cli_fleet_options fleet = {
        .command = options->command, .url = source->url, .password_file = source->password_file};
    struct story story = {.options = options};

    if (parse_id(options->request, &story.id) != 0)
        return cli_fail_usage(options->command, "invalid correlation id '%s' (a number, or 0x and "
                              "hexadecimal digits)", options->request);
    int status = cli_fleet_open(&fleet, &story.fleet);
    if (status == CLI_OK)
        status = ask_steps(&story);
    if (status == CLI_OK)
        status = cli_print_answer(options->command, options->out, options->force, print, &story);
    if (status == CLI_OK)
        status = story.status;
    if (status == CLI_OK && story.runs == 0)
        status = cli_fail(options->command, "'%s' has no hit with the id %" PRIu64 " in these runs",
                          story.fleet.url, story.id);
    probity_fleet_story_release(&story.of);
    cli_fleet_close(&story.fleet);
    return status;
}
