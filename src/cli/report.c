/* SPDX-License-Identifier: MIT
 *
 * report.c: `probity report`: what the calls of each function took.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/profiled.h"
#include "cli/cli.h"
#include "cli/filter.h"
#include "output/report_csv.h"
#include "output/report_json.h"
#include "output/report_text.h"
#include "symbols/symbols.h"

struct report_call {
    const char *out, *from, *to, *pattern;
    int force, as_json, as_csv;
    enum probity_report_key key;
    struct probity_report_layout layout;
    struct probity_report_options options;
    struct cli_filter tids;
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'}, {"force", no_argument, NULL, 'f'},
    {"sort", required_argument, NULL, 's'},   {"limit", required_argument, NULL, 'n'},
    {"json", no_argument, NULL, 'j'},         {"by-thread", no_argument, NULL, 'b'},
    {"signature", no_argument, NULL, 'S'},    {"places", no_argument, NULL, 'P'},
    {"from", required_argument, NULL, 'F'},   {"to", required_argument, NULL, 'T'},
    {"tid", required_argument, NULL, 't'},    {"function", required_argument, NULL, 'u'},
    {"csv", no_argument, NULL, 'c'},          {"wide", no_argument, NULL, 'w'},
    {"columns", required_argument, NULL, 'C'}, {"corrected", no_argument, NULL, 'k'},
    {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};

#define KEYS \
    "calls, total, self, cpu-total, cpu-self, off-total, off-self, paused, elapsed, parallelism, " \
    "min, mean, p50, p90, p99, max"

static int parse_key(struct report_call *call, const char *text)
{
    call->key = probity_report_key_parse(text);
    if (call->key != PROBITY_REPORT_KEYS)
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
            return cli_fail_usage(&cli_command_report, "no column '%.*s'; there are " KEYS,
                                  (int)bytes, text);
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
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 9 || text[digits] != '\0')
        return cli_fail_usage(&cli_command_report, "--limit %s: a number of functions, or 0 for "
                              "all", text);
    call->layout.limit = strtoul(text, NULL, 10);
    return CLI_OK;
}

/* Returns CLI_OK, CLI_USAGE, -1 where help was shown, or -2 where there is no such option. */
static int parse_option(struct report_call *call, int option)
{
    switch (option) {
    case 'o': call->out = optarg; return CLI_OK;
    case 'f': call->force = 1; return CLI_OK;
    case 's': return parse_key(call, optarg);
    case 'n': return parse_limit(call, optarg);
    case 'j': call->as_json = 1; return CLI_OK;
    case 'c': call->as_csv = 1; return CLI_OK;
    case 'w': call->layout.is_wide = 1; return CLI_OK;
    case 'C': return parse_columns(call, optarg);
    case 'k': call->layout.is_corrected = 1; return CLI_OK;
    case 'b': call->options.by_thread = 1; return CLI_OK;
    case 'S': call->layout.has_signatures = 1; return CLI_OK;
    case 'P': call->layout.has_places = 1; return CLI_OK;
    case 'F': call->from = optarg; return CLI_OK;
    case 'T': call->to = optarg; return CLI_OK;
    case 't': return cli_filter_parse(&cli_command_report, &call->tids, optarg, 0);
    case 'u': call->pattern = optarg; return CLI_OK;
    case 'h': cli_print_help(&cli_command_report); return -1;
    default: return -2;
    }
}

/* All events are read whatever the range: a call that begins in it may end behind it, and callers
 * that began before it must be known. */
static int set_range(struct report_call *call, const struct probity_reader *reader)
{
    uint64_t start_ns = UINT64_MAX;

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        uint64_t trace_ns = probity_reader_facts(reader, i)->info.anchor.realtime_ns;
        start_ns = trace_ns < start_ns ? trace_ns : start_ns;
    }
    if (call->from != NULL && cli_parse_time(call->from, start_ns, &call->options.from_ns) != 0)
        return cli_fail_usage(&cli_command_report, "--from %s: " CLI_TIME_HELP, call->from);
    if (call->to != NULL && cli_parse_time(call->to, start_ns, &call->options.to_ns) != 0)
        return cli_fail_usage(&cli_command_report, "--to %s: " CLI_TIME_HELP, call->to);
    return CLI_OK;
}

struct profile_call {
    struct report_call *call;
    struct probity_report *report;
};

static int take_profiled(void *context, const struct probity_profiled *profiled)
{
    struct profile_call *taker = context;

    if (taker->call->tids.count > 0 &&
        !cli_filter_passes(&taker->call->tids, profiled->tid, NULL, 0))
        return 0;
    return probity_report_add_profiled(taker->report, profiled);
}

/* What profile mode has counted has no times of day: no range leaves any of it out. */
static int take_profiles(struct report_call *call, const struct probity_reader *reader,
                         struct probity_report *report)
{
    struct profile_call taker = {call, report};
    int error = 0;

