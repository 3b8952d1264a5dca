/* SPDX-License-Identifier: MIT
 *
 * diff_command.c: `probity diff`: compares runs of a program before and after a change.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/diff/compare.h"
#include "answers/diff/diff_print.h"
#include "cli/cli.h"
#include "cli/diff_input.h"
#include "cli/filter.h"
#include "cli/limit.h"
#include "cli/option.h"
#include "cli/output_stream.h"
#include "cli/patterns.h"

enum diff_form { FORM_TEXT, FORM_JSON, FORM_CSV };

struct diff_call {
    struct cli_diff_input compared;
    const char *out;
    int force, order;
    enum diff_form form;
    struct probity_diff_layout layout;
    struct probity_compare_options options;
    struct cli_limits limits;
    struct cli_patterns patterns[PROBITY_COMPARE_KINDS];
};

/* The first three values are sort orders, the others are statistics. */
static int take_order(const struct cli_given *given)
{
    struct diff_call *call = given->at;
    int choice = cli_choice_find(given);

    if (choice < 0)
        return cli_fail_choice(given);
    call->order = choice < 3 ? PROBITY_COMPARE_STATISTICS + choice
                             : (int)probity_compare_statistic_parse(given->value);
    return CLI_OK;
}

static int take_statistics(const struct cli_given *given)
{
    struct diff_call *call = given->at;
    struct cli_given one = *given;

    for (char *text = given->value; *text != '\0';) {
        size_t length = strcspn(text, ",");
        char name[16] = "";
        memcpy(name, text, length < sizeof name ? length : 0);
        enum probity_compare_statistic statistic = probity_compare_statistic_parse(name);
        if (statistic == PROBITY_COMPARE_STATISTICS) {
            one.value = text;
            return cli_fail_choice(&one);
        }
        call->options.statistics |= 1u << statistic;
        text += text[length] == ',' ? length + 1 : length;
    }
    return call->options.statistics != 0
               ? CLI_OK
               : cli_fail_usage(&cli_command_diff, "--statistic is empty");
}

static int take_tolerance(const struct cli_given *given)
{
    struct diff_call *call = given->at;

    if (cli_parse_percent(given->value, &call->options.tolerance_percent) == 0 &&
        call->options.tolerance_percent > 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_diff, "invalid --tolerance '%s' (percent, greater than 0)",
                          given->value);
}

static int take_pattern(const struct cli_given *given)
{
    struct diff_call *call = given->at;
    unsigned kind = given->option->number;
    int status = cli_patterns_add(given->command, &call->patterns[kind], given->value);

    call->options.patterns[kind] = call->patterns[kind].items;
    return status;
}

static int take_limit(const struct cli_given *given)
{
    struct diff_call *call = given->at;

    return cli_limit_parse(given->command, &call->limits, given->value);
}

/* CSV has no field to note that a run is incomplete. */
static int take_form(const struct cli_given *given)
{
    struct diff_call *call = given->at;

    call->form = (enum diff_form)given->option->number;
    call->compared.is_bare |= call->form == FORM_CSV;
    return CLI_OK;
}

/* ---- Writing -----------------------------------------------------------------------------------
 */

static int print_diff(void *context, FILE *stream, int has_color)
{
    struct diff_call *call = context;

    call->layout.has_color = has_color;
    call->layout.line_columns = cli_line_columns(call->out);
    if (call->form == FORM_CSV && probity_compare_left_out(call->compared.compare) > 0)
        cli_warn(&cli_command_diff, "too many blocks: the %zu with the least time are not compared",
                 probity_compare_left_out(call->compared.compare));
    int is_left_out = probity_compare_requests_left_out(call->compared.compare) > 0;
    char *why = call->form == FORM_CSV && is_left_out
                    ? probity_diff_why_no_requests(call->compared.compare)
                    : NULL;
    if (why != NULL)
        cli_warn(&cli_command_diff, "%s", why);
    free(why);
    if (call->form == FORM_JSON)
        return probity_diff_json(stream, &call->layout, call->compared.compare);
    if (call->form == FORM_CSV)
        probity_diff_csv(stream, &call->layout, call->compared.compare);
    else
        probity_diff_text(stream, &call->layout, call->compared.compare);
    return 0;
}

