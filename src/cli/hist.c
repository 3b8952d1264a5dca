/* SPDX-License-Identifier: MIT
 *
 * hist.c: `probity hist`: how the times of a function or of a block are spread.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "cli/answer.h"
#include "cli/chosen.h"
#include "output/hist_csv.h"
#include "output/hist_json.h"
#include "output/hist_text.h"
#include "output/text.h"

/* Rows that fit a terminal; and those that one can ask for, more than all fine buckets. */
enum { ROWS_USUAL = 32, ROWS_MAX = 10000 };

/* What is measured of a call: bits of self, CPU, off the CPU. */
enum { OF_SELF = 1, OF_CPU = 2, OF_OFF = 4 };

struct hist_call {
    struct cli_answer answer;
    struct cli_chosen chosen;
    const char *pattern; /* NULL: blocks */
    unsigned of;
    struct probity_report *report;
    struct probity_blocks *blocks;
    struct probity_hist_answer result;
    struct probity_hist_entry *entries;
    struct probity_scopes_repairs repairs;
    size_t rows_max;
    int lacks_cpu;
};

static const struct option long_options[] = {CLI_ANSWER_OPTIONS_SINCE,
                                             CLI_CHOSEN_OPTIONS,
                                             {"self", no_argument, NULL, 'S'},
                                             {"cpu", no_argument, NULL, 'C'},
                                             {"off-cpu", no_argument, NULL, 'O'},
                                             {"linear", no_argument, NULL, 'l'},
                                             {"rows", required_argument, NULL, 'r'},
                                             CLI_ANSWER_FORMS,
                                             {NULL, 0, NULL, 0}};

/* By bits of `of`. */
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

static int parse_rows(struct hist_call *call, const char *text)
{
    if (cli_parse_number(text, 1, ROWS_MAX, &call->rows_max) == 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_hist, "--rows %s: a number from 1 to %d", text, ROWS_MAX);
}

static int take_option(void *context, int option, char *value)
{
    struct hist_call *call = context;

    switch (option) {
    case 'S': call->of |= OF_SELF; return CLI_OK;
    case 'C': call->of |= OF_CPU; return CLI_OK;
    case 'O': call->of |= OF_OFF; return CLI_OK;
    case 'l': call->result.is_linear = 1; return CLI_OK;
    case 'r': return parse_rows(call, value);
    case 'A':
    case 'B':
    case 'p': return cli_chosen_option(&cli_command_hist, &call->chosen, option, value);
    default: return cli_answer_option(&call->answer, option, value);
    }
}

/* ---- Steps -------------------------------------------------------------------------------------
 */

static int open_hist(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct hist_call *call = context;
    const struct probity_report_options options = {.from_ns = from_ns, .to_ns = to_ns,
                                                   .measure = measures[call->of].key};
    const struct probity_blocks_options of_blocks = {
        .from_ns = from_ns, .to_ns = to_ns, .measure = measures[call->of].measure,
        .role = cli_chosen_role, .context = &call->chosen};

    return call->pattern != NULL ? probity_report_open(&options, &call->report)
                                 : probity_blocks_open(&of_blocks, &call->blocks);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct hist_call *call = context;

    if (call->pattern != NULL)
        return probity_report_put(call->report, event);
    return cli_chosen_passes(&call->chosen, event) ? probity_blocks_put(call->blocks, event) : 0;
}

