/* SPDX-License-Identifier: MIT
 *
 * report_command.c: `probity report`: counts and times of each function.
 */
#include <stdio.h>
#include <string.h>

#include "answers/report/report.h"
#include "answers/report/report_csv.h"
#include "answers/report/report_json.h"
#include "answers/report/report_text.h"
#include "answers/report/states.h"
#include "answers/report/states_print.h"
#include "cli/fleet_source.h"
#include "cli/limit.h"
#include "cli/patterns.h"
#include "cli/query.h"
#include "cli/signatures.h"

struct report_call {
    struct cli_query answer;
    struct cli_patterns patterns;
    enum probity_report_key key;
    struct probity_report_layout layout;
    struct probity_report_options options;
    double suggest_percent; /* --suggest; 0: print the report instead */
    int is_cost_known;      /* set by --suggest */
    struct probity_report *report;
    struct probity_states_report *states; /* --states: used in place of `report`; or NULL */
    uint64_t counted; /* calls that were only counted */
    struct probity_scopes_repairs repairs; /* from a database */
    int is_from_fleet;
};

#define KEYS \
    "calls total self cpu-total cpu-self off-total off-self paused elapsed parallelism min mean " \
    "p50 p90 p99 max total-corrected total-error self-corrected self-error"

static int take_key(const struct cli_given *given)
{
    struct report_call *call = given->at;

    call->key = probity_report_key_parse(given->value);
    return call->key != PROBITY_REPORT_KEYS && call->key != PROBITY_REPORT_DISTRIBUTION
               ? CLI_OK
               : cli_fail_choice(given);
}

static int take_suggest(const struct cli_given *given)
{
    struct report_call *call = given->at;

    if (cli_parse_percent(given->value, &call->suggest_percent) == 0 && call->suggest_percent > 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_report, "invalid --suggest '%s' (a percentage above 0)",
                          given->value);
}

static int take_columns(const struct cli_given *given)
{
    struct report_call *call = given->at;
    struct cli_given column = *given;
    char name[16];

    call->layout.column_count = 0;
    for (char *text = given->value;; text++) {
        size_t bytes = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)bytes, text);
        enum probity_report_key key = probity_report_key_parse(name);
        if (key >= PROBITY_REPORT_NAME || bytes >= sizeof name) {
            column.value = text;
            return cli_fail_choice(&column);
        }
        if (call->layout.column_count == PROBITY_REPORT_KEYS)
            return cli_fail_usage(&cli_command_report, "too many columns");
        call->layout.columns[call->layout.column_count++] = key;
        text += bytes;
        if (*text == '\0')
            return CLI_OK;
    }
}

/* ---- Steps -------------------------------------------------------------------------------------
 */

static int is_of_costs(enum probity_report_key key)
{
    return key >= PROBITY_REPORT_TOTAL_CORRECTED && key <= PROBITY_REPORT_SELF_ERROR;
}

/* Computing the cost of records takes time, so this is done only if a cost is shown. */
static int wants_costs(const struct report_call *call)
{
    int wanted = call->answer.as_json || call->answer.as_csv || call->layout.is_corrected ||
                 is_of_costs(call->key) || call->suggest_percent > 0;

    for (size_t i = 0; i < call->layout.column_count; i++)
        wanted |= is_of_costs(call->layout.columns[i]);
    return wanted;
}

static int is_of_elapsed(enum probity_report_key key)
{
    return key == PROBITY_REPORT_ELAPSED || key == PROBITY_REPORT_PARALLELISM;
}

/* Elapsed times require the events of all threads in time order. */
static int wants_elapsed(const struct report_call *call)
{
    int wanted = call->answer.as_json || call->answer.as_csv || call->layout.is_wide ||
                 is_of_elapsed(call->key);

    for (size_t i = 0; i < call->layout.column_count; i++)
        wanted |= is_of_elapsed(call->layout.columns[i]);
    return wanted;
}

static int open_report(void *context, uint64_t from_ns, uint64_t to_ns)
{
    struct report_call *call = context;

    call->options.from_ns = from_ns;
    call->options.to_ns = to_ns;
    if (call->answer.has_states)
        return probity_states_report_open(&call->options, &call->states);
    call->options.costs_of = wants_costs(call) ? call->answer.reader : NULL;
    call->options.without_elapsed = !wants_elapsed(call);
    return probity_report_open(&call->options, &call->report);
}

