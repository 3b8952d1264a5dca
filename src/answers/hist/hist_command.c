/* SPDX-License-Identifier: MIT
 *
 * hist_command.c: `probity hist`: a histogram of the times of a function or block.
 */
#include <stdlib.h>
#include <string.h>

#include "answers/hist/hist_print.h"
#include "answers/report/report.h"
#include "base/array_grow.h"
#include "cli/blocks_part.h"
#include "cli/fleet_source.h"
#include "cli/probe_range.h"
#include "cli/query.h"
#include "print/text.h"
#include "probity.h"

/* The default fits a terminal; the maximum exceeds the number of fine-grained buckets. */
enum { ROWS_USUAL = 32, ROWS_MAX = 10000 };

/* Bits that select the measure. */
enum { OF_SELF = 1, OF_CPU = 2, OF_OFF = 4 };

struct hist_call {
    struct cli_query answer;
    struct cli_probe_range chosen;
    const char *pattern; /* NAME or --function; NULL for blocks */
    unsigned of;
    struct probity_report *report;
    struct probity_blocks *blocks;
    struct probity_blocks_options of_blocks;
    struct probity_hist_answer result;
    struct probity_hist_entry *entries;
    struct probity_scopes_repairs repairs;
    size_t rows_max, limit;
    int lacks_cpu;
};

/* Indexed by the bits in `of`. */
static const struct {
    enum probity_report_key key;
    enum probity_blocks_measure measure;
    const char *name, *title, *block;
} measures[] = {
    [0] = {PROBITY_REPORT_TOTAL, PROBITY_BLOCKS_MEASURE_WALL, "total", "wall time of one call",
           "wall time of one block"},
    [OF_SELF] = {PROBITY_REPORT_SELF, 0, "self", "self time of one call", NULL},
    [OF_CPU] = {PROBITY_REPORT_CPU_TOTAL, PROBITY_BLOCKS_MEASURE_CPU, "cpu-total",
                "CPU time of one call", "CPU time of one block"},
    [OF_CPU | OF_SELF] = {PROBITY_REPORT_CPU_SELF, 0, "cpu-self", "CPU self time of one call",
                          NULL},
    [OF_OFF] = {PROBITY_REPORT_OFF_TOTAL, PROBITY_BLOCKS_MEASURE_OFF, "off-total",
                "time off the CPU of one call", "time off the CPU of one block"},
    [OF_OFF | OF_SELF] = {PROBITY_REPORT_OFF_SELF, 0, "off-self",
                          "self time off the CPU of one call", NULL}};

/* ---- Steps -------------------------------------------------------------------------------------
 */

static int open_hist(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct hist_call *call = context;
    const struct probity_report_options options = {.from_ns = from_ns, .to_ns = to_ns,
                                                   .measure = measures[call->of].key,
                                                   .without_elapsed = 1};
    call->of_blocks = (struct probity_blocks_options){
        .from_ns = from_ns, .to_ns = to_ns, .measure = measures[call->of].measure,
        .role = cli_probe_range_role, .context = &call->chosen};

    return call->pattern != NULL ? probity_report_open(&options, &call->report)
                                 : probity_blocks_open(&call->of_blocks, &call->blocks);
}

static uint64_t count_pending(void *context)
{
    struct hist_call *call = context;

    return call->report != NULL ? probity_report_pending(call->report) : 0;
}

/* Calls or blocks of one part. */
struct hist_part {
    struct probity_report *report;
    struct cli_blocks_part *blocks;
};

static int is_possible_in_parts(void *context)
{
    (void)context;
    return 1;
}

static void drop_part(void *context)
{
    struct hist_part *part = context;

    if (part->report != NULL)
        probity_report_close(part->report);
    if (part->blocks != NULL)
        cli_blocks_part_drop(part->blocks);
    free(part);
}

