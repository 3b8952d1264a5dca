/* SPDX-License-Identifier: MIT
 *
 * model_command.c: `probity model`: a workload model of the traced program.
 */

#include "answers/model/model.h"
#include "answers/model/model_print.h"
#include "cli/query.h"

enum model_form { FORM_NONE, FORM_JSON, FORM_DOT, FORM_TEXT };

struct model_call {
    struct cli_query answer;
    struct probity_model *model;
    const struct probity_model_result *result;
    enum model_form form;
    size_t limit;
};

static int take_form(const struct cli_given *given)
{
    struct model_call *call = given->at;
    enum model_form form = (enum model_form)given->option->number;

    if (call->form != FORM_NONE && call->form != form)
        return cli_fail_usage(&cli_command_model, "--json, --dot and --text are mutually "
                              "exclusive");
    call->form = form;
    return CLI_OK;
}

static int open_model(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct model_call *call = context;

    return probity_model_open(from_ns, to_ns, &call->model);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct model_call *call = context;

    return probity_model_put(call->model, event);
}

static uint64_t count_pending(void *context)
{
    struct model_call *call = context;

    return probity_model_pending(call->model);
}

static int finish_model(void *context, const struct probity_reader *reader)
{
    struct model_call *call = context;

    return probity_model_finish(call->model, reader, &call->result);
}

static int print_model(void *context, FILE *stream, const struct probity_reader *reader,
                       int has_color)
{
    const struct model_call *call = context;

    if (call->form == FORM_DOT)
        probity_model_dot(stream, reader, call->result, call->limit);
    else if (call->form == FORM_TEXT)
        probity_model_text(stream, has_color, reader, call->result, call->limit);
    else
        return probity_model_json(stream, reader, call->result, call->limit);
    return 0;
}

static void release(void *context)
{
    struct model_call *call = context;

    if (call->model != NULL)
        probity_model_close(call->model);
}

static int run(int argc, char **argv)
{
    static const struct cli_query_steps steps = {
        .open = open_model, .put = put_event, .finish = finish_model, .print = print_model,
        .release = release, .pending = count_pending, .is_windowed = 1,
        .wants = CLI_QUERY_HITS};
    struct model_call call = {
        .answer = {.command = &cli_command_model, .steps = &steps, .context = &call,
                   .has_states = 1}};

    return cli_query_main(&call.answer, argc, argv);
}

static const struct cli_option options[] = {
    {.name = "json", .help = "print one JSON object (default); times in ns", .brief = "print JSON",
     .take = take_form, .number = FORM_JSON},
    {.name = "dot", .help = "print a graph for Graphviz dot",
     .take = take_form, .number = FORM_DOT},
    {.name = "text", .help = "print tables", .take = take_form, .number = FORM_TEXT},
    {.name = "limit", .letter = 'n', .value = "N", .brief = "maximum number of rows in each list",
     .help = "show only the first N groups, queues, locks, requests and conditions",
     CLI_NUMBER(struct model_call, limit, 0, CLI_LIMIT_MAX)},
    CLI_QUERY_RANGE_ROWS(struct model_call, "only hits"),
    CLI_QUERY_TID_ROW(struct model_call, "only"),
    CLI_QUERY_OUTPUT_ROWS(struct model_call),
    {.name = NULL},
};

const struct cli_command cli_command_model = {
    .name = "model",
    .run = run,
    .summary = "Build a workload model: thread groups, queues, locks, requests",
    .usage = "[OPTION]... TRACE...",
    .help =
        "For each group of threads: the blocks between its probes, with their probabilities and "
        "the distributions of CPU time and time off the CPU, I/O calls, and waits for a CPU. For "
        "queues, locks, requests and conditions, from typed probes or recorded calls: arrivals, "
        "waiting times and lengths. Also shows how much of the program's time the model explains.",
    .options = options,
};
