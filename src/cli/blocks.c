/* SPDX-License-Identifier: MIT
 *
 * blocks.c: `probity blocks`: what the program took from one probe to the next.
 */
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#include "analysis/blocks.h"
#include "cli/answer.h"
#include "cli/chosen.h"
#include "output/blocks_csv.h"
#include "output/blocks_json.h"
#include "output/blocks_text.h"

/* Each pair keeps them. */
enum { SLOWEST_MAX = 1000 };

struct blocks_call {
    struct cli_answer answer;
    struct cli_chosen chosen;
    struct probity_blocks_options options;
    struct probity_blocks *blocks;
    struct probity_blocks_answer result;
    struct probity_blocks_layout layout;
    enum probity_blocks_key key;
};

static const struct option long_options[] = {CLI_ANSWER_OPTIONS_SINCE,
                                             CLI_CHOSEN_OPTIONS,
                                             {"sort", required_argument, NULL, 's'},
                                             {"limit", required_argument, NULL, 'n'},
                                             {"by", required_argument, NULL, 'y'},
                                             {"by-thread", no_argument, NULL, 'b'},
                                             {"slowest", required_argument, NULL, 'w'},
                                             {"corrected", no_argument, NULL, 'k'},
                                             CLI_ANSWER_FORMS,
                                             {NULL, 0, NULL, 0}};

static int parse_key(struct blocks_call *call, const char *text)
{
    call->key = probity_blocks_key_parse(text);
    if (call->key != PROBITY_BLOCKS_KEYS)
        return CLI_OK;
    return cli_fail_usage(&cli_command_blocks, "no order '%s'; there are total, calls, "
                          "probability, cpu, off-cpu, min, mean, p50, p90, p99, max, name", text);
}

static int parse_count(const char *option, const char *text, size_t most, size_t *ret_count)
{
    if (cli_parse_number(text, 0, most, ret_count) == 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_blocks, "--%s %s: a number from 0 to %zu", option, text,
                          most);
}

static int parse_by(struct blocks_call *call, const char *text)
{
    call->options.by_correlation = strcmp(text, "correlation") == 0;
    if (call->options.by_correlation || strcmp(text, "thread") == 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_blocks, "--by %s: thread or correlation", text);
}

static int take_option(void *context, int option, char *value)
{
    struct blocks_call *call = context;

    switch (option) {
    case 's': return parse_key(call, value);
    case 'n': return parse_count("limit", value, CLI_LIMIT_MAX, &call->result.limit);
    case 'w': return parse_count("slowest", value, SLOWEST_MAX, &call->options.slowest);
    case 'b': call->options.by_thread = 1; return CLI_OK;
    case 'k': call->layout.is_corrected = 1; return CLI_OK;
    case 'y': return parse_by(call, value);
    case 'A':
    case 'B':
    case 'p': return cli_chosen_option(&cli_command_blocks, &call->chosen, option, value);
    default: return cli_answer_option(&call->answer, option, value);
    }
}

static int open_blocks(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct blocks_call *call = context;

    call->options.from_ns = from_ns;
    call->options.to_ns = to_ns;
    call->options.role = cli_chosen_role;
    call->options.context = &call->chosen;
    return probity_blocks_open(&call->options, &call->blocks);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct blocks_call *call = context;

    return cli_chosen_passes(&call->chosen, event) ? probity_blocks_put(call->blocks, event) : 0;
}

static int finish_blocks(void *context, const struct probity_reader *reader)
{
    struct blocks_call *call = context;

    call->result.start_ns = probity_reader_start_ns(reader);
    call->result.has_slowest = call->options.slowest > 0;
    call->result.are_chosen = call->chosen.from.count + call->chosen.to.count > 0;
    call->result.by_correlation = call->options.by_correlation;
    call->result.forgotten = probity_blocks_forgotten(call->blocks);
    if (call->answer.as_csv && call->result.forgotten > 0)
        cli_warn(&cli_command_blocks, "%" PRIu64 " ids were forgotten: more were open at a time "
                 "than are kept", call->result.forgotten);
    call->result.pairs = probity_blocks_sort(call->blocks, call->key, &call->result.count);
    return call->result.pairs != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

static int print_blocks(void *context, FILE *stream, const struct probity_reader *reader,
                        int has_colour)
{
    struct blocks_call *call = context;

    call->result.reader = reader;
    call->layout.has_colour = has_colour;
    call->layout.line_columns = cli_answer_line_columns(&call->answer);
    if (call->answer.as_json)
        return probity_blocks_json(stream, &call->result);
    if (call->answer.as_csv)
        probity_blocks_csv(stream, &call->result);
    else
        probity_blocks_text(stream, &call->layout, &call->result);
    return 0;
}

static int run_on(void *context, char **names, size_t count)
{
    struct blocks_call *call = context;
    int status = cli_answer_run(&call->answer, names, count);

    if (status == CLI_OK && cli_chosen_tell_unseen(&cli_command_blocks, &call->chosen))
        status = CLI_FAILURE;
    return status;
}

static void release(void *context)
{
    struct blocks_call *call = context;

    if (call->blocks != NULL)
        probity_blocks_close(call->blocks);
    cli_chosen_release(&call->chosen);
}

static int run(int argc, char **argv)
{
    static const struct cli_answer_steps steps = {
        .options = {":o:fn:h", long_options, take_option}, .run = run_on,
        .open = open_blocks, .put = put_event, .finish = finish_blocks, .print = print_blocks,
        .release = release};
    struct blocks_call call = {
        .answer = {.command = &cli_command_blocks, .steps = &steps, .context = &call,
                   .range.has_since = 1},
        .key = PROBITY_BLOCKS_TOTAL};

    return cli_answer_main(&call.answer, argc, argv);
}

const struct cli_command cli_command_blocks = {
    "blocks", run, "Say what the program took from each probe to the next",
    "[OPTION]... TRACE...",
    "For each two probes that follow each other on a thread: how often, the share of this among\n"
    "all that followed the first, wall time, CPU time, time off the CPU, and least, mean,\n"
    "percentiles and largest of wall time.\n\n"
    "      --from ID,...     blocks that begin at these probe numbers or names\n"
    "      --to ID,...       blocks that end at these. With either, a block lies between a hit of\n"
    "                        the first and the next of the second, whatever lies between, and\n"
    "                        begins anew where one of the first comes again before\n"
    "      --probe ID,...    hits of other probes are as if they were not there\n"
    "      --by correlation  from a hit to the next with the same correlation id, in whatever\n"
    "                        thread, until its request ends (default: thread)\n"
    "      --by-thread       a line for each thread below each block\n"
    "      --corrected       wall time less what the hits themselves cost, and how far that may\n"
    "                        be off (+-)\n"
    "      --slowest N       when the slowest N of each block began, and in which thread\n"
    "      --sort KEY        total (default), calls, probability, cpu, off-cpu, min, mean, p50,\n"
    "                        p90, p99, max, name\n"
    "  -n, --limit N         the first N blocks only\n"
    "      --since T         hits from T on: seconds since recording began, or with a unit (ns,\n"
    "                        us, ms, s), or @SECONDS since 1970\n"
    "      --until T         hits before T\n"
    "      --tid N,...       only these thread ids\n"
    "      --json            one object; times are ns\n"
    "      --csv             a line of names, then one for each block, or of --slowest for each\n"
    "                        instance; times are ns\n"
    "  -o, --output FILE     write to FILE (default: standard output, also '-')\n"
    "  -f, --force           replace FILE where it exists\n"
    "  -h, --help            this text\n", NULL};
