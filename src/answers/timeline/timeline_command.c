/* SPDX-License-Identifier: MIT
 *
 * timeline_command.c: `probity timeline`: draws the activity of each thread over time.
 */

#include "answers/timeline/timeline.h"
#include "answers/timeline/timeline_text.h"
#include "cli/query.h"

enum { COLUMNS_OF_JSON = 100, COLUMNS_MAX = 10000 };

struct timeline_call {
    struct cli_query answer;
    struct probity_timeline *timeline;
    size_t columns; /* 0: not given */
    size_t limit;
    uint64_t profiled;
    int is_cpu;
};

static int open_timeline(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct timeline_call *call = context;
    const struct probity_timeline_options options = {
        .from_ns = from_ns, .to_ns = to_ns, .is_window = from_ns > 0 || to_ns > 0};

    return probity_timeline_open(&options, &call->timeline);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct timeline_call *call = context;

    return probity_timeline_put(call->timeline, event);
}

static int put_run(void *context, const struct probity_run *run)
{
    struct timeline_call *call = context;

    return probity_timeline_put_run(call->timeline, run);
}

static int finish_timeline(void *context, const struct probity_reader *reader)
{
    struct timeline_call *call = context;
    int error = cli_query_profiles(&call->answer, reader, NULL, &call->profiled,
                                   &call->profiled);

    return error == 0 ? probity_timeline_finish(call->timeline) : error;
}

static int print_timeline(void *context, FILE *stream, const struct probity_reader *reader,
                          int has_color)
{
    struct timeline_call *call = context;
    struct probity_timeline_answer answer = {.reader = reader,
                                             .timeline = call->timeline,
                                             .columns = call->columns,
                                             .profiled = call->profiled,
                                             .threads_max = call->limit,
                                             .is_cpu = call->is_cpu,
                                             .is_utf8 = cli_query_is_utf8(),
                                             .has_color = has_color};

    if (answer.columns == 0)
        answer.columns = call->answer.as_json ? COLUMNS_OF_JSON : cli_query_columns(&call->answer);
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
        return cli_fail_usage(&cli_command_timeline, "--cpu and --json are mutually exclusive");
    return cli_query_run(&call->answer, names, count);
}

static int run(int argc, char **argv)
{
    static const struct cli_query_steps steps = {
        .open = open_timeline, .put = put_event, .put_run = put_run, .finish = finish_timeline,
        .print = print_timeline, .release = release, .run = run_on, .is_windowed = 1,
        .has_next = 1, .has_past_of_functions = 1};
    struct timeline_call call = {
        .answer = {.command = &cli_command_timeline, .steps = &steps, .context = &call}};

    return cli_query_main(&call.answer, argc, argv);
}

static const struct cli_option options[] = {
    {.name = "cpu", .help = "draw CPU usage as shades instead of letters",
     .brief = "draw CPU usage as shades", CLI_FLAG(struct timeline_call, is_cpu)},
    {.name = "width", .value = "N", .brief = "number of columns",
     .help = "draw N columns (default: the terminal's width, else 80)",
     CLI_NUMBER(struct timeline_call, columns, 1, COLUMNS_MAX)},
    CLI_QUERY_WITHIN_ROW(struct timeline_call), CLI_QUERY_PROBE_ROW(struct timeline_call),
    {.name = "limit", .letter = 'n', .value = "N", .help = "show only the first N threads",
     .brief = "maximum number of threads",
     CLI_NUMBER(struct timeline_call, limit, 0, CLI_LIMIT_MAX)},
    CLI_QUERY_RANGE_ROWS(struct timeline_call, "only events"),
    CLI_QUERY_TID_ROW(struct timeline_call, "only"),
    CLI_QUERY_JSON_ROW(struct timeline_call,
                       "print one JSON object with N time slices per thread (default: 100)"),
    CLI_QUERY_OUTPUT_ROWS(struct timeline_call),
    {.name = NULL},
};

const struct cli_command cli_command_timeline = {
    .name = "timeline",
    .run = run,
    .summary = "Draw a per-thread timeline",
    .usage = "[OPTION]... TRACE...",
    .help =
        "Draws one line per thread. Each column is a time slice; its letter is the function "
        "with the most self time in it, or the probe hit most often. A capital letter means "
        "that the thread was mostly on the CPU.",
    .options = options,
};
