/* SPDX-License-Identifier: MIT
 *
 * diff.c: `probity diff`: runs of a program before and after a change.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "cli/cli.h"
#include "cli/compared.h"
#include "cli/filter.h"
#include "cli/limit.h"
#include "cli/printed.h"
#include "output/diff_csv.h"
#include "output/diff_json.h"
#include "output/diff_text.h"

enum diff_form { FORM_TEXT, FORM_JSON, FORM_CSV };

struct diff_call {
    struct cli_compared compared;
    const char *out;
    int force, order;
    enum diff_form form;
    struct probity_diff_layout layout;
    struct probity_compare_options options;
    struct cli_limits limits;
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},    {"force", no_argument, NULL, 'f'},
    {"sort", required_argument, NULL, 's'},      {"limit", required_argument, NULL, 'n'},
    {"json", no_argument, NULL, 'j'},            {"csv", no_argument, NULL, 'c'},
    {"changed", no_argument, NULL, 'C'},         {"statistic", required_argument, NULL, 'S'},
    {"from", required_argument, NULL, 'F'},      {"to", required_argument, NULL, 'T'},
    {"tolerance", required_argument, NULL, 't'}, {"fail-on", required_argument, NULL, 'x'},
    {"function", required_argument, NULL, 'u'},  {"block", required_argument, NULL, 'b'},
    {"project", required_argument, NULL, 'P'},   {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

static int parse_order(struct diff_call *call, const char *text)
{
    static const char *const orders[] = {"impact", "change", "name"};

    call->order = (int)probity_compare_statistic_parse(text);
    for (int i = 0; i < 3; i++)
        call->order = strcmp(text, orders[i]) == 0 ? PROBITY_COMPARE_STATISTICS + i : call->order;
    if (call->order != PROBITY_COMPARE_STATISTICS || strcmp(text, orders[0]) == 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_diff, "no order '%s'; there are impact, change, name, "
                          "calls, self, total, cpu, mean, median, p99", text);
}

static int parse_number(struct diff_call *call, const char *text)
{
    if (cli_parse_number(text, 0, CLI_LIMIT_MAX, &call->layout.limit) == 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_diff, "--limit %s: a number, or 0 for all", text);
}

static int parse_statistics(struct diff_call *call, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        char name[16] = "";
        memcpy(name, text, length < sizeof name ? length : 0);
        enum probity_compare_statistic statistic = probity_compare_statistic_parse(name);
        if (statistic == PROBITY_COMPARE_STATISTICS)
            return cli_fail_usage(&cli_command_diff, "no statistic '%.*s'; there are calls, self, "
                                  "total, cpu, mean, median, p99", (int)length, text);
        call->options.statistics |= 1u << statistic;
        text += text[length] == ',' ? length + 1 : length;
    }
    return call->options.statistics != 0
               ? CLI_OK
               : cli_fail_usage(&cli_command_diff, "--statistic names none");
}

static int parse_tolerance(struct diff_call *call, const char *text)
{
    if (cli_parse_percent(text, &call->options.tolerance_percent) == 0 &&
        call->options.tolerance_percent > 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_diff, "--tolerance %s: percent, more than 0", text);
}

static int take_option(void *context, int option, char *value)
{
    struct diff_call *call = context;

    switch (option) {
    case 'o': call->out = strcmp(value, "-") == 0 ? NULL : value; return CLI_OK;
    case 'f': call->force = 1; return CLI_OK;
    case 's': return parse_order(call, value);
    case 'n': return parse_number(call, value);
    case 'j': call->form = FORM_JSON; return CLI_OK;
    case 'c': call->form = FORM_CSV; return CLI_OK;
    case 'C': call->layout.is_changed_only = 1; return CLI_OK;
    case 'S': return parse_statistics(call, value);
    case 'F': call->compared.range.from = value; return CLI_OK;
    case 'T': call->compared.range.to = value; return CLI_OK;
    case 't': return parse_tolerance(call, value);
    case 'x': return cli_limit_parse(&cli_command_diff, &call->limits, value);
    case 'u': call->options.patterns[PROBITY_COMPARE_FUNCTION] = value; return CLI_OK;
    case 'b': call->options.patterns[PROBITY_COMPARE_BLOCK] = value; return CLI_OK;
    case 'P': call->compared.project = value; return CLI_OK;
    case 'h': cli_print_help(&cli_command_diff); return -1;
    default: return -2;
    }
}

/* ---- Writing -----------------------------------------------------------------------------------
 */

