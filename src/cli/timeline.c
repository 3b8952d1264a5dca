/* SPDX-License-Identifier: MIT
 *
 * timeline.c: `probity timeline`: who did what when, in the width of a terminal.
 */
#include <getopt.h>

#include "analysis/timeline.h"
#include "cli/answer.h"
#include "output/timeline_text.h"

enum { COLUMNS_OF_JSON = 100, COLUMNS_MAX = 10000 };

struct timeline_call {
    struct cli_answer answer;
    struct probity_timeline *timeline;
    size_t columns; /* 0: not told */
    uint64_t profiled;
    int is_cpu;
};

static const struct option long_options[] = {CLI_ANSWER_OPTIONS,
                                             {"cpu", no_argument, NULL, 'c'},
                                             {"width", required_argument, NULL, 'w'},
                                             {"json", no_argument, NULL, 'j'},
                                             {NULL, 0, NULL, 0}};

static int parse_width(struct timeline_call *call, const char *text)
{
    if (cli_parse_number(text, 1, COLUMNS_MAX, &call->columns) == 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_timeline, "--width %s: a number from 1 to 10000", text);
}

static int take_option(void *context, int option, char *value)
{
    struct timeline_call *call = context;

    switch (option) {
    case 'c': call->is_cpu = 1; return CLI_OK;
    case 'w': return parse_width(call, value);
    default: return cli_answer_option(&call->answer, option, value);
    }
}

static int open_timeline(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct timeline_call *call = context;
    const struct probity_timeline_options options = {.from_ns = from_ns, .to_ns = to_ns};

    return probity_timeline_open(&options, &call->timeline);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct timeline_call *call = context;

    return probity_timeline_put(call->timeline, event);
}

static int finish_timeline(void *context, const struct probity_reader *reader)
{
    struct timeline_call *call = context;
    int error = cli_answer_profiles(&call->answer, reader, NULL, &call->profiled);

    return error == 0 ? probity_timeline_finish(call->timeline) : error;
}

static int print_timeline(void *context, FILE *stream, const struct probity_reader *reader,
                          int has_colour)
{
    struct timeline_call *call = context;
    struct probity_timeline_answer answer = {.reader = reader,
                                             .timeline = call->timeline,
                                             .columns = call->columns,
                                             .profiled = call->profiled,
                                             .is_cpu = call->is_cpu,
                                             .is_utf8 = cli_answer_is_utf8(),
                                             .has_colour = has_colour};

    if (answer.columns == 0)
        answer.columns = call->answer.as_json ? COLUMNS_OF_JSON : cli_answer_columns(&call->answer);
    return call->answer.as_json ? probity_timeline_json(stream, &answer)
                                : probity_timeline_text(stream, &answer);
}

static void release(void *context)
{
    struct timeline_call *call = context;

    if (call->timeline != NULL)
        probity_timeline_close(call->timeline);
}

static int run_on(void *context, char **names, size_t count)
{
    struct timeline_call *call = context;

    if (call->is_cpu && call->answer.as_json)
        return cli_fail_usage(&cli_command_timeline, "--cpu and --json exclude each other");
    return cli_answer_run(&call->answer, names, count);
}

static int run(int argc, char **argv)
{
    static const struct cli_answer_steps steps = {
        .options = {":o:fh", long_options, take_option},
        .open = open_timeline, .put = put_event, .finish = finish_timeline, .print = print_timeline,
        .release = release, .run = run_on};
    struct timeline_call call = {
        .answer = {.command = &cli_command_timeline, .steps = &steps, .context = &call}};

    return cli_answer_main(&call.answer, argc, argv);
}

const struct cli_command cli_command_timeline = {
    "timeline", run, "Show who did what when, in the width of the terminal",
    "[OPTION]... TRACE...",
    "A line for each thread. Each column is a stretch of time; its letter stands for the function\n"
    "that took most of it by itself, or for the probe that was hit most: a capital letter where\n"
    "the thread was mostly on the CPU.\n\n"
    "      --cpu             shades of the time on the CPU in place of letters\n"
    "      --width N         so many columns (default: the terminal's width, else 80)\n"
    "      --from T, --to T  what begins from T on, and before T: seconds since recording began,\n"
    "                        or with a unit (ns, us, ms, s), or @SECONDS since 1970\n"
    "      --tid N,...       only these thread ids\n"
    "      --json            one object with N columns of time (default 100) of each thread\n"
    "  -o, --output FILE     write to FILE (default: standard output, also '-')\n"
    "  -f, --force           replace FILE where it exists\n"
    "  -h, --help            this text\n", NULL};
