/* SPDX-License-Identifier: MIT
 *
 * blocks_command.c: `probity blocks`: the time from one probe to the next.
 */
#include <inttypes.h>

#include "answers/blocks/blocks.h"
#include "answers/blocks/blocks_print.h"
#include "cli/blocks_part.h"
#include "cli/fleet_source.h"
#include "cli/probe_range.h"
#include "cli/query.h"
#include "probity.h"

/* Maximum number of instances kept for each block. */
enum { SLOWEST_MAX = 1000 };

struct blocks_call {
    struct cli_query answer;
    struct cli_probe_range chosen;
    struct probity_blocks_options options;
    struct probity_blocks *blocks;
    struct probity_blocks_answer result;
    struct probity_blocks_layout layout;
    enum probity_blocks_key key;
};

static int open_blocks(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct blocks_call *call = context;

    call->options.from_ns = from_ns;
    call->options.to_ns = to_ns;
    call->options.role = cli_probe_range_role;
    call->options.context = &call->chosen;
    return probity_blocks_open(&call->options, &call->blocks);
}

static int is_possible_in_parts(void *context)
{
    const struct blocks_call *call = context;

    return !call->options.by_correlation;
}

static int make_part(void *context, void **ret_part)
{
    const struct blocks_call *call = context;
    struct cli_blocks_part *part;
    int error = cli_blocks_part_make(&call->options, &call->chosen, &part);

    if (error == 0)
        *ret_part = part;
    return error;
}

static int put_in_part(void *part, const struct probity_event *event)
{
    return cli_blocks_part_put(part, event);
}

static int are_joinable(const void *left, const void *right)
{
    const struct cli_blocks_part *a = left, *b = right;

    return probity_blocks_are_joinable(a->blocks, b->blocks);
}

static int join_part(void *context, void *part)
{
    struct blocks_call *call = context;

    return cli_blocks_part_join(call->blocks, &call->chosen, part);
}

