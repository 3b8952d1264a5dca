/* SPDX-License-Identifier: MIT
 *
 * check.c: `probity check`: verifies every byte of traces and reports errors with their offsets.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/option.h"

enum { FAULTS_PRINTED_MAX = 100 }; /* per file */

struct faults {
    const char *path;
    uint64_t count;
};

/* Errors are the requested output, so they go to stdout, after the progress line was erased. */
static void report_fault(void *context, uint64_t offset, const char *text)
{
    struct faults *faults = context;

    cli_progress_end();
    if (faults->count++ < FAULTS_PRINTED_MAX)
        printf("%s: byte %" PRIu64 ": %s\n", faults->path, offset, text);
}

/* The listener's context is used only for faults. */
static void report_progress(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    cli_progress((void *)(uintptr_t)&cli_command_check, done, total);
}

/* Reports faults that follow from the trace's state. */
static void judge_state(struct faults *faults, const struct probity_trace_facts *facts,
                       const struct probity_check_result *result)
{
    static const char unfinished[] = "no END block and no spool on this machine; the last records "
                                     "may be missing";
    char why[256];

    if (facts->state == PROBITY_TRACE_UNFINISHED || facts->is_short) {
        if (result->cut_bytes > 0)
            report_fault(faults, result->cut_offset, "the file ends in the middle of a block");
        probity_trace_is_complete(facts, why, sizeof why);
        report_fault(faults, result->bytes, facts->is_short ? why : unfinished);
    } else if (facts->state == PROBITY_TRACE_CLOSED && result->cut_bytes > 0) {
        report_fault(faults, result->cut_offset, "data after the END block");
    }
}

/* One line per trace. Even if all blocks are valid, the recording may be incomplete. */
static void print_verdict(const struct faults *faults, const struct probity_trace_facts *facts,
                          const struct probity_check_result *result)
{
    const char *verdict = facts->has_failed ? "INCOMPLETE" : "ok";
    char why[256];

    printf("%s: %s: %" PRIu64 " faults in %" PRIu64 " blocks, %" PRIu64 " records, %" PRIu64
           " bytes", faults->path, faults->count > 0 ? "DAMAGED" : verdict, faults->count,
           result->blocks, result->records, result->bytes);
    if (facts->state == PROBITY_TRACE_LIVE && !facts->has_failed)
        fputs("; still recording", stdout);
    if (facts->state == PROBITY_TRACE_KILLED)
        printf("; %" PRIu64 " more records in the spool; run `probity recover`",
               facts->spool_records);
    if (facts->has_failed && !probity_trace_is_complete(facts, why, sizeof why))
        printf("; %s", why);
    fputc('\n', stdout);
}

/* The reader determines the trace's state; the bytes are checked separately. */
static int check_one(const char *path)
{
    struct probity_reader_options options = {0};
    struct probity_check_result result;
    struct probity_reader *reader;
    struct faults faults = {.path = path};
    struct probity_check_listener listener = {report_fault, report_progress, &faults};
    char *paths[] = {(char *)(uintptr_t)path};
    int status = cli_open_reader(&cli_command_check, paths, 1, &options, &reader);

    if (status != CLI_OK)
        return status;
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
    int error = probity_check_file(path, &listener, &result);
    cli_progress_end();
    if (error != 0) {
        status = cli_fail_trace(&cli_command_check, path, error, errno);
    } else {
        judge_state(&faults, facts, &result);
        if (faults.count > FAULTS_PRINTED_MAX)
            printf("%s: %" PRIu64 " more faults\n", path, faults.count - FAULTS_PRINTED_MAX);
        print_verdict(&faults, facts, &result);
        status = faults.count > 0 || facts->has_failed ? CLI_DAMAGED : CLI_OK;
    }
    probity_reader_close(reader);
    return status;
}

static int check_all(void *context, char **paths, size_t count)
{
    int status = CLI_OK;

    (void)context;
    for (size_t i = 0; i < count; i++) {
        int one = check_one(paths[i]);
        status = status == CLI_OK || one == CLI_FAILURE ? one : status;
    }
    return status;
}

static int run(int argc, char **argv)
{
    int status = cli_options_take(&cli_command_check, NULL, argc, argv);

    if (status != CLI_OK)
        return status < 0 ? CLI_OK : status;
    return cli_on_traces(&cli_command_check, argv + optind, (size_t)(argc - optind), check_all,
                         NULL);
}

static const struct cli_option options[] = {
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_check = {
    .name = "check",
    .run = run,
    .summary = "Verify traces and list any faults",
    .usage = "TRACE...",
    .help =
        "Reads every block and every record, and checks their order and counts against the "
        "totals in the trace, and that sites and formats are declared. Prints one line per fault, "
        "with its file offset, and a summary per trace.",
    .options = options,
};
