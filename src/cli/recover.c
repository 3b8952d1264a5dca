/* SPDX-License-Identifier: MIT
 *
 * recover.c: `probity recover`: completes the traces of killed programs, and writes their CSV files
 * if requested.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parent.h"
#include "cli/cli.h"
#include "cli/cli_recover.h"
#include "cli/cli_traces.h"
#include "cli/option.h"
#include "exports/csv/csv.h"

/* Works in the directory that was opened with the trace, even if the path has changed since.
 * Removes the trace only once the CSV is complete. */
static int write_csv(const struct cli_command *command, const char *trace,
                     const struct probity_recover_result *result,
                     const struct probity_parent *parent)
{
    const char *csv = result->csv_path, *slash = strrchr(csv, '/');
    const struct probity_csv_job job = {.directory = parent->directory,
                                        .trace_path = trace,
                                        .csv_name = slash != NULL ? slash + 1 : csv,
                                        .device = result->device,
                                        .inode = result->inode};
    char why[PROBITY_CSV_WHY_BYTES];
    int error = probity_csv_write_file(&job, why);

    if (error == PROBITY_ERROR_DAMAGED) {
        cli_warn(command, "'%s' is incomplete: %s; its trace '%s' was kept", csv, why, trace);
        return CLI_DAMAGED;
    }
    if (error != 0)
        return cli_fail_trace(
            command, error == PROBITY_ERROR_OPEN || error == PROBITY_ERROR_WRITE ? csv : trace,
            error, errno);
    if (probity_parent_remove(parent, result->device, result->inode) != 0)
        return cli_fail(command, "cannot remove '%s': %s", trace, strerror(errno));
    return CLI_OK;
}

static int make_csv(const struct cli_command *command, const char *trace,
                    const struct probity_recover_result *result)
{
    struct probity_parent parent;

    if (probity_parent_open(trace, &parent) != 0)
        return cli_fail_trace(command, trace, PROBITY_ERROR_OPEN, errno);
    int status = probity_parent_holds(&parent, result->device, result->inode)
                     ? write_csv(command, trace, result, &parent)
                     : cli_fail_trace(command, trace, PROBITY_ERROR_OPEN, ESTALE);
    probity_parent_close(&parent);
    return status;
}

/* Explains a PROBITY_ERROR_STATE. */
static int report_refused(const struct cli_command *command, const char *trace,
                        const struct probity_recover_result *result)
{
    if (result->is_link)
        return cli_fail(command, "'%s' is a symbolic link; give the trace itself", trace);
    if (result->is_foreign)
        return cli_fail(command, "'%s' belongs to another user; if you trust everyone who can "
                        "write to it, use `probity recover --trust`", trace);
    if (result->is_taken)
        return cli_fail(command, "'%s' is being recovered by another process", trace);
    if (result->is_unknown)
        return cli_fail(command, "cannot lock the spool of '%s' to check whether its program is "
                        "still running; nothing was changed (`probity csv` reads the trace as it "
                        "is)", trace);
    return cli_fail(command, "'%s' is still being recorded; wait for its program to end, or read "
                    "it now with `probity csv`", trace);
}

/* Called if there is no spool to recover from. */
static int report_missing(const struct cli_command *command, const char *trace,
                        const struct probity_recover_result *result)
{
    if (result->is_copy)
        cli_warn(command, "'%s' is a copy, or was moved from another file system; recover the "
                 "original, or use `probity recover --trust` to move its records into this file",
                 trace);
    else
        cli_warn(command, "the spool of '%s' is not on this machine (another boot or host?); the "
                 "trace was not changed, and its last records may be missing", trace);
    return CLI_DAMAGED;
}

int cli_recover_trace(const struct cli_command *command, const char *trace, int is_trusted,
                      struct probity_recover_result *ret_result)
{
    return cli_recover_only(command, trace, NULL, is_trusted, ret_result);
}

int cli_recover_only(const struct cli_command *command, const char *trace,
                     const struct probity_recover_file *only, int is_trusted,
                     struct probity_recover_result *ret_result)
{
    signal(SIGXFSZ, SIG_IGN); /* exceeding the size limit is then a write error */
    int error = probity_recover_only(trace, only, is_trusted, ret_result);

    return cli_recover_finish(command, trace, error, ret_result);
}