    for (size_t i = 0; error == 0 && i < probity_reader_traces(reader); i++)
        error = probity_reader_profile(reader, i, take_profiled, &taker);
    return error;
}

/* Whether profiling is on concerns all threads, whoever switched it. */
static int take_events(struct report_call *call, struct probity_reader *reader,
                       struct probity_report *report)
{
    const struct probity_event *event;
    int got, error = 0;

    while (error == 0 && (got = probity_reader_next(reader, &event)) > 0) {
        if (call->tids.count > 0 && event->kind != PROBITY_EVENT_PROFILING &&
            !cli_filter_passes(&call->tids, event->tid, NULL, 0))
            continue;
        error = probity_report_put(report, event);
    }
    if (error == 0)
        error = got < 0 ? got : take_profiles(call, reader, report);
    return error == 0 ? probity_report_finish(report) : error;
}

/* What a compiler of C did not tell, the program's DWARF may. */
static void find_signatures(struct symbols *symbols, const struct probity_reader *reader,
                            struct probity_report_function *functions, size_t count)
{
    char executable[4096];

    for (size_t i = 0; i < count; i++) {
        const struct probity_info *info = &probity_reader_facts(reader, functions[i].trace)->info;
        const struct probity_text *path = &info->text[PROBITY_TAG_PROGRAM];
        if (functions[i].function == NULL || *functions[i].signature != '\0' ||
            path->length >= sizeof executable)
            continue;
        memcpy(executable, path->length > 0 ? path->bytes : "", path->length);
        executable[path->length] = '\0';
        const char *found = symbols_signature(symbols, functions[i].function, executable);
        functions[i].signature = found != NULL ? found : "";
    }
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
                           const struct probity_reader *reader, struct probity_report *report,
                           struct symbols *symbols)
{
    size_t count;
    struct probity_report_function *functions = probity_report_functions(report, &count);
    const struct probity_scopes_repairs *repairs = probity_report_repairs(report);

    if (symbols != NULL)
        find_signatures(symbols, reader, functions, count);
    if (call->pattern != NULL)
        count = keep_matching(call->pattern, functions, count);
    probity_report_sort(functions, count, call->key);
    if (!call->as_json && !call->as_csv) {
        probity_report_text(stream, &call->layout, reader, functions, count, repairs);
        return ferror(stream) ? PROBITY_ERROR_WRITE : 0;
    }
    if (call->layout.limit > 0 && call->layout.limit < count)
        count = call->layout.limit;
    if (call->as_csv) {
        probity_report_csv(stream, reader, functions, count);
        return ferror(stream) ? PROBITY_ERROR_WRITE : 0;
    }
    return probity_report_json(stream, reader, functions, count, repairs);
}

/* Nothing is looked for where no signature is to be shown. */
static int print_report(struct report_call *call, FILE *stream, const struct probity_reader *reader,
                        struct probity_report *report)
{
    int is_needed = call->as_json || call->as_csv || call->layout.has_signatures ||
                    call->pattern != NULL;
    struct symbols *symbols = is_needed ? symbols_open() : NULL;
    int error = print_functions(call, stream, reader, report, symbols);

    if (symbols != NULL)
        symbols_close(symbols);
    return error;
}

static int is_coloured(const struct report_call *call)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return call->out == NULL && (none == NULL || *none == '\0') && isatty(STDOUT_FILENO) &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

/* Standard output is looked at for all commands when it is closed. */
static int write_report(struct report_call *call, const struct probity_reader *reader,
                        struct probity_report *report)
{
    struct cli_output output;
    int status = cli_output_open(&cli_command_report, call->out, call->force, &output);

    if (status != CLI_OK)
        return status;
    int copy = call->out != NULL ? dup(output.descriptor) : -1;
    FILE *stream = call->out == NULL ? stdout : copy >= 0 ? fdopen(copy, "w") : NULL;
    int error = stream != NULL ? print_report(call, stream, reader, report) : PROBITY_ERROR_MEMORY;
    if (call->out != NULL && stream != NULL && fclose(stream) != 0 && error == 0)
        error = PROBITY_ERROR_WRITE;
    if (error == PROBITY_ERROR_WRITE && call->out == NULL)
        return CLI_FAILURE;
    if (error != 0)
        status = cli_fail_trace(&cli_command_report,
                                error == PROBITY_ERROR_WRITE
                                    ? call->out
                                    : probity_reader_facts(reader, 0)->path,
                                error, errno);
    int closed = call->out == NULL
                     ? CLI_OK
                     : cli_output_close(&cli_command_report, &output, status == CLI_OK);
    return status == CLI_OK ? closed : status;
}

/* Whether a thread that was asked for is in no trace. */
static int tell_unseen(const struct report_call *call)
{
    for (size_t i = 0; i < call->tids.count; i++) {
        if (call->tids.items[i].is_seen)
            continue;
        cli_warn(&cli_command_report, "no record of thread id %" PRIu64 " here; `probity report "
                 "--by-thread` shows which there are", call->tids.items[i].number);
        return 1;
    }
    return 0;
}