static int is_possible_in_parts(void *context)
{
    const struct report_call *call = context;

    return !wants_elapsed(call);
}

static int make_part(void *context, void **ret_part)
{
    const struct report_call *call = context;
    struct probity_report_options options = call->options;
    struct probity_report *part;

    options.without_elapsed = 1;
    options.costs_of = wants_costs(call) ? call->answer.reader : NULL;
    int error = probity_report_open(&options, &part);
    if (error == 0)
        *ret_part = part;
    return error;
}

static int put_in_part(void *part, const struct probity_event *event)
{
    return probity_report_put(part, event);
}

static int put_run_in_part(void *part, const struct probity_run *run)
{
    return probity_report_put_run(part, run);
}

static int join_part(void *context, void *part)
{
    struct report_call *call = context;

    return probity_report_join(call->report, part);
}

static void drop_part(void *part)
{
    probity_report_close(part);
}

static int put_event(void *context, const struct probity_event *event)
{
    struct report_call *call = context;

    return call->states != NULL ? probity_states_report_put(call->states, event)
                                : probity_report_put(call->report, event);
}

static int put_run(void *context, const struct probity_run *run)
{
    struct report_call *call = context;

    return call->states != NULL ? cli_query_put_each(run, put_event, call)
                                : probity_report_put_run(call->report, run);
}

/* Warns that --since and --until do not apply to counts. */
static void warn_whole(const struct report_call *call, const struct probity_reader *reader)
{
    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        if ((call->answer.range.from != NULL || call->answer.range.to != NULL) &&
            facts->info.flags & PROBITY_INFO_PROFILE)
            cli_warn(&cli_command_report, "'%s' was recorded in profile mode, which has no time "
                     "stamps: --since and --until do not apply to it", facts->path);
    }
}

static uint64_t count_pending(void *context)
{
    struct report_call *call = context;

    return call->states != NULL ? probity_states_report_pending(call->states)
                                : probity_report_pending(call->report);
}

static int finish_report(void *context, const struct probity_reader *reader)
{
    struct report_call *call = context;
    int error = cli_query_profiles(&call->answer, reader, call->report, NULL, &call->counted);

    if (call->states != NULL)
        return error == 0 ? probity_states_report_finish(call->states) : error;

    warn_whole(call, reader);
    return error == 0 ? probity_report_finish(call->report) : error;
}

/* Moves matching functions to the front. Returns their number. */
static size_t keep_matching(struct cli_patterns *patterns,
                            struct probity_report_function *functions, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const struct probity_function *function = functions[i].function;
        if (function == NULL ||
            !cli_patterns_match(patterns, function->name, functions[i].signature))
            continue;
        struct probity_report_function other = functions[kept];
        functions[kept++] = functions[i];
        functions[i] = other;
    }
    return kept;
}

static int print_states(struct report_call *call, FILE *stream,
                        const struct probity_reader *reader)
{
    size_t count, kept = 0;
    struct probity_states_row *rows = probity_states_report_rows(call->states, call->key, &count);

    if (rows == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const struct probity_report_function *entry = rows[i].entry;
        if (call->patterns.count == 0 ||
            (entry->function != NULL &&
             cli_patterns_match(&call->patterns, entry->function->name, entry->signature)))
            rows[kept++] = rows[i];
    }
    if (call->layout.limit > 0 && call->layout.limit < kept)
        kept = call->layout.limit;
    const struct probity_states_answer answer = {reader, rows, kept,
                                                 probity_states_report_repairs(call->states),
                                                 call->counted};
    if (call->answer.as_json)
        return probity_states_json(stream, &answer);
    if (call->answer.as_csv)
        probity_states_csv(stream, &answer);
    else
        probity_states_text(stream, &call->layout, &answer);
    return 0;
}