int cli_recover_finish(const struct cli_command *command, const char *trace, int error,
                       const struct probity_recover_result *result)
{
    if (error == PROBITY_ERROR_STATE)
        return report_refused(command, trace, result);
    if (error == PROBITY_ERROR_DAMAGED && result->is_short)
        return cli_fail(
            command, "'%s' is shorter than what its program wrote: it is a copy or was truncated; "
            "recover the original (`probity csv` reads this one as it is)", trace);
    if (error == PROBITY_ERROR_DAMAGED && result->is_spool_cut) {
        cli_warn(command, "the spool of '%s' was truncated and records are lost; nothing was "
                 "changed (`probity csv` reads what is left)", trace);
        return CLI_DAMAGED;
    }
    if (error == PROBITY_ERROR_WRITE && result->is_spool_kept)
        return cli_fail(command, "'%s' is complete, but its spool cannot be removed: %s", trace,
                        strerror(errno));
    if (error != 0)
        return cli_fail_trace(command, trace, error, errno);
    if (!result->was_closed && !result->has_spool && !result->is_empty)
        return report_missing(command, trace, result);
    if (result->csv_path[0] != '\0')
        return make_csv(command, trace, result);
    return CLI_OK;
}

/* Reports the name of the CSV, or else of the trace. */
static void print_result(const char *trace, const struct probity_recover_result *result)
{
    const char *made = result->csv_path[0] != '\0' ? result->csv_path : trace;

    cli_put_text(stdout, made);
    if (result->was_closed)
        puts(": already closed");
    else
        printf(": %" PRIu64 " records from the spool, %" PRIu64 " holes, %" PRIu64
               " bytes of an incomplete block removed\n", result->records, result->holes,
               result->torn_bytes);
}

/* Recovery does not check the blocks that were already in the trace. */
static int verify(const char *trace)
{
    struct probity_reader_options options = {.prescan = 1};
    struct probity_reader *reader;
    char *paths[] = {(char *)(uintptr_t)trace};
    int status = cli_open_reader(&cli_command_recover, paths, 1, &options, &reader);

    if (status != CLI_OK)
        return status;
    status = cli_judge_traces(&cli_command_recover, reader);
    probity_reader_close(reader);
    return status;
}

/* A trace is removed once its CSV is complete. Reports later runs, which had to use other names.
 */
static int report_finished(const char *csv)
{
    struct cli_names names = {NULL, 0};

    if (cli_names_find(csv, &names) != 0)
        return cli_fail(&cli_command_recover, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    int status = CLI_OK;
    for (size_t i = 0; i < names.count; i++)
        status = cli_fail(&cli_command_recover, "'%s' is a finished CSV, but '%s' exists as well; "
                          "recover that", csv, names.items[i]);
    if (names.count == 0)
        printf("%s: a finished CSV; there is no trace to recover\n", csv);
    cli_names_release(&names);
    return status;
}

/* A NAME.csv without a trace is complete, because only then is the trace removed. */
static int recover_one(const char *name, const char *trace, int is_trusted)
{
    struct probity_recover_result result;
    int status = CLI_OK;
    if (strcmp(trace, name) != 0 && access(trace, F_OK) != 0 && access(name, F_OK) == 0) {
        status = report_finished(name);
    } else {
        status = cli_recover_trace(&cli_command_recover, trace, is_trusted, &result);
        if (status == CLI_OK)
            print_result(trace, &result);
        if (status == CLI_OK && result.csv_path[0] == '\0')
            status = verify(trace);
    }
    return status;
}

static int recover_named(const char *name, const char *trace)
{
    return recover_one(name, trace, 0);
}

static int recover_trusted(const char *name, const char *trace)
{
    return recover_one(name, trace, 1);
}

struct recover_call {
    int is_trusted;
};

static int run(int argc, char **argv)
{
    struct recover_call call = {0};
    int status = cli_options_take(&cli_command_recover, &call, argc, argv);

    if (status != CLI_OK)
        return status < 0 ? CLI_OK : status;
    return cli_each_operand(&cli_command_recover, argv + optind, (size_t)(argc - optind),
                            call.is_trusted ? recover_trusted : recover_named);
}

static const struct cli_option options[] = {
    {.name = "trust", .brief = "also recover traces of other users, and copies",
     .help = "also recover traces that belong to other users, and copies of traces",
     CLI_FLAG(struct recover_call, is_trusted)},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_recover = {
    .name = "recover",
    .run = run,
    .summary = "Recover records left by a killed process",
    .usage = "[OPTION]... TRACE...",
    .help =
        "Appends the records in the spool to the trace, closes it and removes the spool. If the "
        "program was to write a CSV (give NAME.csv), writes it and removes the trace. Can be "
        "repeated or resumed after an interruption with the same result.",
    .options = options,
};