/* Finds a limit that matches nothing, because a name is misspelled or no longer exists: it would
 * never fail. */
static int find_idle_limit(const struct diff_call *call)
{
    for (size_t i = 0; i < call->limits.count; i++) {
        if (probity_compare_limited(call->compared.compare, i) == 0)
            return cli_fail(&cli_command_diff, "--fail-on %s: nothing compared matches",
                            call->limits.items[i].text);
    }
    return CLI_OK;
}

/* Returns the first pattern that matches no row, or NULL. */
static const char *idle_pattern(const struct diff_call *call, enum probity_compare_kind kind)
{
    size_t count;
    const struct probity_compare_row *rows = probity_compare_rows(call->compared.compare, &count);

    for (size_t i = 0; i < call->patterns[kind].count; i++) {
        const char *pattern = call->patterns[kind].items[i];
        int is_found = 0;
        for (size_t row = 0; row < count && !is_found; row++)
            is_found = rows[row].item.kind == kind && probity_compare_is_like(&rows[row], pattern);
        if (!is_found)
            return pattern;
    }
    return NULL;
}

static int fail_request(const struct diff_call *call, const char *pattern)
{
    char *why = probity_diff_why_no_requests(call->compared.compare);

    if (why != NULL)
        cli_fail(&cli_command_diff, "%s", why);
    else
        cli_fail(&cli_command_diff, "no requests match '%s'; `probity model` lists the kinds of "
                 "requests", pattern);
    free(why);
    return CLI_FAILURE;
}

/* Without matching rows, the table would look as if nothing had changed. */
static int find_idle_pattern(const struct diff_call *call)
{
    const char *function = idle_pattern(call, PROBITY_COMPARE_FUNCTION);
    const char *block = idle_pattern(call, PROBITY_COMPARE_BLOCK);
    const char *request = idle_pattern(call, PROBITY_COMPARE_REQUEST);

    if (function != NULL)
        return cli_fail_function(&cli_command_diff, function);
    if (block != NULL)
        return cli_fail(&cli_command_diff, "no blocks match '%s'; `probity blocks` lists the "
                        "blocks", block);
    return request != NULL ? fail_request(call, request) : CLI_OK;
}

static int judge_limits(const struct diff_call *call)
{
    const struct probity_compare *compare = call->compared.compare;
    size_t count, base, other, least = probity_compare_limit_runs(compare);
    const struct probity_compare_row *rows = probity_compare_rows(compare, &count);

    for (size_t i = 0; i < count; i++) {
        if (rows[i].exceeds != 0)
            return CLI_LIMIT;
    }
    probity_compare_runs(compare, PROBITY_COMPARE_BASE, &base);
    probity_compare_runs(compare, PROBITY_COMPARE_NEW, &other);
    if (probity_compare_limit_tests(compare) > 0 && (base < other ? base : other) < least)
        cli_warn(&cli_command_diff, "--fail-on: too few runs for a significant result; need at "
                 "least %zu per side", least);
    int idle = find_idle_limit(call);
    return idle == CLI_OK ? find_idle_pattern(call) : idle;
}