static int print_diff(void *context, FILE *stream, int has_colour)
{
    struct diff_call *call = context;

    call->layout.has_colour = has_colour;
    call->layout.line_columns = cli_line_columns(call->out);
    if (call->form == FORM_CSV && probity_compare_left_out(call->compared.compare) > 0)
        cli_warn(&cli_command_diff, "%zu blocks that took least time are not compared: there are "
                 "too many", probity_compare_left_out(call->compared.compare));
    if (call->form == FORM_JSON)
        return probity_diff_json(stream, &call->layout, call->compared.compare);
    if (call->form == FORM_CSV)
        probity_diff_csv(stream, &call->layout, call->compared.compare);
    else
        probity_diff_text(stream, &call->layout, call->compared.compare);
    return 0;
}

/* A limit that is about nothing, for a name is misspelt or gone, would never stop anybody. */
static int find_idle_limit(const struct diff_call *call)
{
    for (size_t i = 0; i < call->limits.count; i++) {
        if (probity_compare_limited(call->compared.compare, i) == 0)
            return cli_fail(&cli_command_diff, "--fail-on %s: nothing like it is compared here",
                            call->limits.items[i].text);
    }
    return CLI_OK;
}

/* Likewise a pattern: a table of nothing looks like one of no change. */
static int find_idle_pattern(const struct diff_call *call)
{
    const char *const *patterns = call->options.patterns;
    size_t count, kinds[PROBITY_COMPARE_KINDS] = {0};
    const struct probity_compare_row *rows = probity_compare_rows(call->compared.compare, &count);

    for (size_t i = 0; i < count; i++)
        kinds[rows[i].item.kind]++;
    if (patterns[PROBITY_COMPARE_FUNCTION] != NULL && kinds[PROBITY_COMPARE_FUNCTION] == 0)
        return cli_fail_function(&cli_command_diff, patterns[PROBITY_COMPARE_FUNCTION]);
    if (patterns[PROBITY_COMPARE_BLOCK] != NULL && kinds[PROBITY_COMPARE_BLOCK] == 0)
        return cli_fail(&cli_command_diff, "no block like '%s' here; `probity blocks` shows which "
                        "there are", patterns[PROBITY_COMPARE_BLOCK]);
    return CLI_OK;
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
        cli_warn(&cli_command_diff, "--fail-on: from so few runs nothing can be established; "
                 "%zu a side are needed at least", least);
    int idle = find_idle_limit(call);
    return idle == CLI_OK ? find_idle_pattern(call) : idle;
}

