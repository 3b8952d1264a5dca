/* SPDX-License-Identifier: MIT
 *
 * report.c: `probity report`: what the calls of each function took.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report.h"
#include "cli/answer.h"
#include "cli/signatures.h"
#include "output/report_csv.h"
#include "output/report_json.h"
#include "output/report_text.h"

struct report_call {
    struct cli_answer answer;
    const char *pattern;
    enum probity_report_key key;
    struct probity_report_layout layout;
    struct probity_report_options options;
    struct probity_report *report;
    int is_found; /* a function like the pattern */
};

static const struct option long_options[] = {CLI_ANSWER_OPTIONS,
                                             {"sort", required_argument, NULL, 's'},
                                             {"limit", required_argument, NULL, 'n'},
                                             {"by-thread", no_argument, NULL, 'b'},
                                             {"signature", no_argument, NULL, 'S'},
                                             {"places", no_argument, NULL, 'P'},
                                             {"function", required_argument, NULL, 'u'},
                                             CLI_ANSWER_FORMS,
                                             {"wide", no_argument, NULL, 'w'},
                                             {"columns", required_argument, NULL, 'C'},
                                             {"corrected", no_argument, NULL, 'k'},
                                             {NULL, 0, NULL, 0}};

#define KEYS \
    "calls, total, self, cpu-total, cpu-self, off-total, off-self, paused, elapsed, parallelism, " \
    "min, mean, p50, p90, p99, max, total-corrected, total-error, self-corrected, self-error"

static int parse_key(struct report_call *call, const char *text)
{
    call->key = probity_report_key_parse(text);
    if (call->key != PROBITY_REPORT_KEYS && call->key != PROBITY_REPORT_DISTRIBUTION)
        return CLI_OK;
    return cli_fail_usage(&cli_command_report, "no order '%s'; there are " KEYS ", name", text);
}

static int parse_columns(struct report_call *call, const char *text)
{
    char name[16];

    call->layout.column_count = 0;
    for (;; text++) {
        size_t bytes = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)bytes, text);
        enum probity_report_key key = probity_report_key_parse(name);
        if (key >= PROBITY_REPORT_NAME || bytes >= sizeof name)
            return cli_fail_usage(&cli_command_report, "no column '%.*s'; there are " KEYS
                                  ", distribution", (int)bytes, text);
        if (call->layout.column_count == PROBITY_REPORT_KEYS)
            return cli_fail_usage(&cli_command_report, "--columns: too many");
        call->layout.columns[call->layout.column_count++] = key;
        text += bytes;
        if (*text == '\0')
            return CLI_OK;
    }
}

static int parse_limit(struct report_call *call, const char *text)
{
    if (cli_parse_number(text, 0, CLI_LIMIT_MAX, &call->layout.limit) == 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_report, "--limit %s: a number of functions, or 0 for all",
                          text);
}

static int take_option(void *context, int option, char *value)
{
    struct report_call *call = context;

    switch (option) {
    case 's': return parse_key(call, value);
    case 'n': return parse_limit(call, value);
    case 'w': call->layout.is_wide = 1; return CLI_OK;
    case 'C': return parse_columns(call, value);
    case 'k': call->layout.is_corrected = 1; return CLI_OK;
    case 'b': call->options.by_thread = 1; return CLI_OK;
    case 'S': call->layout.has_signatures = 1; return CLI_OK;
    case 'P': call->layout.has_places = 1; return CLI_OK;
    case 'u': call->pattern = value; return CLI_OK;
    default: return cli_answer_option(&call->answer, option, value);
    }
}

/* ---- Steps -------------------------------------------------------------------------------------
 */

static int is_of_costs(enum probity_report_key key)
{
    return key >= PROBITY_REPORT_TOTAL_CORRECTED && key <= PROBITY_REPORT_SELF_ERROR;
}

/* To charge records costs some time: not where nothing of it is shown. */
static int wants_costs(const struct report_call *call)
{
    int wanted = call->answer.as_json || call->answer.as_csv || call->layout.is_corrected ||
                 is_of_costs(call->key);

    for (size_t i = 0; i < call->layout.column_count; i++)
        wanted |= is_of_costs(call->layout.columns[i]);
    return wanted;
}

static int open_report(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct report_call *call = context;

    call->options.from_ns = from_ns;
    call->options.to_ns = to_ns;
    call->options.costs_of = wants_costs(call) ? call->answer.reader : NULL;
    return probity_report_open(&call->options, &call->report);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct report_call *call = context;

    return probity_report_put(call->report, event);
}

/* Counts that a range was to leave out must not look as if it had. */
static void tell_whole(const struct report_call *call, const struct probity_reader *reader)
{
    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        if ((call->answer.range.from != NULL || call->answer.range.to != NULL) &&
            facts->info.flags & PROBITY_INFO_PROFILE)
            cli_warn(&cli_command_report, "'%s': counted in profile mode, which keeps no times of "
                     "day: --from and --to leave out nothing of it", facts->path);
    }
}

static int finish_report(void *context, const struct probity_reader *reader)
{
    struct report_call *call = context;
    int error = cli_answer_profiles(&call->answer, reader, call->report, NULL);

    tell_whole(call, reader);
    return error == 0 ? probity_report_finish(call->report) : error;
}