static int read_runs(struct diff_call *call, char **names, size_t base_count, size_t count)
{
    int status = CLI_OK;

    for (size_t i = 0; status == CLI_OK && i < count; i++) {
        call->compared.side = i < base_count ? PROBITY_COMPARE_BASE : PROBITY_COMPARE_NEW;
        cli_progress_expect((unsigned)(count - i - 1));
        status = cli_diff_input_read(&call->compared, names[i]);
    }
    if (status == CLI_OK && probity_compare_finish(call->compared.compare) != 0)
        status = cli_fail(&cli_command_diff, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    return status;
}

static int run_on(struct diff_call *call, char **names, size_t base_count, size_t count)
{
    int status = cli_output_is_apart(&cli_command_diff, call->out, names, count);

    if (status == CLI_OK && call->compared.source.url == NULL)
        status = cli_fleet_is_unused(&cli_command_diff, &call->compared.source);
    if (status != CLI_OK)
        return status;
    call->options.limits = call->limits.items;
    call->options.limit_count = call->limits.count;
    if (probity_compare_open(&call->options, &call->compared.compare) != 0)
        return cli_fail(&cli_command_diff, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    status = read_runs(call, names, base_count, count);
    if (status == CLI_OK && call->compared.source.as_sql) {
        cli_diff_input_close(&call->compared);
        return CLI_OK;
    }
    if (status == CLI_OK && probity_compare_sort(call->compared.compare, call->order) != 0)
        status = cli_fail(&cli_command_diff, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    if (status == CLI_OK)
        status = cli_print_answer(&cli_command_diff, call->out, call->force, print_diff, call);
    int judged = status == CLI_OK ? judge_limits(call) : CLI_OK;
    if (status == CLI_OK)
        status = call->compared.is_damaged ? CLI_DAMAGED : judged;
    cli_diff_input_close(&call->compared);
    return status;
}

/* Takes the operands on both sides of the "--", which getopt_long() would remove. */
static int split_and_run(struct diff_call *call, char **base, size_t base_count, char **other,
                         size_t other_count)
{
    char **bases = cli_trace_paths(&cli_command_diff, base, &base_count);
    char **others =
        bases != NULL ? cli_trace_paths(&cli_command_diff, other, &other_count) : NULL;
    char **paths = others != NULL ? calloc(base_count + other_count + 1, sizeof *paths) : NULL;
    int status = CLI_FAILURE;

    if (paths != NULL) {
        memcpy(paths, bases, base_count * sizeof *paths);
        memcpy(paths + base_count, others, other_count * sizeof *paths);
        status = run_on(call, paths, base_count, base_count + other_count);
    } else if (others != NULL) {
        status = cli_fail(&cli_command_diff, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    }
    free(paths);
    cli_paths_free(bases, base_count);
    cli_paths_free(others, other_count);
    return status;
}

static int run(int argc, char **argv)
{
    struct diff_call call = {.compared = {.command = &cli_command_diff},
                             .order = PROBITY_COMPARE_BY_IMPACT,
                             .options = CLI_DIFF_INPUT_OPTIONS};
    int cut = argc;

    for (int i = argc - 1; i > 0 && cut == argc; i--)
        cut = strcmp(argv[i], "--") == 0 ? i : argc;
    int status = cli_options_take(&cli_command_diff, &call, cut, argv);
    if (status == CLI_OK && cut == argc)
        status = cli_fail_usage(&cli_command_diff, "expected '--' between the base runs and the "
                                "new runs");
    if (status == CLI_OK && (optind == cut || cut + 1 == argc))
        status = cli_fail_usage(&cli_command_diff, "expected traces %s '--'",
                                optind == cut ? "before" : "after");
    if (status == CLI_OK)
        status = split_and_run(&call, argv + optind, (size_t)(cut - optind), argv + cut + 1,
                               (size_t)(argc - cut - 1));
    cli_limits_release(&call.limits);
    for (int kind = 0; kind < PROBITY_COMPARE_KINDS; kind++)
        cli_patterns_release(&call.patterns[kind]);
    return status < 0 ? CLI_OK : status;
}

static const struct cli_option options[] = {
    {.name = "statistic", .value = "LIST", .brief = "statistics to compare",
     .help = "only these: calls, self, total, cpu, mean, median, p99",
     .noun = "statistic", .choices = "calls self total cpu mean median p99", .is_list = 1,
     .take = take_statistics},
    {.name = "function", .value = "PATTERN", .brief = "only functions that match",
     .help = "only functions whose name or signature matches: * ? [a-z]", .repeats = 1,
     .take = take_pattern, .number = PROBITY_COMPARE_FUNCTION},
    {.name = "block", .value = "PATTERN", .brief = "only blocks that match",
     .help = "only blocks whose name matches, e.g. '1 -> *'", .repeats = 1,
     .take = take_pattern, .number = PROBITY_COMPARE_BLOCK},
    {.name = "request", .value = "PATTERN", .brief = "only requests that match",
     .help = "only requests that begin at a probe whose name matches; these three options may be "
             "repeated to match any of several patterns", .repeats = 1,
     .take = take_pattern, .number = PROBITY_COMPARE_REQUEST},
    {.name = "changed", .help = "show only statistically significant changes",
     .brief = "show only significant changes",
     CLI_FLAG(struct diff_call, layout.is_changed_only)},
    {.name = "tolerance", .value = "P", .brief = "treat differences within this as equal",
     .help = "treat differences within P percent as equal (default: 2)", .take = take_tolerance},
    {.name = "fail-on", .value = "CHANGE", .repeats = 1, .take = take_limit,
     .brief = "exit with 4 on a significant change beyond this",
     .help = "exit with 4 if any function, block or kind of request changed significantly by more "
             "than this: 'p99>+5%', 'calls<0%'; or only those that match: 'function:parse:mean>0', "
             "'block:1 -> 2:p99>+5', 'request:*:p99>+5'; may be repeated"},
    {.name = "sort", .value = "KEY", .brief = "sort key", .noun = "sort key",
     .help = "impact (change in self time, or in the time of a block or of requests; default), "
             "change, name, or a statistic",
     .choices = "impact change name calls self total cpu mean median p99", .take = take_order},
    {.name = "limit", .letter = 'n', .value = "N", .brief = "maximum number of functions",
     .help = "show only the first N functions, blocks and kinds of requests",
     .valid = "a number, or 0 for all",
     CLI_NUMBER(struct diff_call, layout.limit, 0, CLI_LIMIT_MAX)},
    CLI_RANGE_ROWS(struct diff_call, compared.range, "from", "to", "only calls that begin"),
    CLI_FLEET_URL_ROW(struct diff_call, compared.source, "traces and the history"),
    CLI_FLEET_CHOICE_ROWS(struct diff_call, compared.source),
    CLI_FLEET_SQL_ROW(struct diff_call, compared.source),
    {.name = "project", .value = "DIR", .brief = "project directory", .help = CLI_PROJECT_HELP,
     CLI_TEXT(struct diff_call, compared.project)},
    {.name = "json", .help = "print one JSON object with the values of all runs; times in ns",
     .brief = "print JSON", .take = take_form, .number = FORM_JSON},
    {.name = "csv", .help = "print CSV, one row per statistic of a function, block or kind of "
                             "request",
     .brief = "print CSV", .take = take_form, .number = FORM_CSV},
    CLI_OUTPUT_ROWS(struct diff_call, out, force),
    CLI_COLOR_ROW, CLI_QUIET_ROW, CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_diff = {
    .name = "diff",
    .run = run,
    .summary = "Compare runs of a program before and after a change",
    .usage = "[OPTION]... BASE... -- NEW...",
    .help =
        "Each trace is one run; @LABEL means all runs with that label in the project's history "
        "(`probity runs`), or with --from-fleet in a database. "
        "Compares, for each function, number of calls, self, total and CPU time, and mean, median "
        "and 99th percentile of a call; for each block between probes, all of these except self "
        "time; and for all requests that begin at one probe, all except self and CPU time. Shows "
        "the medians over the runs, their ratio with its confidence interval, and a verdict: "
        "same, faster, slower, or inconclusive.",
    .options = options,
    .statuses =
    "0 success; 1 failure; 2 usage error; 3 the input is damaged or incomplete;\n"
    "4 a change exceeds --fail-on",
};
