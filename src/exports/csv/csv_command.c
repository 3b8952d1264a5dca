/* SPDX-License-Identifier: MIT
 *
 * csv_command.c: `probity csv`: prints all hits as CSV in time order.
 */
#include "exports/csv/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/align.h"
#include "cli/cli.h"
#include "cli/filter.h"
#include "cli/index.h"
#include "cli/option.h"
#include "cli/patterns.h"
#include "cli/time_range.h"
#include "cli/within.h"

struct csv_call {
    const char *out;
    struct cli_range range;
    int force;
    struct probity_csv_layout layout;
    struct cli_filter tids, probes;
    struct cli_patterns functions;
    struct cli_within *within; /* NULL without --function */
    size_t limit;              /* maximum number of hits; 0: all */
    size_t count;              /* number of hits written */
    int is_stopped;            /* there are more hits than `limit` */
    uint64_t from_ns;
    unsigned seen; /* kinds of events that occurred, up to CHECKPOINT: one bit each */
};

/* Parses --columns. The error message has only the invalid name, not the rest of the list. */
static int take_columns(const struct cli_given *given)
{
    struct csv_call *call = given->at;
    const char *bad = given->value;

    if (probity_csv_layout_parse(given->value, &call->layout, &bad) == 0)
        return CLI_OK;
    struct cli_given column = *given;
    column.value = given->value + (bad - given->value);
    return cli_fail_choice(&column);
}

/* Sets the range. Relative times count from the start of the earliest trace. With --function,
 * earlier events are read too: they determine which calls are open when the range begins. */
static int set_range(struct csv_call *call, struct probity_reader *reader)
{
    uint64_t to_ns;
    int status = cli_parse_range(&cli_command_csv, &call->range, reader, &call->from_ns, &to_ns);

    if (status != CLI_OK)
        return status;
    cli_warn_outside(&cli_command_csv, reader, call->from_ns, to_ns);
    probity_reader_set_range(reader, call->functions.count == 0 ? call->from_ns : 0, to_ns);
    int error = call->functions.count == 0
                    ? probity_reader_set_window(reader, call->from_ns, UINT64_MAX)
                    : 0;
    return error == 0 ? CLI_OK
                      : cli_fail_trace(&cli_command_csv, probity_reader_facts(reader, 0)->path,
                                       error, errno);
}

/* Without filters: writes a line per hit. Returns 0 or an error. */
static int copy_all(struct csv_call *call, struct probity_reader *reader, struct probity_csv *csv)
{
    const struct probity_event *event;
    int got;

    while ((got = probity_reader_next(reader, &event)) > 0) {
        call->seen |= 1U << (event->kind & 31);
        got = probity_csv_put(csv, event);
        if (got < 0)
            return got;
    }
    return got < 0 ? got : probity_csv_flush(csv);
}

/* Whether an event is a hit that passes the filters: 1 or 0, or an error. */
static int is_wanted(struct csv_call *call, const struct probity_event *event)
{
    int is_within = call->within != NULL ? cli_within_put(call->within, &event) : 1;

    if (is_within <= 0)
        return is_within;
    return event->kind == PROBITY_EVENT_HIT && event->wall_ns >= call->from_ns &&
           cli_filter_passes(&call->tids, event->tid, NULL, 0) &&
           cli_filter_passes(&call->probes, event->is_site ? UINT64_MAX : event->id, event->name,
                             event->name_bytes);
}

/* Writes a line per hit that passes, up to the limit. Returns 0 or an error. */
static int copy_some(struct csv_call *call, struct probity_reader *reader, struct probity_csv *csv)
{
    const struct probity_event *event;
    int got;

    while ((got = probity_reader_next(reader, &event)) > 0) {
        call->seen |= 1U << (event->kind & 31);
        got = is_wanted(call, event);
        if (got > 0 && call->limit > 0 && call->count == call->limit) {
            call->is_stopped = 1;
            break;
        }
        if (got > 0) {
            got = probity_csv_put(csv, event);
            call->count++;
        }
        if (got < 0)
            return got;
    }
    return got < 0 ? got : probity_csv_flush(csv);
}

static int copy_events(struct csv_call *call, struct probity_reader *reader,
                       struct probity_csv *csv)
{
    if (call->tids.count == 0 && call->probes.count == 0 && call->functions.count == 0 &&
        call->limit == 0)
        return copy_all(call, reader, csv);
    if (call->functions.count > 0 && cli_within_open(&call->functions, &call->within) != 0)
        return PROBITY_ERROR_MEMORY;
    return copy_some(call, reader, csv);
}

/* Suggests another command: an empty CSV looks like a program that did nothing. */
static void suggest_other(const struct csv_call *call)
{
    const unsigned calls = 1U << PROBITY_EVENT_ENTER | 1U << PROBITY_EVENT_CHECKPOINT |
                           1U << PROBITY_READER_ENTRY;

    if ((call->seen & (calls | 1U << PROBITY_EVENT_HIT)) != 0 &&
        (call->seen & 1U << PROBITY_EVENT_HIT) == 0)
        cli_warn(&cli_command_csv, "no hits of probes, only function calls; see `probity log` and "
                 "`probity report --csv`");
}