static int read_runs(struct diff_call *call, char **names, size_t base_count, size_t count)
{
    int status = CLI_OK;

    for (size_t i = 0; status == CLI_OK && i < count; i++) {
        call->compared.side = i < base_count ? PROBITY_COMPARE_BASE : PROBITY_COMPARE_NEW;
        status = cli_compared_read(&call->compared, names[i]);
    }
    if (status == CLI_OK && probity_compare_finish(call->compared.compare) != 0)
        status = cli_fail(&cli_command_diff, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    return status;
}

static int run_on(struct diff_call *call, char **names, size_t base_count, size_t count)
{
    int status = cli_output_is_apart(&cli_command_diff, call->out, names, count);

    if (status != CLI_OK)
        return status;
    call->options.limits = call->limits.items;
    call->options.limit_count = call->limits.count;
    if (probity_compare_open(&call->options, &call->compared.compare) != 0)
        return cli_fail(&cli_command_diff, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    status = read_runs(call, names, base_count, count);
    if (status == CLI_OK) {
        probity_compare_sort(call->compared.compare, call->order);
        status = cli_print_answer(&cli_command_diff, call->out, call->force, print_diff, call);
    }
    int judged = status == CLI_OK ? judge_limits(call) : CLI_OK;
    if (status == CLI_OK)
        status = call->compared.is_damaged ? CLI_DAMAGED : judged;
    cli_compared_close(&call->compared);
    return status;
}

/* Operands before and behind the "--" that getopt_long() must not see. */
static int split_and_run(struct diff_call *call, char **base, size_t base_count, char **other,
                         size_t other_count)
{
    size_t count = base_count + other_count;
    char **names = calloc(count + 1, sizeof *names), **paths = NULL;

    if (names != NULL) {
        memcpy(names, base, base_count * sizeof *names);
        memcpy(names + base_count, other, other_count * sizeof *names);
        paths = cli_trace_paths(names, count);
    }
    int status = paths != NULL ? run_on(call, paths, base_count, count)
                               : cli_fail(&cli_command_diff, "%s",
                                          probity_error_text(PROBITY_ERROR_MEMORY));
    cli_paths_free(paths, count);
    free(names);
    return status;
}

static int run(int argc, char **argv)
{
    static const struct cli_options options = {":o:fn:h", long_options, take_option};
    struct diff_call call = {.compared = {.command = &cli_command_diff},
                             .order = PROBITY_COMPARE_BY_IMPACT,
                             .options = CLI_COMPARED_OPTIONS};
    int cut = argc;

    for (int i = argc - 1; i > 0 && cut == argc; i--)
        cut = strcmp(argv[i], "--") == 0 ? i : argc;
    int status = cli_take_options(&cli_command_diff, &options, &call, cut, argv);
    if (status == CLI_OK && cut == argc)
        status = cli_fail_usage(&cli_command_diff, "no '--' between the runs of the base and the "
                                "new ones");
    if (status == CLI_OK && (optind == cut || cut + 1 == argc))
        status = cli_fail_usage(&cli_command_diff, "no trace %s the '--'",
                                optind == cut ? "before" : "behind");
    if (status == CLI_OK)
        status = split_and_run(&call, argv + optind, (size_t)(cut - optind), argv + cut + 1,
                               (size_t)(argc - cut - 1));
    cli_limits_release(&call.limits);
    return status < 0 ? CLI_OK : status;
}

const struct cli_command cli_command_diff = {
    "diff", run, "Compare runs of a program before and after a change",
    "[OPTION]... BASE... -- NEW...",
    "Each trace is one run; @LABEL stands for the runs of that label in the history of the\n"
    "project (`probity runs`). For each function: calls, self and total time, CPU time, mean,\n"
    "median and 99th percentile of a call; for each block from one probe to the next the same but\n"
    "for self time: the medians over runs, their ratio with an interval, and whether it is the\n"
    "same, faster, slower, or cannot be told from so many runs.\n\n"
    "      --statistic LIST    only these: calls, self, total, cpu, mean, median, p99\n"
    "      --function PATTERN  only functions whose name or signature is like it: * ? [a-z]\n"
    "      --block PATTERN     only blocks whose name is like it: '1 -> *'; with --function: what\n"
    "                          is like one of them\n"
    "      --changed           only changes that are established\n"
    "      --tolerance P       differences within P percent are the same (default: 2)\n"
    "      --fail-on CHANGE    exit with 4 where a change beyond it is established for any\n"
    "                          function or block: 'p99>+5%', 'calls<0%'; for some of them:\n"
    "                          'function:parse:mean>0', 'block:1 -> 2:p99>+5'; may be repeated\n"
    "      --sort KEY          impact (change of self time, of a block's time; default), change,\n"
    "                          name, a statistic\n"
    "  -n, --limit N           the first N functions and blocks only\n"
    "      --from T, --to T    calls that begin from T on, and before T: seconds since the\n"
    "                          beginning of the run, or with a unit (ns, us, ms, s)\n"
    "      --project DIR       whose history @LABEL is of (default: PROBITY_PROJECT, else that of\n"
    "                          the working directory or the nearest above)\n"
    "      --json              one object, with the values of all runs; times are ns\n"
    "      --csv               one line for each function or block and statistic; times are ns\n"
    "  -o, --output FILE       write to FILE (default: standard output, also '-')\n"
    "  -f, --force             replace FILE where it exists\n"
    "  -h, --help              this text\n",
    "0 done; 1 failure; 2 wrong call; 3 the input is damaged or incomplete;\n"
    "4 a change beyond --fail-on is established"};
