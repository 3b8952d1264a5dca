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
    int as_json, as_csv;
};

static const struct option long_options[] = {CLI_ANSWER_OPTIONS,
                                             {"sort", required_argument, NULL, 's'},
                                             {"json", no_argument, NULL, 'j'},
                                             {"csv", no_argument, NULL, 'c'},
                                             {NULL, 0, NULL, 0}};

static int parse_key(struct threads_call *call, const char *text)
{
    call->key = probity_threads_key_parse(text);
    if (call->key != PROBITY_THREADS_KEYS)
        return CLI_OK;
    return cli_fail_usage(&cli_command_threads, "no order '%s'; there are first, last, lifetime, "
                          "cpu, off-cpu, records, hits, scopes, tid, name", text);
}

static int parse_option(struct threads_call *call, int option)
{
    switch (option) {
    case 's': return parse_key(call, optarg);
    case 'j': call->as_json = 1; return CLI_OK;
    case 'c': call->as_csv = 1; return CLI_OK;
    default: return cli_answer_option(&call->answer, option, optarg);
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
    if (call->as_json)
        return probity_threads_json(stream, &answer);
    if (call->as_csv)
        probity_threads_csv(stream, &answer);
    else
        probity_threads_text(stream, has_colour, &answer);
    return 0;
}

static int run(int argc, char **argv)
{
    static const struct cli_answer_steps steps = {open_threads, put_event, finish_threads,
                                                  print_threads};
    struct threads_call call = {.answer = {.command = &cli_command_threads, .steps = &steps},
                                .key = PROBITY_THREADS_FIRST};
    int option, status = CLI_OK;

    call.answer.context = &call;
    while (status == CLI_OK &&
           (option = getopt_long(argc, argv, ":o:fh", long_options, NULL)) != -1) {
        status = parse_option(&call, option);
        if (status == -2)
            status = cli_fail_option(&cli_command_threads, argv, option);
    }
    if (status == CLI_OK && call.as_json && call.as_csv)
        status = cli_fail_usage(&cli_command_threads, "--json and --csv exclude each other");
    if (status == CLI_OK)
        status = cli_answer_run(&call.answer, argv + optind, (size_t)(argc - optind));
    if (call.threads != NULL)
        probity_threads_close(call.threads);
    cli_filter_release(&call.answer.tids);
    return status < 0 ? CLI_OK : status;
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