static int print_functions(struct report_call *call, FILE *stream,
                           const struct probity_reader *reader, struct symbols *symbols)
{
    size_t count;
    struct probity_report_function *functions = probity_report_functions(call->report, &count);
    const struct probity_scopes_repairs *repairs =
        call->is_from_fleet ? &call->repairs : probity_report_repairs(call->report);

    if (symbols != NULL)
        cli_signatures_find(symbols, reader, functions, count);
    if (call->patterns.count > 0)
        count = keep_matching(&call->patterns, functions, count);
    if (call->suggest_percent > 0)
        return probity_suggest(stream, reader, functions, count, call->suggest_percent,
                               &call->is_cost_known);
    int error = probity_report_sort(functions, count, call->key);
    if (error != 0)
        return error;
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

/* Reads signatures only if they are shown and the traces are local. */
static int print_report(void *context, FILE *stream, const struct probity_reader *reader,
                        int has_color)
{
    struct report_call *call = context;
    int is_needed = (call->answer.as_json || call->answer.as_csv || call->layout.has_signatures ||
                     call->patterns.count > 0) && !call->is_from_fleet;

    call->layout.has_color = has_color;
    call->layout.line_columns = cli_query_line_columns(&call->answer);
    if (call->states != NULL)
        return print_states(call, stream, reader);
    call->layout.is_utf8 = cli_query_is_utf8();
    struct symbols *symbols = is_needed ? symbols_open(cli_memory_end) : NULL;
    call->layout.has_pictures = call->layout.is_utf8 && call->layout.line_columns > 0;
    int error = print_functions(call, stream, reader, symbols);
    if (symbols != NULL)
        symbols_close(symbols);
    return error;
}

static int take_report(void *context, struct probity_report *report,
                       const struct probity_scopes_repairs *repairs,
                       const struct probity_reader *reader)
{
    struct report_call *call = context;

    (void)reader;
    call->report = report;
    call->repairs = *repairs;
    call->is_from_fleet = 1;
    return 0;
}

/* Whether the function was requested. If no function has the name, that is reported. */
static int is_wanted(void *context, const struct probity_function *function)
{
    struct report_call *call = context;

    return function != NULL &&
           cli_patterns_match(&call->patterns, function->name, function->signature);
}

/* Rejects options for which a database has no data. */
static int run_from_fleet(struct report_call *call, size_t count)
{
    const struct cli_fleet_want want = {.by_thread = call->options.by_thread,
                                        .is_wanted = call->patterns.count > 0 ? is_wanted : NULL,
                                        .take = take_report};

    if (count > 0)
        return cli_fail_usage(&cli_command_report, "--from-fleet and traces are mutually "
                                                   "exclusive");
    if (call->answer.has_states || call->layout.is_corrected || call->suggest_percent > 0 ||
        call->answer.tids.count > 0)
        return cli_fail_usage(&cli_command_report, "--states, --corrected, --suggest and --tid do "
                              "not apply to --from-fleet");
    int status = cli_fleet_report(&call->answer, &want);
    const char *idle = cli_patterns_idle(&call->patterns);
    return status == CLI_OK && idle != NULL ? cli_fail_function(&cli_command_report, idle)
                                            : status;
}

/* CSV and JSON always have all columns. */
static int run_on(void *context, char **names, size_t count)
{
    struct report_call *call = context;

    if (call->layout.column_count > 0 && (call->answer.as_json || call->answer.as_csv))
        return cli_fail_usage(&cli_command_report, "--columns does not apply to %s, which has all "
                              "columns",
                              call->answer.as_json ? "--json" : "--csv");
    if (call->suggest_percent > 0 && (call->answer.as_json || call->answer.as_csv))
        return cli_fail_usage(&cli_command_report, "--suggest prints a selection, not %s",
                              call->answer.as_json ? "JSON" : "CSV");
    if (call->suggest_percent > 0 && call->patterns.count > 0)
        return cli_fail_usage(&cli_command_report, "--suggest takes all functions into account: "
                              "--function does not apply");
    if (call->answer.has_states &&
        (call->layout.column_count > 0 || call->layout.is_wide || call->layout.is_corrected ||
         call->options.by_thread || call->suggest_percent > 0))
        return cli_fail_usage(&cli_command_report, "--states does not apply to --columns, --wide, "
                              "--corrected, --by-thread and --suggest");
    if (cli_fleet_is_wanted(&call->answer.source, count))
        return run_from_fleet(call, count);
    int status = cli_fleet_is_unused(&cli_command_report, &call->answer.source);
    if (status == CLI_OK)
        status = cli_query_run(&call->answer, names, count);
    if (status == CLI_OK && call->suggest_percent > 0 && !call->is_cost_known)
        return cli_fail(&cli_command_report, "nothing to suggest: no call was recorded, or the "
                        "cost of recording was not measured (PROBITY_COST=0)");
    const char *idle = cli_patterns_idle(&call->patterns);
    return status == CLI_OK && idle != NULL ? cli_fail_function(&cli_command_report, idle) : status;
}

static void release(void *context)
{
    struct report_call *call = context;

    cli_patterns_release(&call->patterns);
    if (call->report != NULL)
        probity_report_close(call->report);
    if (call->states != NULL)
        probity_states_report_close(call->states);
}

static int run(int argc, char **argv)
{
    static const struct cli_query_parts parts = {
        .is_possible = is_possible_in_parts, .make = make_part, .put = put_in_part,
        .put_run = put_run_in_part,
        .join = join_part, .drop = drop_part};
    static const struct cli_query_steps steps = {
        .run = run_on, .parts = &parts,
        .open = open_report, .put = put_event, .put_run = put_run,
        .finish = finish_report, .print = print_report,
        .release = release, .pending = count_pending, .is_windowed = 1,
        .wants = CLI_QUERY_CALLS};
    struct report_call call = {
        .answer = {.command = &cli_command_report, .steps = &steps, .context = &call},
        .key = PROBITY_REPORT_SELF};

    return cli_query_main(&call.answer, argc, argv);
}

static const struct cli_option options[] = {
    {.name = "sort", .value = "KEY", .brief = "sort key", .noun = "sort key", .initial = "self",
     .choices = KEYS " name", .take = take_key},
    {.name = "wide", .brief = "show all columns",
     .help = "show all columns: time off the CPU, elapsed time over all threads, parallelism, "
             "pauses", CLI_FLAG(struct report_call, layout.is_wide)},
    {.name = "corrected", .brief = "subtract the cost of recording",
     .help = "subtract the measured cost of recording from total and self time, and show the "
             "error bound (+-)", CLI_FLAG(struct report_call, layout.is_corrected)},
    {.name = "states", .brief = "split times by thread states",
     .help = "split total and self time into running, waiting for a CPU and blocked, if thread "
             "states were recorded",
     CLI_FLAG(struct report_call, answer.has_states)},
    {.name = "columns", .value = "KEY,...", .brief = "columns to print, in order",
     .help = "show these columns, in this order: any key of --sort except name, and distribution, "
             "a sparkline of calls by time on a common scale",
     .noun = "column", .choices = KEYS " distribution", .is_list = 1, .take = take_columns},
    {.name = "limit", .letter = 'n', .value = "N", .help = "show only the first N functions",
     .brief = "maximum number of functions", .valid = "a number, or 0 for all",
     CLI_NUMBER(struct report_call, layout.limit, 0, CLI_LIMIT_MAX)},
    {.name = "by-thread", .help = "show one row per thread below each function",
     .brief = "show one row per thread", CLI_FLAG(struct report_call, options.by_thread)},
    {.name = "signature", .help = "show signatures instead of names, if known",
     .brief = "show signatures instead of names",
     CLI_FLAG(struct report_call, layout.has_signatures)},
    {.name = "places", .help = "show file and line of each function",
     CLI_FLAG(struct report_call, layout.has_places)},
    CLI_QUERY_RANGE_ROWS(struct report_call, "only calls that begin"),
    CLI_QUERY_TID_ROW(struct report_call, "only"),
    {.name = "function", .value = "PATTERN", .brief = "only functions that match",
     .help = "only functions whose name or signature matches: * ? [a-z]; may be repeated",
     CLI_PATTERNS(struct report_call, patterns)},
    {.name = "suggest", .value = "PERCENT", .brief = "print a selection for the next recording",
     .help = "instead of the report, print a selection for `probity record`: which functions "
             "without macros to leave out so that recording adds at most PERCENT",
     .take = take_suggest},
    CLI_FLEET_ROWS(struct report_call, answer.source),
    CLI_QUERY_JSON_ROW(struct report_call, "print one JSON object; times in ns"),
    CLI_QUERY_CSV_ROW(struct report_call,
                      "print CSV with a header, one row per function; times in ns"),
    CLI_QUERY_OUTPUT_ROWS(struct report_call),
    {.name = NULL},
};

const struct cli_command cli_command_report = {
    .name = "report",
    .run = run,
    .summary = "Show per-function call counts and times",
    .usage = "[OPTION]... TRACE...",
    .help =
        "Shows calls; total time; self time, which excludes callees and pauses; and minimum, "
        "mean, median, 99th percentile and maximum per call. Repairs and completeness are "
        "reported at the end.",
    .options = options,
};
