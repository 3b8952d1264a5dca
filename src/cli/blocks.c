/* SPDX-License-Identifier: MIT
 *
 * blocks.c: `probity blocks`: what the program took from one probe to the next.
 */
#include <getopt.h>
#include <stdlib.h>

#include "analysis/blocks.h"
#include "cli/answer.h"
#include "output/blocks_csv.h"
#include "output/blocks_json.h"
#include "output/blocks_text.h"

struct blocks_call {
    struct cli_answer answer;
    struct cli_filter probes;
    struct probity_blocks *blocks;
    struct probity_blocks_answer result;
    enum probity_blocks_key key;
    int as_json, as_csv;
};

static const struct option long_options[] = {CLI_ANSWER_OPTIONS,
                                             {"sort", required_argument, NULL, 's'},
                                             {"limit", required_argument, NULL, 'n'},
                                             {"probe", required_argument, NULL, 'p'},
                                             {"json", no_argument, NULL, 'j'},
                                             {"csv", no_argument, NULL, 'c'},
                                             {NULL, 0, NULL, 0}};

static int parse_key(struct blocks_call *call, const char *text)
{
    call->key = probity_blocks_key_parse(text);
    if (call->key != PROBITY_BLOCKS_KEYS)
        return CLI_OK;
    return cli_fail_usage(&cli_command_blocks, "no order '%s'; there are total, calls, "
                          "probability, cpu, off-cpu, min, mean, p50, p90, p99, max, name", text);
}

static int parse_limit(struct blocks_call *call, const char *text)
{
    char *end;
    unsigned long limit = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0')
        return cli_fail_usage(&cli_command_blocks, "--limit %s: a number of blocks, or 0 for all",
                              text);
    call->result.limit = limit;
    return CLI_OK;
}

static int parse_option(struct blocks_call *call, int option)
{
    switch (option) {
    case 's': return parse_key(call, optarg);
    case 'n': return parse_limit(call, optarg);
    case 'p': return cli_filter_parse(&cli_command_blocks, &call->probes, optarg, 1);
    case 'j': call->as_json = 1; return CLI_OK;
    case 'c': call->as_csv = 1; return CLI_OK;
    default: return cli_answer_option(&call->answer, option, optarg);
    }
}

static int open_blocks(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct blocks_call *call = context;

    return probity_blocks_open(from_ns, to_ns, &call->blocks);
}

/* The hits of other probes are as if they were not there: what remains are longer blocks. */
static int put_event(void *context, const struct probity_event *event)
{
    struct blocks_call *call = context;

    if (event->kind == PROBITY_EVENT_HIT && call->probes.count > 0 &&
        !cli_filter_passes(&call->probes, event->is_site ? UINT64_MAX : event->id, event->name,
                           event->name_bytes))
        return 0;
    return probity_blocks_put(call->blocks, event);
}

static int finish_blocks(void *context, const struct probity_reader *reader)
{
    struct blocks_call *call = context;

    (void)reader;
    call->result.pairs = probity_blocks_sort(call->blocks, call->key, &call->result.count);
    return call->result.pairs != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

static int print_blocks(void *context, FILE *stream, const struct probity_reader *reader,
                        int has_colour)
{
    struct blocks_call *call = context;

    call->result.reader = reader;
    if (call->as_json)
        return probity_blocks_json(stream, &call->result);
    if (call->as_csv)
        probity_blocks_csv(stream, &call->result);
    else
        probity_blocks_text(stream, has_colour, &call->result);
    return 0;
}

static int run_on(struct blocks_call *call, char **names, size_t count)
{
    int status = cli_answer_run(&call->answer, names, count);

    if (status == CLI_OK && cli_filter_tell_unseen(&cli_command_blocks, &call->probes, "probe"))
        status = CLI_FAILURE;
    return status;
}

static int run(int argc, char **argv)
{
    static const struct cli_answer_steps steps = {open_blocks, put_event, finish_blocks,
                                                  print_blocks};
    struct blocks_call call = {.answer = {.command = &cli_command_blocks, .steps = &steps},
                               .key = PROBITY_BLOCKS_TOTAL};
    int option, status = CLI_OK;

    call.answer.context = &call;
    while (status == CLI_OK &&
           (option = getopt_long(argc, argv, ":o:fn:h", long_options, NULL)) != -1) {
        status = parse_option(&call, option);
        if (status == -2)
            status = cli_fail_option(&cli_command_blocks, argv, option);
    }
    if (status == CLI_OK && call.as_json && call.as_csv)
        status = cli_fail_usage(&cli_command_blocks, "--json and --csv exclude each other");
    if (status == CLI_OK)
        status = run_on(&call, argv + optind, (size_t)(argc - optind));
    if (call.blocks != NULL)
        probity_blocks_close(call.blocks);
    cli_filter_release(&call.answer.tids);
    cli_filter_release(&call.probes);
    return status < 0 ? CLI_OK : status;
}

const struct cli_command cli_command_blocks = {
    "blocks", run, "Say what the program took from each probe to the next",
    "[OPTION]... TRACE...",
    "For each two probes that follow each other on a thread: how often, the share of this among\n"
    "all that followed the first, wall time, CPU time, time off the CPU, and least, mean,\n"
    "percentiles and largest of wall time.\n\n"
    "      --sort KEY        total (default), calls, probability, cpu, off-cpu, min, mean, p50,\n"
    "                        p90, p99, max, name\n"
    "  -n, --limit N         the first N blocks only\n"
    "      --probe ID,...    only these probe numbers or names; from one of them to the next of\n"
    "                        them, whatever lies in between\n"
    "      --from T, --to T  hits from T on, and before T: seconds since recording began, or with\n"
    "                        a unit (ns, us, ms, s), or @SECONDS since 1970\n"
    "      --tid N,...       only these thread ids\n"
    "      --json            one object; times are ns\n"
    "      --csv             a line of names, then one for each block; times are ns\n"
    "  -o, --output FILE     write to FILE (default: standard output, also '-')\n"
    "  -f, --force           replace FILE where it exists\n"
    "  -h, --help            this text\n", NULL};