static int add_entry(struct hist_call *call, struct probity_hist_entry entry,
                     struct probity_hist_values values)
{
    struct probity_hist_entry *entries =
        realloc(call->entries, (call->result.count + 1) * sizeof *entries);
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

/* With its classes and namespaces. */
static char *qualified_name(const struct probity_function *function)
{
    size_t bytes;
    const char *from = probity_text_qualified(function->signature, function->name, &bytes);

    return strndup(from, bytes);
}

/* What profile mode has counted are whole calls, in wall time. */
static int finish_functions(struct hist_call *call, const struct probity_reader *reader)
{
    int error = call->of == 0 ? cli_answer_profiles(&call->answer, reader, call->report, NULL) : 0;
    size_t count = 0;

    if (error == 0)
        error = probity_report_finish(call->report);
    struct probity_report_function *functions = probity_report_functions(call->report, &count);
    if (error == 0)
        probity_report_sort(functions, count, PROBITY_REPORT_TOTAL);
    call->repairs = *probity_report_repairs(call->report);
    for (size_t i = 0; error == 0 && i < count; i++) {
        const struct probity_function *function = functions[i].function;
        const struct probity_report_sums *sums = &functions[i].sums;
        if (function == NULL ||
            !cli_function_matches(call->pattern, function->name, function->signature))
            continue;
        const struct probity_hist_entry entry = {
            qualified_name(function), function->file, function->line, sums->calls,
            probity_report_quantile_error(sums), {.count = 0}};
        error = add_entry(call, entry, (struct probity_hist_values){
            &sums->durations, sums->sum_ns, sums->min_ns, sums->max_ns});
    }
    return error;
}

static int finish_blocks(struct hist_call *call)
{
    size_t count = 0;
    const struct probity_blocks_pair *const *pairs =
        probity_blocks_sort(call->blocks, PROBITY_BLOCKS_TOTAL, &count);
    int error = pairs != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (size_t i = 0; error == 0 && i < count; i++) {
        const struct probity_hist_entry entry = {
            probity_blocks_pair_name(pairs[i], 1), NULL, 0, pairs[i]->calls,
            PROBITY_REPORT_QUANTILE_ERROR, {.count = 0}};
        error = add_entry(call, entry, (struct probity_hist_values){
            &pairs[i]->durations, pairs[i]->sum_ns, pairs[i]->min_ns, pairs[i]->max_ns});
    }
    return error;
}

static int finish_hist(void *context, const struct probity_reader *reader)
{
    struct hist_call *call = context;

    for (size_t i = 0; i < probity_reader_traces(reader) && call->of & (OF_CPU | OF_OFF); i++)
        call->lacks_cpu |=
            (probity_reader_facts(reader, i)->info.flags & PROBITY_INFO_CPU_TIME) == 0;
    if (call->lacks_cpu)
        return 0;
    return call->pattern != NULL ? finish_functions(call, reader) : finish_blocks(call);
}

static int print_hist(void *context, FILE *stream, const struct probity_reader *reader,
                      int has_colour)
{
    struct hist_call *call = context;
    struct probity_hist_answer *result = &call->result;

    result->reader = reader;
    result->repairs = &call->repairs;
    result->measure = measures[call->of].name;
    result->title = call->pattern != NULL ? measures[call->of].title : measures[call->of].block;
    result->columns = cli_answer_columns(&call->answer);
    result->is_utf8 = cli_answer_is_utf8();
    if (call->answer.as_json)
        return probity_hist_json(stream, result);
    if (call->answer.as_csv)
        probity_hist_csv(stream, result);
    else
        probity_hist_text(stream, has_colour, result);
    return 0;
}

/* ---- The call ----------------------------------------------------------------------------------
 */

static int tell_nothing(const struct hist_call *call)
{
    if (call->pattern == NULL) {
        if (cli_chosen_tell_unseen(&cli_command_hist, &call->chosen) || call->result.count > 0)
            return call->result.count > 0 ? CLI_OK : CLI_FAILURE;
        return cli_fail(&cli_command_hist, "no such block here; `probity blocks` shows which there "
                        "are");
    }
    if (call->result.count > 0)
        return CLI_OK;
    return cli_fail_function(&cli_command_hist, call->pattern);
}

/* The name comes first; of blocks there is none. */
static int run_on(void *context, char **operands, size_t count)
{
    struct hist_call *call = context;
    int are_blocks =
        call->chosen.from.count + call->chosen.to.count + call->chosen.probes.count > 0;

    if (call->of & OF_CPU && call->of & OF_OFF)
        return cli_fail_usage(&cli_command_hist, "--cpu and --off-cpu exclude each other");
    if (are_blocks && call->of & OF_SELF)
        return cli_fail_usage(&cli_command_hist, "--self: blocks do not call each other");
    if (!are_blocks && count == 0)
        return cli_fail_usage(&cli_command_hist, "no function given, nor --from or --to");
    call->pattern = are_blocks ? NULL : operands[0];
    int status = cli_answer_run(&call->answer, operands + !are_blocks, count - !are_blocks);
    if (status == CLI_OK && call->lacks_cpu)
        return cli_fail(&cli_command_hist, "a trace was recorded without CPU times");
    int told = status == CLI_OK || status == CLI_DAMAGED ? tell_nothing(call) : CLI_OK;
    return status == CLI_OK ? told : status;
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
    cli_chosen_release(&call->chosen);
}

static int run(int argc, char **argv)
{
    static const struct cli_answer_steps steps = {
        .options = {":o:fh", long_options, take_option}, .run = run_on,
        .open = open_hist, .put = put_event, .finish = finish_hist, .print = print_hist,
        .release = release};
    struct hist_call call = {
        .answer = {.command = &cli_command_hist, .steps = &steps, .context = &call,
                   .range.has_since = 1},
        .rows_max = ROWS_USUAL};

    return cli_answer_main(&call.answer, argc, argv);
}

const struct cli_command cli_command_hist = {
    "hist", run, "Show how the times of a function or a block are spread",
    "[OPTION]... NAME TRACE...",
    "How often a call of the function NAME took how long: a bar for each range of times, on a log\n"
    "scale, and where p50, p90 and p99 are. Of several functions like NAME (* ? [a-z]) each has\n"
    "its own. With --from, --to or --probe there is no NAME: blocks take its place.\n\n"
    "      --self            without callees\n"
    "      --cpu             CPU time\n"
    "      --off-cpu         time off the CPU: wall less CPU time\n"
    "      --from ID,...     blocks that begin at these probe numbers or names, and\n"
    "      --to ID,...       end at these, as `probity blocks` has them\n"
    "      --probe ID,...    hits of other probes are as if they were not there\n"
    "      --linear          rows of equal width\n"
    "      --rows N          at most so many rows, or one to each power of two (default 32)\n"
    "      --since T         calls and hits from T on: seconds since recording began, or with a\n"
    "                        unit (ns, us, ms, s), or @SECONDS since 1970\n"
    "      --until T         those before T\n"
    "      --tid N,...       only these thread ids\n"
    "      --json            one object; times are ns\n"
    "      --csv             a line of names, then one for each row; times are ns\n"
    "  -o, --output FILE     write to FILE (default: standard output, also '-')\n"
    "  -f, --force           replace FILE where it exists\n"
    "  -h, --help            this text\n", NULL};