static void drop_part(void *part)
{
    cli_blocks_part_drop(part);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct blocks_call *call = context;

    /* A requested probe counts as found only if it has a hit in the range. */
    if (event->kind == PROBITY_EVENT_HIT && !probity_blocks_is_in_range(&call->options, event))
        return 0;
    return cli_probe_range_passes(&call->chosen, event) ? probity_blocks_put(call->blocks, event) :
        0;
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
        cli_warn(&cli_command_blocks, "%" PRIu64 " ids evicted: too many in flight",
                 call->result.forgotten);
    call->result.pairs = probity_blocks_sort(call->blocks, call->key, &call->result.count);
    return call->result.pairs != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

static int print_blocks(void *context, FILE *stream, const struct probity_reader *reader,
                        int has_color)
{
    struct blocks_call *call = context;

    call->result.reader = reader;
    call->layout.has_color = has_color;
    call->layout.line_columns = cli_query_line_columns(&call->answer);
    if (call->answer.as_json)
        return probity_blocks_json(stream, &call->result);
    if (call->answer.as_csv)
        probity_blocks_csv(stream, &call->result);
    else
        probity_blocks_text(stream, &call->layout, &call->result);
    return 0;
}

static int run_from_fleet(struct blocks_call *call, size_t traces)
{
    const struct cli_probe_range *chosen = &call->chosen;
    int is_slowest = call->options.slowest > 0;

    if (traces > 0)
        return cli_fail_usage(&cli_command_blocks, "--from-fleet and traces are mutually "
                                                   "exclusive");
    if (chosen->from.count + chosen->to.count + chosen->probes.count > 0 ||
        call->layout.is_corrected || call->answer.tids.count > 0 ||
        call->answer.functions.count > 0)
        return cli_fail_usage(&cli_command_blocks, "--start-probe, --end-probe, --probe, "
                              "--corrected, --tid and --function do not apply to --from-fleet");
    if (open_blocks(call, 0, 0) != 0)
        return cli_fail(&cli_command_blocks, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    return cli_fleet_blocks(&call->answer, &call->options, is_slowest, call->blocks);
}

static int run_on(void *context, char **names, size_t count)
{
    struct blocks_call *call = context;
    const struct cli_fleet_source *source = &call->answer.source;

    if (cli_fleet_is_wanted(source, count))
        return run_from_fleet(call, count);
    int status = cli_fleet_is_unused(&cli_command_blocks, source);
    if (status == CLI_OK)
        status = cli_query_run(&call->answer, names, count);
    if (status == CLI_OK && cli_probe_range_warn_unseen(&cli_command_blocks, &call->chosen))
        status = CLI_FAILURE;
    return status;
}

static void release(void *context)
{
    struct blocks_call *call = context;

    if (call->blocks != NULL)
        probity_blocks_close(call->blocks);
    cli_probe_range_release(&call->chosen);
}

static int run(int argc, char **argv)
{
    static const struct cli_query_parts parts = {
        .is_possible = is_possible_in_parts, .make = make_part, .put = put_in_part,
        .are_joinable = are_joinable, .join = join_part, .drop = drop_part};
    static const struct cli_query_steps steps = {
        .run = run_on, .parts = &parts,
        .open = open_blocks, .put = put_event, .finish = finish_blocks, .print = print_blocks,
        .release = release, .is_windowed = 1, .has_past_of_functions = 1,
        .wants = CLI_QUERY_HITS};
    struct blocks_call call = {
        .answer = {.command = &cli_command_blocks, .steps = &steps, .context = &call},
        .key = PROBITY_BLOCKS_TOTAL};

    return cli_query_main(&call.answer, argc, argv);
}

static const struct cli_option options[] = {
    CLI_PROBE_RANGE_ROWS(struct blocks_call, chosen, "start blocks at these probe numbers or names",
                         "end blocks at these. With either option a block extends from a hit of a "
                         "start probe to the next hit of an end probe, regardless of hits in "
                         "between; another hit of a start probe restarts it"),
    {.name = "by", .value = "correlation", .brief = "what links consecutive hits",
     .help = "pair hits by correlation id across threads, until the request ends (default: thread)",
     CLI_CHOICE(struct blocks_call, options.by_correlation, "thread correlation")},
    {.name = "by-thread", .help = "show one row per thread below each block",
     CLI_FLAG(struct blocks_call, options.by_thread)},
    {.name = "corrected", .brief = "subtract the cost of recording",
     .help = "subtract the cost of the hits from wall time, and show the error bound (+-)",
     CLI_FLAG(struct blocks_call, layout.is_corrected)},
    {.name = "slowest", .value = "N", .brief = "number of slowest instances to show",
     .help = "show start time and thread of the N slowest instances of each block",
     CLI_NUMBER(struct blocks_call, options.slowest, 0, SLOWEST_MAX)},
    {.name = "sort", .value = "KEY", .brief = "sort key", .noun = "sort key", .initial = "total",
     CLI_CHOICE(struct blocks_call, key,
                "total calls probability cpu off-cpu min mean p50 p90 p99 max name")},
    {.name = "limit", .letter = 'n', .value = "N", .help = "show only the first N blocks",
     .brief = "maximum number of blocks",
     CLI_NUMBER(struct blocks_call, result.limit, 0, CLI_LIMIT_MAX)},
    CLI_QUERY_SINCE_ROWS(struct blocks_call, "only hits"),
    CLI_QUERY_TID_ROW(struct blocks_call, "only"),
    {.name = "function", .value = "PATTERN", .brief = "only hits in calls of functions that match",
     .help = "only hits in calls of functions that match (* ? [a-z]); may be repeated",
     CLI_PATTERNS(struct blocks_call, answer.functions)},
    CLI_FLEET_ROWS(struct blocks_call, answer.source),
    CLI_QUERY_JSON_ROW(struct blocks_call, "print one JSON object; times in ns"),
    CLI_QUERY_CSV_ROW(struct blocks_call, "print CSV with a header, one row per block, or with "
                                          "--slowest one per instance; times in ns"),
    CLI_QUERY_OUTPUT_ROWS(struct blocks_call),
    {.name = NULL},
};

const struct cli_command cli_command_blocks = {
    .name = "blocks",
    .run = run,
    .summary = "Show time between consecutive probes",
    .usage = "[OPTION]... TRACE...",
    .help =
        "For each pair of probes hit in succession on a thread: count, share among all "
        "successors of the first probe, wall time, CPU time, time off the CPU, and minimum, "
        "mean, percentiles and maximum of wall time.",
    .options = options,
};