/* Leaves the functions that are like the pattern. */
static size_t keep_matching(const char *pattern, struct probity_report_function *functions,
                            size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const struct probity_function *function = functions[i].function;
        if (function == NULL ||
            !cli_function_matches(pattern, function->name, functions[i].signature))
            continue;
        struct probity_report_function other = functions[kept];
        functions[kept++] = functions[i];
        functions[i] = other;
    }
    return kept;
}

static int print_functions(struct report_call *call, FILE *stream,
                           const struct probity_reader *reader, struct symbols *symbols)
{
    size_t count;
    struct probity_report_function *functions = probity_report_functions(call->report, &count);
    const struct probity_scopes_repairs *repairs = probity_report_repairs(call->report);

    if (symbols != NULL)
        cli_signatures_find(symbols, reader, functions, count);
    if (call->pattern != NULL)
        count = keep_matching(call->pattern, functions, count);
    call->is_found = count > 0;
    probity_report_sort(functions, count, call->key);
    if (!call->answer.as_json && !call->answer.as_csv) {
        probity_report_text(stream, &call->layout, reader, functions, count, repairs);
        return 0;
    }
    if (call->layout.limit > 0 && call->layout.limit < count)
        count = call->layout.limit;
    if (call->answer.as_json)
        return probity_report_json(stream, reader, functions, count, repairs);
    probity_report_csv(stream, reader, functions, count);
    return 0;
}

/* Nothing is looked for where no signature is to be shown. */
static int print_report(void *context, FILE *stream, const struct probity_reader *reader,
                        int has_colour)
{
    struct report_call *call = context;
    int is_needed = call->answer.as_json || call->answer.as_csv || call->layout.has_signatures ||
                    call->pattern != NULL;
    struct symbols *symbols = is_needed ? symbols_open(cli_memory_end) : NULL;

    call->layout.has_colour = has_colour;
    call->layout.is_utf8 = cli_answer_is_utf8();
    call->layout.line_columns = cli_answer_line_columns(&call->answer);
    call->layout.has_pictures = call->layout.is_utf8 && call->layout.line_columns > 0;
    int error = print_functions(call, stream, reader, symbols);
    if (symbols != NULL)
        symbols_close(symbols);
    return error;
}

/* CSV and JSON have all columns, each under its own name. */
static int run_on(void *context, char **names, size_t count)
{
    struct report_call *call = context;

    if (call->layout.column_count > 0 && (call->answer.as_json || call->answer.as_csv))
        return cli_fail_usage(&cli_command_report, "--columns is of the table: %s has all of them",
                              call->answer.as_json ? "--json" : "--csv");
    int status = cli_answer_run(&call->answer, names, count);
    if (status != CLI_OK || call->pattern == NULL || call->is_found)
        return status;
    return cli_fail_function(&cli_command_report, call->pattern);
}

static void release(void *context)
{
    struct report_call *call = context;

    if (call->report != NULL)
        probity_report_close(call->report);
}

static int run(int argc, char **argv)
{
    static const struct cli_answer_steps steps = {
        .options = {":o:fn:h", long_options, take_option}, .run = run_on,
        .open = open_report, .put = put_event, .finish = finish_report, .print = print_report,
        .release = release};
    struct report_call call = {
        .answer = {.command = &cli_command_report, .steps = &steps, .context = &call},
        .key = PROBITY_REPORT_SELF};

    return cli_answer_main(&call.answer, argc, argv);
}

const struct cli_command cli_command_report = {
    "report", run, "Say what the calls of each function took, in wall and CPU time",
    "[OPTION]... TRACE...",
    "Calls; total time, and self time, which is without callees and pauses; minimum, mean,\n"
    "median, 99th percentile and maximum of one call. What was repaired, and whether the traces\n"
    "are complete, stands at the end.\n\n"
    "      --sort KEY          calls, total, self (default), cpu-total, cpu-self, off-total,\n"
    "                          off-self, paused, elapsed, parallelism, min, mean, p50, p90, p99,\n"
    "                          max, total-corrected, total-error, self-corrected, self-error,\n"
    "                          name\n"
    "      --wide              all columns: time off the CPU, elapsed time over all threads, how\n"
    "                          many threads at once, pauses\n"
    "      --corrected         total and self time less what recording added, as far as it was\n"
    "                          measured, and how far that may be off (+-)\n"
    "      --columns KEY,...   these columns of the table, in this order: keys of --sort but\n"
    "                          name, and distribution, a picture: calls by time, on one scale\n"
    "  -n, --limit N           the first N functions only\n"
    "      --by-thread         a line for each thread below each function\n"
    "      --signature         signatures instead of names, where they are known\n"
    "      --places            file and line of each function\n"
    "      --from T, --to T    calls that begin from T on, and before T: seconds since recording\n"
    "                          began, or with a unit (ns, us, ms, s), or @SECONDS since 1970\n"
    "      --tid N,...         only these thread ids\n"
    "      --function PATTERN  only functions whose name or signature is like it: * ? [a-z]\n"
    "      --json              one object; times are ns\n"
    "      --csv               a line of names, then one for each function; times are ns\n"
    "  -o, --output FILE       write to FILE (default: standard output, also '-')\n"
    "  -f, --force             replace FILE where it exists\n"
    "  -h, --help              this text\n", NULL};
