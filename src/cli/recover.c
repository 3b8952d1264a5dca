/* SPDX-License-Identifier: MIT
 *
 * recover.c: `probity recover`: makes whole traces, and CSVs where they were asked for, of what
 * killed programs left.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/cli_recover.h"
#include "cli/cli_traces.h"
#include "output/csv.h"

/* The trace's own CSV. The trace goes only when all of it stands in the CSV. */
static int make_csv(const struct cli_command *command, const char *trace, const char *csv)
{
    int error = probity_csv_write_file(trace, csv);

    if (error == PROBITY_ERROR_DAMAGED) {
        cli_warn(command,
                 "'%s' holds what could be read of '%s', which is not whole and stays", csv, trace);
        return CLI_DAMAGED;
    }
    if (error != 0)
        return cli_fail_trace(
            command, error == PROBITY_ERROR_OPEN || error == PROBITY_ERROR_WRITE ? csv : trace,
            error, errno);
    if (unlink(trace) != 0)
        return cli_fail(command, "cannot remove '%s': %s", trace, strerror(errno));
    return CLI_OK;
}

int cli_recover_trace(const struct cli_command *command, const char *trace,
                      struct probity_recover_result *ret_result)
{
    signal(SIGXFSZ, SIG_IGN); /* a limit of file size then is an error of write, told below */
    int error = probity_recover(trace, ret_result);

    if (error == PROBITY_ERROR_STATE && ret_result->is_taken)
        return cli_fail(command, "'%s' is being recovered by another process", trace);
    if (error == PROBITY_ERROR_STATE)
        return cli_fail(command,
                        "'%s' is still being recorded; wait for its program, or read it as it is "
                        "with `probity csv`",
                        trace);
    if (error == PROBITY_ERROR_DAMAGED && ret_result->is_short)
        return cli_fail(
            command,
            "'%s' is shorter than its program wrote, so it is a copy or was cut; recover "
            "the trace itself (`probity csv` reads this one as it is)",
            trace);
    if (error == PROBITY_ERROR_DAMAGED && ret_result->is_spool_cut) {
        cli_warn(command, "'%s': its spool was cut, so records are lost; nothing is changed "
                 "(`probity csv` reads what there is)", trace);
        return CLI_DAMAGED;
    }
    if (error != 0)
        return cli_fail_trace(command, trace, error, errno);
    if (!ret_result->was_closed && !ret_result->has_spool) {
        cli_warn(command,
                 "'%s': its spool is not on this machine (another boot or host?); the trace stays "
                 "as it is, its last records may be missing",
                 trace);
        return CLI_DAMAGED;
    }
    if (ret_result->csv_path[0] != '\0')
        return make_csv(command, trace, ret_result->csv_path);
    return CLI_OK;
}

/* Names what the user wants to use now: the CSV where there is one. */
static void tell(const char *trace, const struct probity_recover_result *result)
{
    const char *made = result->csv_path[0] != '\0' ? result->csv_path : trace;

    if (result->was_closed)
        printf("%s: was closed already\n", made);
    else
        printf("%s: %" PRIu64 " records from the spool, %" PRIu64 " holes, %" PRIu64
               " bytes of a torn block cut off\n", made, result->records, result->holes,
               result->torn_bytes);
}

/* Folding in says nothing of the blocks that were there before. */
static int verify(const char *trace)
{
    struct probity_reader_options options = {.survey = 1};
    struct probity_reader *reader;
    char *paths[] = {(char *)(uintptr_t)trace};
    int status = cli_open_reader(&cli_command_recover, paths, 1, &options, &reader);

    if (status != CLI_OK)
        return status;
    status = cli_judge_traces(&cli_command_recover, reader);
    probity_reader_close(reader);
    return status;
}

/* The trace of a finished CSV is gone. What later runs left, as the name was taken, is told. */
static int tell_finished(const char *csv)
{
    struct cli_names names = {NULL, 0};

    if (cli_names_find(csv, &names) != 0)
        return cli_fail(&cli_command_recover, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    int status = CLI_OK;
    for (size_t i = 0; i < names.count; i++)
        status = cli_fail(&cli_command_recover, "'%s' is a finished CSV, but '%s' lies beside it; "
                          "recover that", csv, names.items[i]);
    if (names.count == 0)
        printf("%s: a finished CSV, no trace beside it\n", csv);
    cli_names_release(&names);
    return status;
}

/* A NAME.csv whose trace is gone is complete: the trace is removed when the CSV stands. */
static int recover_one(const char *name, const char *trace)
{
    struct probity_recover_result result;
    int status = CLI_OK;
    if (strcmp(trace, name) != 0 && access(trace, F_OK) != 0 && access(name, F_OK) == 0) {
        status = tell_finished(name);
    } else {
        status = cli_recover_trace(&cli_command_recover, trace, &result);
        if (status == CLI_OK)
            tell(trace, &result);
        if (status == CLI_OK && result.csv_path[0] == '\0')
            status = verify(trace);
    }
    return status;
}

static int run(int argc, char **argv)
{
    return cli_each_trace(&cli_command_recover, argc, argv, recover_one);
}

const struct cli_command cli_command_recover = {
    "recover", run, "Fold what a killed program left into its trace", "TRACE...",
    "Appends what is still in the spool to the trace, closes it and removes the spool. Where\n"
    "the program was to leave a CSV (give NAME.csv), makes it and removes the trace. Running it\n"
    "twice, or again after an interruption, gives the same.\n\n"
    "  -h, --help   this text\n", NULL};