static int fail_copy(struct csv_call *call, const struct probity_reader *reader, int error,
                     int error_number)
{
    if (error == PROBITY_ERROR_WRITE && call->out == NULL)
        return cli_fail(&cli_command_csv, "cannot write to standard output: %s",
                        strerror(error_number));
    return cli_fail_trace(&cli_command_csv,
                          error == PROBITY_ERROR_WRITE ? call->out
                                                       : probity_reader_facts(reader, 0)->path,
                          error, error_number);
}

/* Reports what was requested but is not in the traces. If the output stopped at the limit, it may
 * come later. */
static int check_unseen(struct csv_call *call)
{
    if (call->is_stopped)
        return CLI_OK;
    return cli_filter_warn_unseen(&cli_command_csv, &call->tids, "thread id") ||
                   cli_filter_warn_unseen(&cli_command_csv, &call->probes, "probe")
               ? CLI_FAILURE
               : CLI_OK;
}

static int check_functions(const struct csv_call *call)
{
    const char *idle = call->is_stopped ? NULL : cli_patterns_idle(&call->functions);

    return idle != NULL ? cli_fail_function(&cli_command_csv, idle) : CLI_OK;
}

/* Writes the CSV. If a probe or thread is missing, or records are, the output is kept: what it
 * contains is correct. */
static int write_output(struct csv_call *call, struct probity_reader *reader)
{
    struct cli_output output;
    struct probity_csv *csv;
    int status = cli_output_open(&cli_command_csv, call->out, call->force, &output);

    if (status != CLI_OK)
        return status;
    int error = probity_csv_open(output.descriptor, &call->layout, &csv);
    if (error == 0) {
        error = copy_events(call, reader, csv);
        int error_number = errno;
        probity_csv_close(csv);
        errno = error_number;
    }
    status = error != 0 ? fail_copy(call, reader, error, errno) : check_functions(call);
    int closed = cli_output_close(&cli_command_csv, &output, status == CLI_OK);
    if (status == CLI_OK)
        status = closed;
    if (status == CLI_OK)
        status = check_unseen(call);
    if (call->is_stopped)
        cli_warn_stopped(&cli_command_csv, call->limit, "hits");
    suggest_other(call);
    int judged = cli_judge_bare(&cli_command_csv, reader);
    return status == CLI_OK ? judged : status;
}

static int run_on(void *context, char **paths, size_t count)
{
    struct csv_call *call = context;
    struct probity_reader_options options = {0};
    struct probity_reader *reader;
    int status = cli_output_is_apart(&cli_command_csv, call->out, paths, count);

    if (call->functions.count == 0)
        cli_index_use(&cli_command_csv, &call->range, 0, &options);
    if (status == CLI_OK)
        status = cli_open_reader(&cli_command_csv, paths, count, &options, &reader);
    if (status != CLI_OK)
        return status;
    status = set_range(call, reader);
    if (status == CLI_OK)
        status = write_output(call, reader);
    probity_reader_close(reader);
    return status;
}

static int run(int argc, char **argv)
{
    struct csv_call call = {0};
    int status = cli_options_take(&cli_command_csv, &call, argc, argv);

    if (status == CLI_OK)
        status = cli_on_traces(&cli_command_csv, argv + optind, (size_t)(argc - optind), run_on,
                               &call);
    cli_filter_release(&call.tids);
    cli_filter_release(&call.probes);
    cli_patterns_release(&call.functions);
    if (call.within != NULL)
        cli_within_close(call.within);
    return status < 0 ? CLI_OK : status;
}

static const struct cli_option options[] = {
    CLI_OUTPUT_ROWS(struct csv_call, out, force),
    {.name = "header", .help = "print the column names first",
     CLI_FLAG(struct csv_call, layout.header)},
    {.name = "columns", .value = "LIST", .brief = "columns to print, in order",
     .help = "comma-separated list of pid, tid, probe, name, cpu_s, cpu_ns, wall_s, wall_ns, cpu, "
             "wall, tick, thread, role, correlation, object, place",
     .noun = "column", .is_list = 1, .take = take_columns,
     .choices = "pid tid probe name cpu_s cpu_ns wall_s wall_ns cpu wall tick thread role "
                "correlation object place"},
    CLI_RANGE_ROWS(struct csv_call, range, "from", "to", "only hits"),
    {.name = "tid", .older = "thread", .value = "N,...", .help = "only these thread ids",
     .brief = "only these threads", CLI_NUMBERS(struct csv_call, tids)},
    {.name = "probe", .value = "ID,...", .help = "only these probe numbers or names",
     .brief = "only these probes", CLI_NAMES(struct csv_call, probes)},
    {.name = "function", .value = "PATTERN", .brief = "only hits in calls of functions that match",
     .help = "only hits in calls of functions that match (* ? [a-z]); may be repeated",
     CLI_PATTERNS(struct csv_call, functions)},
    {.name = "limit", .letter = 'n', .value = "N", .help = "print only the first N hits",
     .brief = "maximum number of hits", CLI_NUMBER(struct csv_call, limit, 0, CLI_LIMIT_MAX)},
    CLI_ALIGN_ROW, CLI_COLOR_ROW, CLI_QUIET_ROW, CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_csv = {
    .name = "csv",
    .run = run,
    .summary = "Print all hits as CSV, in time order",
    .usage = "[OPTION]... TRACE...",
    .help =
        "Columns: pid,tid,probe,cpu_s,cpu_ns,wall_s,wall_ns. A probe is its number, or a site's "
        "name. Values that were not recorded are empty. Several traces are merged by time.",
    .options = options,
};
