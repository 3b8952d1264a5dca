/* SPDX-License-Identifier: MIT
 *
 * check.c: `probity check`: verifies whole traces and says what is wrong, and where.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

enum { FAULTS_TOLD_MAX = 100 }; /* of one file: the first ones say what is wrong */

struct telling {
    const char *path;
    uint64_t told;
};

/* Faults go to stdout, as they are what was asked for; the progress line must be gone by then. */
static void tell_fault(void *context, uint64_t offset, const char *text)
{
    struct telling *telling = context;

    cli_progress_end();
    if (telling->told++ < FAULTS_TOLD_MAX)
        printf("%s: byte %" PRIu64 ": %s\n", telling->path, offset, text);
}

/* The listener has one context, which is that of the faults. */
static void tell_progress(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    cli_progress((void *)(uintptr_t)&cli_command_check, done, total);
}

/* What the state of the trace adds to the verdict on its bytes. */
static void judge_state(struct telling *telling, const struct probity_trace_facts *facts,
                       const struct probity_check_result *result)
{
    static const char unfinished[] = "no END block, and no spool on this machine: the last records "
                                     "may be missing";
    char why[256];

    if (facts->state == PROBITY_TRACE_UNFINISHED || facts->is_short) {
        if (result->cut_bytes > 0)
            tell_fault(telling, result->cut_offset, "the file ends within a block");
        probity_trace_is_complete(facts, why, sizeof why);
        tell_fault(telling, result->bytes, facts->is_short ? why : unfinished);
    } else if (facts->state == PROBITY_TRACE_CLOSED && result->cut_bytes > 0) {
        tell_fault(telling, result->cut_offset, "bytes behind the END block");
    }
}

/* One line for the trace. Blocks may all be right and the recording not whole all the same. */
static void print_verdict(const struct telling *telling, const struct probity_trace_facts *facts,
                          const struct probity_check_result *result)
{
    const char *verdict = facts->has_failed ? "INCOMPLETE" : "ok";
    char why[256];

    printf("%s: %s: %" PRIu64 " faults in %" PRIu64 " blocks, %" PRIu64 " records, %" PRIu64
           " bytes", telling->path, telling->told > 0 ? "DAMAGED" : verdict, telling->told,
           result->blocks, result->records, result->bytes);
    if (facts->state == PROBITY_TRACE_LIVE && !facts->has_failed)
        fputs("; still recording", stdout);
    if (facts->state == PROBITY_TRACE_KILLED)
        printf("; %" PRIu64 " more records in the spool: `probity recover` folds them in",
               facts->spool_records);
    if (facts->has_failed && !probity_trace_is_complete(facts, why, sizeof why))
        printf("; %s", why);
    fputc('\n', stdout);
}

/* The reader's view says in what state the trace is; the bytes are checked by themselves. */
static int check_one(const char *name, const char *path)
{
    struct probity_reader_options options = {0};
    struct probity_check_result result;
    struct probity_reader *reader;
    struct telling telling = {.path = path};
    struct probity_check_listener listener = {tell_fault, tell_progress, &telling};
    char *paths[] = {(char *)(uintptr_t)path};
    (void)name;
    int status = cli_open_reader(&cli_command_check, paths, 1, &options, &reader);

    if (status != CLI_OK)
        return status;
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
    int error = probity_check_file(path, &listener, &result);
    cli_progress_end();
    if (error != 0) {
        status = cli_fail_trace(&cli_command_check, path, error, errno);
    } else {
        judge_state(&telling, facts, &result);
        if (telling.told > FAULTS_TOLD_MAX)
            printf("%s: %" PRIu64 " further faults\n", path, telling.told - FAULTS_TOLD_MAX);
        print_verdict(&telling, facts, &result);
        status = telling.told > 0 || facts->has_failed ? CLI_DAMAGED : CLI_OK;
    }
    probity_reader_close(reader);
    return status;
}

static int run(int argc, char **argv)
{
    return cli_each_trace(&cli_command_check, argc, argv, check_one);
}

const struct cli_command cli_command_check = {
    "check", run, "Verify whole traces; say what is wrong, and where", "TRACE...",
    "Reads every block and every record, and holds order and counts against what the trace\n"
    "says of itself. One line for each fault, with its offset in the file, and one for each\n"
    "trace.\n\n"
    "  -h, --help   this text\n", NULL};
