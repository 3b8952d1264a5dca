/* SPDX-License-Identifier: MIT
 *
 * model.c: `probity model`: a workload model of the traced program.
 */
#include <getopt.h>

#include "analysis/model.h"
#include "cli/answer.h"
#include "output/model_dot.h"
#include "output/model_json.h"
#include "output/model_text.h"

struct model_call {
    struct cli_answer answer;
    struct probity_model *model;
    const struct probity_model_result *result;
    int form; /* a letter of the options below; 0: none was given */
};

static const struct option long_options[] = {CLI_ANSWER_OPTIONS,
                                             {"json", no_argument, NULL, 'j'},
                                             {"dot", no_argument, NULL, 'd'},
                                             {"text", no_argument, NULL, 'x'},
                                             {NULL, 0, NULL, 0}};

static int take_option(void *context, int option, char *value)
{
    struct model_call *call = context;

    if (option != 'j' && option != 'd' && option != 'x')
        return cli_answer_option(&call->answer, option, value);
    if (call->form != 0 && call->form != option)
        return cli_fail_usage(&cli_command_model, "--json, --dot and --text exclude each other");
    call->form = option;
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

static int finish_model(void *context, const struct probity_reader *reader)
{
    struct model_call *call = context;

    return probity_model_finish(call->model, reader, &call->result);
}

static int print_model(void *context, FILE *stream, const struct probity_reader *reader,
                       int has_colour)
{
    const struct model_call *call = context;

    if (call->form == 'd')
        probity_model_dot(stream, reader, call->result);
    else if (call->form == 'x')
        probity_model_text(stream, has_colour, reader, call->result);
    else
        return probity_model_json(stream, reader, call->result);
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
    static const struct cli_answer_steps steps = {
        .options = {":o:fh", long_options, take_option},
        .open = open_model, .put = put_event, .finish = finish_model, .print = print_model,
        .release = release};
    struct model_call call = {
        .answer = {.command = &cli_command_model, .steps = &steps, .context = &call}};

    return cli_answer_main(&call.answer, argc, argv);
}

const struct cli_command cli_command_model = {
    "model", run, "Make a workload model: groups, blocks, queues, locks, requests",
    "[OPTION]... TRACE...",
    "For each group of threads, the blocks between its probes: how probable each is, and how its\n"
    "CPU time and its time off the CPU are distributed. Of typed probes, queues, locks and\n"
    "requests: arrivals, waiting, lengths. And how much of the program the model explains.\n\n"
    "      --json            one object (default); times are ns\n"
    "      --dot             a graph for dot, of Graphviz\n"
    "      --text            tables for people\n"
    "      --from T, --to T  hits from T on, and before T: seconds since recording began, or with\n"
    "                        a unit (ns, us, ms, s), or @SECONDS since 1970\n"
    "      --tid N,...       only these thread ids\n"
    "  -o, --output FILE     write to FILE (default: standard output, also '-')\n"
    "  -f, --force           replace FILE where it exists\n"
    "  -h, --help            this text\n", NULL};
