/* SPDX-License-Identifier: MIT
 *
 * csv.c: `probity csv`: all hits of one or several traces as lines of CSV, in time order.
 */
#include "output/csv.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/filter.h"

struct csv_call {
    const char *out;
    struct cli_range range;
    int force;
    struct probity_csv_layout layout;
    struct cli_filter tids, probes;
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'}, {"force", no_argument, NULL, 'f'},
    {"header", no_argument, NULL, 'H'},       {"columns", required_argument, NULL, 'c'},
    {"from", required_argument, NULL, 'F'},   {"to", required_argument, NULL, 'T'},
    {"tid", required_argument, NULL, 't'},    {"probe", required_argument, NULL, 'p'},
    {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};

/* The wrong name alone is shown, not the rest of the list behind it. */
static int parse_columns(struct csv_call *call, const char *text)
{
    const char *bad = text;

    if (probity_csv_layout_parse(text, &call->layout, &bad) == 0)
        return CLI_OK;
    return cli_fail_usage(&cli_command_csv, "no column '%.*s'; there are pid, tid, probe, name, "
                          "cpu_s, cpu_ns, wall_s, wall_ns, cpu, wall, tick, thread",
                          (int)strcspn(bad, ","), bad);
}

static int take_option(void *context, int option, char *value)
{
    struct csv_call *call = context;

    switch (option) {
    case 'o': call->out = strcmp(value, "-") == 0 ? NULL : value; return CLI_OK;
    case 'f': call->force = 1; return CLI_OK;
    case 'H': call->layout.header = 1; return CLI_OK;
    case 'c': return parse_columns(call, value);
    case 'F': call->range.from = value; return CLI_OK;
    case 'T': call->range.to = value; return CLI_OK;
    case 't': return cli_filter_parse(&cli_command_csv, &call->tids, value, 0);
    case 'p': return cli_filter_parse(&cli_command_csv, &call->probes, value, 1);
    case 'h': cli_print_help(&cli_command_csv); return -1;
    default: return -2;
    }
}

/* Range on the wall clock; relative times count from the beginning of the earliest trace. */
static int set_range(struct csv_call *call, struct probity_reader *reader)
{
    uint64_t from_ns, to_ns;
    int status = cli_parse_range(&cli_command_csv, &call->range, probity_reader_start_ns(reader),
                                 &from_ns, &to_ns);

    if (status == CLI_OK)
        probity_reader_set_range(reader, from_ns, to_ns);
    return status;
}

/* Copies events to lines. Returns 0 or an error. */
static int copy_events(struct csv_call *call, struct probity_reader *reader,
                       struct probity_csv *csv)
{
    const struct probity_event *event;
    int got;

    if (call->tids.count == 0 && call->probes.count == 0) {
        while ((got = probity_reader_next(reader, &event)) > 0) {
            got = probity_csv_put(csv, event);
            if (got < 0)
                return got;
        }
        return got < 0 ? got : probity_csv_flush(csv);
    }
    while ((got = probity_reader_next(reader, &event)) > 0) {
        if (event->kind != PROBITY_EVENT_HIT ||
            !cli_filter_passes(&call->tids, event->tid, NULL, 0) ||
            !cli_filter_passes(&call->probes, event->is_site ? UINT64_MAX : event->id, event->name,
                               event->name_bytes))
            continue;
        got = probity_csv_put(csv, event);
        if (got < 0)
            return got;
    }
    return got < 0 ? got : probity_csv_flush(csv);
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

/* The output is kept where only a filter or damage is to be told: what it holds is right. */
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
    if (error != 0)
        status = fail_copy(call, reader, error, errno);
    int closed = cli_output_close(&cli_command_csv, &output, status == CLI_OK);
    if (status == CLI_OK)
        status = closed;
    if (status == CLI_OK && (cli_filter_tell_unseen(&cli_command_csv, &call->tids, "thread id") ||
                             cli_filter_tell_unseen(&cli_command_csv, &call->probes, "probe")))
        status = CLI_FAILURE;
    int judged = cli_judge_traces(&cli_command_csv, reader);
    return status == CLI_OK ? judged : status;
}

static int run_on(void *context, char **paths, size_t count)
{
    struct csv_call *call = context;
    struct probity_reader_options options = {0};
    struct probity_reader *reader;
    int status = cli_output_is_apart(&cli_command_csv, call->out, paths, count);

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
    static const struct cli_options options = {":o:fh", long_options, take_option};
    struct csv_call call = {0};
    int status = cli_take_options(&cli_command_csv, &options, &call, argc, argv);

    if (status == CLI_OK)
        status = cli_on_traces(&cli_command_csv, argv + optind, (size_t)(argc - optind), run_on,
                               &call);
    cli_filter_release(&call.tids);
    cli_filter_release(&call.probes);
    return status < 0 ? CLI_OK : status;
}

const struct cli_command cli_command_csv = {
    "csv", run, "Print every hit as a line of CSV, in time order", "[OPTION]... TRACE...",
    "Columns: pid,tid,probe,cpu_s,cpu_ns,wall_s,wall_ns. A probe is its number, or a site's name.\n"
    "What was not recorded stays empty. Several traces come out on one time line.\n\n"
    "  -o, --output FILE     write to FILE (default: standard output, also '-')\n"
    "  -f, --force           replace FILE where it exists\n"
    "      --header          the names of the columns first\n"
    "      --columns LIST    of pid, tid, probe, name, cpu_s, cpu_ns, wall_s, wall_ns, cpu, wall,\n"
    "                        tick, thread, role, correlation, object, with commas only\n"
    "      --from T, --to T  hits from T on, and before T: seconds since recording began,\n"
    "                        or with a unit (ns, us, ms, s), or @SECONDS since 1970\n"
    "      --tid N,...       only these thread ids\n"
    "      --probe ID,...    only these probe numbers or names\n"
    "  -h, --help            this text\n", NULL};
