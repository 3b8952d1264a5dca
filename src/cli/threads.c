/* SPDX-License-Identifier: MIT
 *
 * threads.c: `probity threads`: what each thread did.
 */
#include <getopt.h>

#include "analysis/threads.h"
#include "cli/answer.h"
#include "output/threads_csv.h"
#include "output/threads_json.h"
#include "output/threads_text.h"

struct threads_call {
    struct cli_answer answer;
    struct probity_threads *threads;
    enum probity_threads_key key;
};

static const struct option long_options[] = {CLI_ANSWER_OPTIONS,
                                             {"sort", required_argument, NULL, 's'},
                                             CLI_ANSWER_FORMS,
                                             {NULL, 0, NULL, 0}};

static int parse_key(struct threads_call *call, const char *text)
{
    call->key = probity_threads_key_parse(text);
    if (call->key != PROBITY_THREADS_KEYS)
        return CLI_OK;
    return cli_fail_usage(&cli_command_threads, "no order '%s'; there are first, last, lifetime, "
                          "cpu, off-cpu, records, hits, scopes, tid, name", text);
}

static int take_option(void *context, int option, char *value)
{
    struct threads_call *call = context;

    switch (option) {
    case 's': return parse_key(call, value);
    default: return cli_answer_option(&call->answer, option, value);
    }
}

static int open_threads(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct threads_call *call = context;

    return probity_threads_open(from_ns, to_ns, &call->threads);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct threads_call *call = context;

    return probity_threads_put(call->threads, event);
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
                         int has_colour)
{
    struct threads_call *call = context;
    struct probity_threads_answer answer = {.reader = reader};

    answer.processes = probity_threads_processes(call->threads, &answer.count);
    answer.repairs = probity_threads_repairs(call->threads);
    if (call->answer.as_json)
        return probity_threads_json(stream, &answer);
    if (call->answer.as_csv)
        probity_threads_csv(stream, &answer);
    else
        probity_threads_text(stream, has_colour, cli_answer_line_columns(&call->answer), &answer);
    return 0;
}

static void release(void *context)
{
    struct threads_call *call = context;

    if (call->threads != NULL)
        probity_threads_close(call->threads);
}

static int run(int argc, char **argv)
{
    static const struct cli_answer_steps steps = {
        .options = {":o:fh", long_options, take_option},
        .open = open_threads, .put = put_event, .finish = finish_threads, .print = print_threads,
        .release = release};
    struct threads_call call = {
        .answer = {.command = &cli_command_threads, .steps = &steps, .context = &call},
        .key = PROBITY_THREADS_FIRST};

    return cli_answer_main(&call.answer, argc, argv);
}

const struct cli_command cli_command_threads = {
    "threads", run, "Say what each thread and process did, on and off the CPU",
    "[OPTION]... TRACE...",
    "For each process, and each of its threads: first and last record since recording began, the\n"
    "time in between, on the CPU and off it, the share of all CPU time, and how much was\n"
    "recorded.\n\n"
    "      --sort KEY        first (default), last, lifetime, cpu, off-cpu, records, hits,\n"
    "                        scopes, tid, name\n"
    "      --from T, --to T  records from T on, and before T: seconds since recording began, or\n"
    "                        with a unit (ns, us, ms, s), or @SECONDS since 1970\n"
    "      --tid N,...       only these thread ids\n"
    "      --json            one object; times are ns\n"
    "      --csv             a line of names, then one for each thread; times are ns\n"
    "  -o, --output FILE     write to FILE (default: standard output, also '-')\n"
    "  -f, --force           replace FILE where it exists\n"
    "  -h, --help            this text\n", NULL};