/* Counts that a range was to leave out must not look as if it had. */
static void tell_whole(const struct report_call *call, const struct probity_reader *reader)
{
    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        if ((call->from != NULL || call->to != NULL) && facts->info.flags & PROBITY_INFO_PROFILE)
            cli_warn(&cli_command_report, "'%s': counted in profile mode, which keeps no times of "
                     "day: --from and --to leave out nothing of it", facts->path);
    }
}

static int is_of_costs(enum probity_report_key key)
{
    return key >= PROBITY_REPORT_TOTAL_CORRECTED && key <= PROBITY_REPORT_SELF_ERROR;
}

/* To charge records costs some time: not where nothing of it is shown. */
static int wants_costs(const struct report_call *call)
{
    int wanted = call->as_json || call->as_csv || call->layout.is_corrected ||
                 is_of_costs(call->key);

    for (size_t i = 0; i < call->layout.column_count; i++)
        wanted |= is_of_costs(call->layout.columns[i]);
    return wanted;
}

static int report_on(struct report_call *call, struct probity_reader *reader)
{
    struct probity_report *report;

    call->options.costs_of = wants_costs(call) ? reader : NULL;
    int error = probity_report_open(&call->options, &report);

    if (error != 0)
        return cli_fail(&cli_command_report, "%s", probity_error_text(error));
    error = take_events(call, reader, report);
    int error_number = errno, status = CLI_OK;
    cli_progress_end();
    if (error != 0)
        status = cli_fail_trace(&cli_command_report, probity_reader_facts(reader, 0)->path, error,
                                error_number);
    if (status == CLI_OK)
        status = write_report(call, reader, report);
    tell_whole(call, reader);
    if (status == CLI_OK && tell_unseen(call))
        status = CLI_FAILURE;
    probity_report_close(report);
    int judged = cli_judge_traces(&cli_command_report, reader);
    return status == CLI_OK ? judged : status;
}

static int run_on(struct report_call *call, char **paths, size_t count)
{
    struct probity_reader_options options = {0};
    struct probity_reader *reader;
    int status = cli_output_is_apart(&cli_command_report, call->out, paths, count);

    if (status == CLI_OK)
        status = cli_open_reader(&cli_command_report, paths, count, &options, &reader);
    if (status != CLI_OK)
        return status;
    call->layout.has_colour = is_coloured(call);
    status = set_range(call, reader);
    if (status == CLI_OK)
        status = report_on(call, reader);
    probity_reader_close(reader);
    return status;
}

static int run(int argc, char **argv)
{
    struct report_call call = {.key = PROBITY_REPORT_SELF};
    int option, status = CLI_OK;

    while (status == CLI_OK &&
           (option = getopt_long(argc, argv, ":o:fn:h", long_options, NULL)) != -1) {
        status = parse_option(&call, option);
        if (status == -2)
            status = cli_fail_option(&cli_command_report, argv, option);
    }
    if (call.out != NULL && strcmp(call.out, "-") == 0)
        call.out = NULL;
    if (status == CLI_OK && optind == argc)
        status = cli_fail_usage(&cli_command_report, "no trace given");
    if (status == CLI_OK && call.as_json && call.as_csv)
        status = cli_fail_usage(&cli_command_report, "--json and --csv exclude each other");
    if (status == CLI_OK) {
        size_t count = (size_t)(argc - optind);
        char **paths = cli_trace_paths(argv + optind, count);
        status = paths != NULL ? run_on(&call, paths, count)
                               : cli_fail(&cli_command_report, "%s",
                                          probity_error_text(PROBITY_ERROR_MEMORY));
        cli_paths_free(paths, count);
    }
    cli_filter_release(&call.tids);
    return status < 0 ? CLI_OK : status;
}

const struct cli_command cli_command_report = {
    "report", run, "Say what the calls of each function took, in wall and CPU time",
    "[OPTION]... TRACE...",
    "Calls; total time, and self time, which is without callees and pauses; minimum, mean,\n"
    "median, 99th percentile and maximum of one call. What was repaired, and whether the traces\n"
    "are complete, stands at the end.\n\n"
    "      --sort KEY          calls, total, self (default), cpu-total, cpu-self, off-total,\n"
    "                          off-self, paused, elapsed, parallelism, min, mean, p50, p90, p99,\n"
    "                          max, total-corrected, self-corrected, name\n"
    "      --wide              all columns: time off the CPU, elapsed time over all threads, how\n"
    "                          many threads at once, pauses\n"
    "      --corrected         total and self time less what recording added, as far as it was\n"
    "                          measured, and how far that may be off (+-)\n"
    "      --columns KEY,...   these columns, in this order; total-error and self-error too\n"
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