static int make_part(void *context, void **ret_part)
{
    const struct hist_call *call = context;
    const struct probity_report_options options = {.measure = measures[call->of].key,
                                                   .without_elapsed = 1};
    const struct probity_blocks_options of_blocks = {.measure = measures[call->of].measure};
    struct hist_part *part = calloc(1, sizeof *part);

    if (part == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = call->pattern != NULL
                    ? probity_report_open(&options, &part->report)
                    : cli_blocks_part_make(&of_blocks, &call->chosen, &part->blocks);
    if (error == 0)
        *ret_part = part;
    else
        drop_part(part);
    return error;
}

static int put_in_part(void *context, const struct probity_event *event)
{
    struct hist_part *part = context;

    return part->report != NULL ? probity_report_put(part->report, event)
                                : cli_blocks_part_put(part->blocks, event);
}

static int put_run_in_part(void *context, const struct probity_run *run)
{
    struct hist_part *part = context;

    return part->report != NULL ? probity_report_put_run(part->report, run)
                                : cli_query_put_each(run, put_in_part, part);
}

static int are_joinable(const void *left, const void *right)
{
    const struct hist_part *a = left, *b = right;

    return a->report != NULL || probity_blocks_are_joinable(a->blocks->blocks, b->blocks->blocks);
}

static int join_part(void *context, void *joined)
{
    struct hist_call *call = context;
    struct hist_part *part = joined;

    return part->report != NULL
               ? probity_report_join(call->report, part->report)
               : cli_blocks_part_join(call->blocks, &call->chosen, part->blocks);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct hist_call *call = context;

    if (call->pattern != NULL)
        return probity_report_put(call->report, event);
    if (event->kind == PROBITY_EVENT_HIT && !probity_blocks_is_in_range(&call->of_blocks, event))
        return 0;
    return cli_probe_range_passes(&call->chosen, event) ? probity_blocks_put(call->blocks, event) :
        0;
}

static int put_run(void *context, const struct probity_run *run)
{
    struct hist_call *call = context;

    return call->pattern != NULL ? probity_report_put_run(call->report, run)
                                 : cli_query_put_each(run, put_event, call);
}

static int add_entry(struct hist_call *call, struct probity_hist_entry entry,
                     struct probity_hist_values values)
{
    struct probity_hist_entry *entries =
        probity_array_append(call->entries, sizeof *entries, call->result.count);
    int error = PROBITY_ERROR_MEMORY;

    if (entries != NULL) {
        call->entries = entries;
        call->result.entries = entries;
    }
    if (entries != NULL && entry.name != NULL)
        error = probity_hist_make(&values, call->result.is_linear, call->rows_max, &entry.hist);
    if (error == 0)
        entries[call->result.count++] = entry;
    else
        free(entry.name);
    return error;
}

static int is_full(const struct hist_call *call)
{
    return call->limit > 0 && call->result.count >= call->limit;
}

/* Returns a function's name, qualified with classes and namespaces. */
static char *qualified_name(const struct probity_function *function)
{
    size_t bytes;
    const char *from = probity_text_qualified(function->signature, function->name, &bytes);

    return strndup(from, bytes);
}

/* Adds the functions of a finished report. */
static int add_functions(struct hist_call *call)
{
    size_t count;
    struct probity_report_function *functions = probity_report_functions(call->report, &count);
    int error = probity_report_sort(functions, count, PROBITY_REPORT_TOTAL);

    for (size_t i = 0; error == 0 && i < count && !is_full(call); i++) {
        const struct probity_function *function = functions[i].function;
        const struct probity_report_sums *sums = &functions[i].sums;
        if (function == NULL ||
            !cli_function_is_like(call->pattern, function->name, function->signature))
            continue;
        const struct probity_hist_entry entry = {
            qualified_name(function), function->file, function->line, sums->calls,
            sums->counted, sums->is_least, probity_report_quantile_error(sums), {.count = 0}};
        error = add_entry(call, entry, (struct probity_hist_values){
            &sums->durations, sums->sum_ns, sums->min_ns, sums->max_ns});
    }
    return error;
}

/* Profile mode counts only the wall time of whole calls. */
static int finish_functions(struct hist_call *call, const struct probity_reader *reader)
{
    int error = call->of == 0 ? cli_query_profiles(&call->answer, reader, call->report, NULL, NULL)
                             : 0;

    if (error == 0)
        error = probity_report_finish(call->report);
    call->repairs = *probity_report_repairs(call->report);
    return error == 0 ? add_functions(call) : error;
}

static int finish_blocks(struct hist_call *call)
{
    size_t count = 0;
    const struct probity_blocks_pair *const *pairs =
        probity_blocks_sort(call->blocks, PROBITY_BLOCKS_TOTAL, &count);
    int error = pairs != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (size_t i = 0; error == 0 && i < count && !is_full(call); i++) {
        const struct probity_hist_entry entry = {
            probity_blocks_pair_name(pairs[i], 1), NULL, 0, pairs[i]->calls,
            0, 0, PROBITY_REPORT_QUANTILE_ERROR, {.count = 0}};
        error = add_entry(call, entry, (struct probity_hist_values){
            &pairs[i]->durations, pairs[i]->sum_ns, pairs[i]->min_ns, pairs[i]->max_ns});
    }
    return error;
}

static void check_cpu(struct hist_call *call, const struct probity_reader *reader)
{
    for (size_t i = 0; i < probity_reader_traces(reader) && call->of & (OF_CPU | OF_OFF); i++)
        call->lacks_cpu |=
            (probity_reader_facts(reader, i)->info.flags & PROBITY_INFO_CPU_TIME) == 0;
}

static int finish_hist(void *context, const struct probity_reader *reader)
{
    struct hist_call *call = context;

    check_cpu(call, reader);
    if (call->lacks_cpu)
        return 0;
    return call->pattern != NULL ? finish_functions(call, reader) : finish_blocks(call);
}

static int print_hist(void *context, FILE *stream, const struct probity_reader *reader,
                      int has_color)
{
    struct hist_call *call = context;
    struct probity_hist_answer *result = &call->result;

    result->reader = reader;
    result->repairs = &call->repairs;
    result->measure = measures[call->of].name;
    result->title = call->pattern != NULL ? measures[call->of].title : measures[call->of].block;
    result->columns = cli_query_columns(&call->answer);
    result->is_utf8 = cli_query_is_utf8();
    if (call->answer.as_json)
        return probity_hist_json(stream, result);
    if (call->answer.as_csv)
        probity_hist_csv(stream, result);
    else
        probity_hist_text(stream, has_color, result);
    return 0;
}

/* ---- The command -------------------------------------------------------------------------------
 */

static int warn_nothing(const struct hist_call *call)
{
    if (call->pattern == NULL) {
        if (cli_probe_range_warn_unseen(&cli_command_hist, &call->chosen) || call->result.count > 0)
            return call->result.count > 0 ? CLI_OK : CLI_FAILURE;
        return cli_fail(&cli_command_hist, "no matching block; `probity blocks` lists the blocks");
    }
    if (call->result.count > 0)
        return CLI_OK;
    return cli_fail_function(&cli_command_hist, call->pattern);
}

static int take_report(void *context, struct probity_report *report,
                       const struct probity_scopes_repairs *repairs,
                       const struct probity_reader *reader)
{
    struct hist_call *call = context;

    call->report = report;
    call->repairs = *repairs;
    check_cpu(call, reader);
    return call->lacks_cpu ? 0 : add_functions(call);
}

static int is_wanted(void *context, const struct probity_function *function)
{
    struct hist_call *call = context;

    return function != NULL &&
           cli_function_is_like(call->pattern, function->name, function->signature);
}

static int run_from_fleet(struct hist_call *call, size_t traces)
{
    const struct cli_fleet_want want = {.measure = measures[call->of].key, .is_wanted = is_wanted,
                                        .take = take_report};

    if (traces > 0)
        return cli_fail_usage(&cli_command_hist, "--from-fleet and traces are mutually exclusive");
    if (call->pattern == NULL || call->answer.tids.count > 0)
        return cli_fail_usage(&cli_command_hist, "blocks between probes and --tid do not apply to "
                              "--from-fleet; use the traces");
    return cli_fleet_report(&call->answer, &want);
}

/* The first operand is the name of a function, except with --function and for blocks. */
static int run_on(void *context, char **operands, size_t count)
{
    struct hist_call *call = context;
    int are_blocks =
        call->chosen.from.count + call->chosen.to.count + call->chosen.probes.count > 0;
    int has_name = !are_blocks && call->pattern == NULL;

    if (are_blocks && call->pattern != NULL)
        return cli_fail_usage(&cli_command_hist, "--function does not apply to blocks");
    if (call->of & OF_CPU && call->of & OF_OFF)
        return cli_fail_usage(&cli_command_hist, "--cpu and --off-cpu are mutually exclusive");
    if (are_blocks && call->of & OF_SELF)
        return cli_fail_usage(&cli_command_hist, "--self does not apply to blocks");
    if (has_name && count == 0)
        return cli_fail_usage(&cli_command_hist, "expected a function, --start-probe or "
                              "--end-probe");
    if (has_name)
        call->pattern = operands[0];
    call->answer.wants = are_blocks ? CLI_QUERY_HITS : CLI_QUERY_CALLS;
    int is_of_fleet = cli_fleet_is_wanted(&call->answer.source, count - (size_t)has_name);
    int status = is_of_fleet ? CLI_OK
                             : cli_fleet_is_unused(&cli_command_hist, &call->answer.source);
    if (status == CLI_OK)
        status = is_of_fleet ? run_from_fleet(call, count - (size_t)has_name)
                             : cli_query_run(&call->answer, operands + has_name,
                                             count - (size_t)has_name);
    if (call->answer.source.as_sql)
        return status;
    if (status == CLI_OK && call->lacks_cpu)
        return cli_fail(&cli_command_hist, "a trace was recorded without CPU time");
    int warned = status == CLI_OK || status == CLI_DAMAGED ? warn_nothing(call) : CLI_OK;
    return status == CLI_OK ? warned : status;
}

static void release(void *context)
{
    struct hist_call *call = context;

    for (size_t i = 0; i < call->result.count; i++) {
        free(call->entries[i].name);
        probity_hist_release(&call->entries[i].hist);
    }
    free(call->entries);
    if (call->report != NULL)
        probity_report_close(call->report);
    if (call->blocks != NULL)
        probity_blocks_close(call->blocks);
    cli_probe_range_release(&call->chosen);
}

static int run(int argc, char **argv)
{
    static const struct cli_query_parts parts = {
        .is_possible = is_possible_in_parts, .make = make_part, .put = put_in_part,
        .put_run = put_run_in_part,
        .are_joinable = are_joinable, .join = join_part, .drop = drop_part};
    static const struct cli_query_steps steps = {
        .parts = &parts,
        .run = run_on,
        .open = open_hist, .put = put_event, .put_run = put_run,
        .finish = finish_hist, .print = print_hist,
        .release = release, .pending = count_pending, .is_windowed = 1};
    struct hist_call call = {
        .answer = {.command = &cli_command_hist, .steps = &steps, .context = &call},
        .rows_max = ROWS_USUAL};

    return cli_query_main(&call.answer, argc, argv);
}

static const struct cli_operand operands[] = {{.label = "name or trace", .repeats = 1},
                                              {.label = NULL}};

static const struct cli_option options[] = {
    {.name = "function", .value = "PATTERN", .brief = "functions that match",
     .help = "functions that match; replaces NAME",
     CLI_TEXT(struct hist_call, pattern)},
    {.name = "self", .help = "exclude callees", CLI_BIT(struct hist_call, of, OF_SELF)},
    {.name = "cpu", .help = "CPU time", CLI_BIT(struct hist_call, of, OF_CPU)},
    {.name = "off-cpu", .help = "time off the CPU: wall time minus CPU time",
     CLI_BIT(struct hist_call, of, OF_OFF)},
    CLI_PROBE_RANGE_ROWS(struct hist_call, chosen, "blocks that start at these probe numbers or "
                         "names, as in `probity blocks`", "blocks that end at these"),
    {.name = "linear", .help = "use rows of equal width", .brief = "rows of equal width",
     CLI_FLAG(struct hist_call, result.is_linear)},
    {.name = "rows", .value = "N", .brief = "maximum number of rows",
     .help = "use at most N rows, or one per power of two (default: 32)",
     CLI_NUMBER(struct hist_call, rows_max, 1, ROWS_MAX)},
    {.name = "limit", .letter = 'n', .value = "N", .brief = "maximum number of histograms",
     .help = "show only the first N histograms, those with the most time",
     CLI_NUMBER(struct hist_call, limit, 0, CLI_LIMIT_MAX)},
    CLI_QUERY_SINCE_ROWS(struct hist_call, "only calls and hits"),
    CLI_QUERY_TID_ROW(struct hist_call, "only"),
    CLI_FLEET_ROWS(struct hist_call, answer.source),
    CLI_QUERY_JSON_ROW(struct hist_call, "print one JSON object; times in ns"),
    CLI_QUERY_CSV_ROW(struct hist_call, "print CSV with a header, one line per row; times in ns"),
    CLI_QUERY_OUTPUT_ROWS(struct hist_call),
    {.name = NULL},
};

const struct cli_command cli_command_hist = {
    .name = "hist",
    .run = run,
    .summary = "Show a latency histogram",
    .usage = "[OPTION]... NAME TRACE...",
    .help =
        "Shows the distribution of call times of function NAME: one bar per range of times, on "
        "a log scale, with p50, p90 and p99 marked. NAME may be a pattern (* ? [a-z]); each "
        "function that matches gets its own histogram. With --start-probe, --end-probe or "
        "--probe, omit NAME: the histogram is of blocks between probes.",
    .options = options,
    .operands = operands,
};
