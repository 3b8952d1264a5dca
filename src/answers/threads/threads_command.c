/* SPDX-License-Identifier: MIT
 *
 * threads_command.c: `probity threads`: times and records of each thread.
 */
#include "answers/threads/threads.h"
#include "answers/threads/threads_print.h"
#include "cli/fleet_source.h"
#include "cli/query.h"
#include "probity.h"

struct threads_call {
    struct cli_query answer;
    struct probity_threads *threads;
    enum probity_threads_key key;
    size_t limit;
};

static int open_threads(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct threads_call *call = context;

    int error = probity_threads_open(from_ns, to_ns, &call->threads);

    return error == 0 ? probity_threads_want_states(call->threads) : error;
}

static int put_event(void *context, const struct probity_event *event)
{
    struct threads_call *call = context;

    return probity_threads_put(call->threads, event);
}

static int put_run(void *context, const struct probity_run *run)
{
    struct threads_call *call = context;

    return probity_threads_put_run(call->threads, run);
}

static uint64_t count_pending(void *context)
{
    struct threads_call *call = context;

    return probity_threads_pending(call->threads);
}

static int finish_threads(void *context, const struct probity_reader *reader)
{
    struct threads_call *call = context;
    int error = probity_threads_finish(call->threads);

    (void)reader;
    if (error == 0)
        probity_threads_sort(call->threads, call->key);
    return error;
}

static int print_threads(void *context, FILE *stream, const struct probity_reader *reader,
                         int has_color)
{
    struct threads_call *call = context;
    struct probity_threads_answer answer = {.reader = reader, .limit = call->limit};

    answer.processes = probity_threads_processes(call->threads, &answer.count);
    answer.repairs = probity_threads_repairs(call->threads);
    if (call->answer.as_json)
        return probity_threads_json(stream, &answer);
    if (call->answer.as_csv)
        probity_threads_csv(stream, &answer);
    else
        probity_threads_text(stream, has_color, cli_query_line_columns(&call->answer), &answer);
    return 0;
}

static int run_from_fleet(struct threads_call *call, size_t traces)
{
    if (traces > 0)
        return cli_fail_usage(&cli_command_threads, "--from-fleet and traces are mutually "
                                                    "exclusive");
    if (call->answer.tids.count > 0)
        return cli_fail_usage(&cli_command_threads, "--tid does not apply to --from-fleet");
    if (open_threads(call, 0, 0) != 0)
        return cli_fail(&cli_command_threads, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    return cli_fleet_threads(&call->answer, call->threads);
}

static int run_on(void *context, char **names, size_t count)
{
    struct threads_call *call = context;
    const struct cli_fleet_source *source = &call->answer.source;

    if (cli_fleet_is_wanted(source, count))
        return run_from_fleet(call, count);
    int status = cli_fleet_is_unused(&cli_command_threads, source);
    return status == CLI_OK ? cli_query_run(&call->answer, names, count) : status;
}

static void release(void *context)
{
    struct threads_call *call = context;

    if (call->threads != NULL)
        probity_threads_close(call->threads);
}

static int run(int argc, char **argv)
{
    static const struct cli_query_steps steps = {
        .run = run_on,
        .open = open_threads, .put = put_event, .put_run = put_run,
        .finish = finish_threads, .print = print_threads,
        .release = release, .pending = count_pending, .is_windowed = 1};
    struct threads_call call = {
        .answer = {.command = &cli_command_threads, .steps = &steps, .context = &call,
                   .has_states = 1},
        .key = PROBITY_THREADS_FIRST};

    return cli_query_main(&call.answer, argc, argv);
}

static const struct cli_option options[] = {
    {.name = "sort", .value = "KEY", .brief = "sort key", .noun = "sort key", .initial = "first",
     CLI_CHOICE(struct threads_call, key,
                "first last lifetime cpu off-cpu records hits scopes tid name")},
    {.name = "limit", .letter = 'n', .value = "N", .brief = "maximum number of threads",
     .help = "show only the first N threads of each process",
     CLI_NUMBER(struct threads_call, limit, 0, CLI_LIMIT_MAX)},
    CLI_QUERY_RANGE_ROWS(struct threads_call, "only records"),
    CLI_QUERY_TID_ROW(struct threads_call, "only"),
    CLI_FLEET_ROWS(struct threads_call, answer.source),
    CLI_QUERY_JSON_ROW(struct threads_call, "print one JSON object; times in ns"),
    CLI_QUERY_CSV_ROW(struct threads_call,
                      "print CSV with a header, one row per thread; times in ns"),
    CLI_QUERY_OUTPUT_ROWS(struct threads_call),
    {.name = NULL},
};

const struct cli_command cli_command_threads = {
    .name = "threads",
    .run = run,
    .summary = "Show on-CPU and off-CPU time of each thread",
    .usage = "[OPTION]... TRACE...",
    .help =
        "For each process and each of its threads: first and last record since recording began, "
        "the time between them, time on and off the CPU, share of all CPU time, and number of "
        "records. If thread states were recorded: also how "
        "long each ran, waited for a CPU and was blocked, with shares of the time between first "
        "and last record.",
    .options = options,
};
