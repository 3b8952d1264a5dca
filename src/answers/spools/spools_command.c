/* SPDX-License-Identifier: MIT
 *
 * spools_command.c: `probity spools`: lists the spools in shared memory, and recovers or removes
 * those of killed programs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "answers/spools/spools_print.h"
#include "cli/cli.h"
#include "cli/cli_recover.h"
#include "cli/cli_spools.h"
#include "cli/option.h"
#include "print/bytes_text.h"
#include "print/text.h"
#include "reader/spools.h"
#include "writer/discard.h"

#define ME (&cli_command_spools)

struct spools_call {
    int is_recover, is_remove, loses_records, is_all, is_trusted, as_json;
    struct probity_spools spools;
};

/* ---- Recovering and removing -------------------------------------------------------------------
 */

/* Whether the spool belongs to the user or is trusted; warns if not. */
static int is_own(const struct spools_call *call, const struct probity_spools_entry *entry)
{
    if (entry->owner == geteuid() || call->is_trusted)
        return 1;
    cli_warn(ME, "'%s' belongs to another user; use --trust if you trust that user", entry->path);
    return 0;
}

static int recover(const struct spools_call *call, const struct probity_spools_entry *entry)
{
    const struct probity_recover_file only = {entry->device, entry->inode};
    struct probity_recover_result result;

    if (!is_own(call, entry))
        return CLI_DAMAGED;
    if (entry->trace == PROBITY_SPOOLS_UNRECORDED) {
        cli_warn(ME, "'%s' does not contain the path of its trace; use `probity recover TRACE`",
                 entry->path);
        return CLI_DAMAGED;
    }
    if (entry->trace != PROBITY_SPOOLS_FOUND) {
        cli_warn(ME, "'%s': its trace '%s' %s", entry->path, entry->trace_path,
                 entry->trace == PROBITY_SPOOLS_GONE
                     ? "is gone; if it was moved, use `probity recover TRACE`; otherwise "
                       "remove the spool with `probity spools --remove`"
                     : "cannot be read");
        return CLI_DAMAGED;
    }
    int status = cli_recover_only(ME, entry->trace_path, &only,
                                  call->is_trusted && entry->owner != geteuid(), &result);
    if (status != CLI_OK)
        return status;
    printf("%s: ", result.csv_path[0] != 0 ? result.csv_path : entry->trace_path);
    printf("%" PRIu64 " record%s from the spool of process %" PRIu32 "\n", result.records,
           probity_text_s(result.records), entry->pid);
    return CLI_OK;
}

/* Whether to remove the spool. If it has recoverable records, it is removed only if requested. */
static int may_go(const struct spools_call *call, const struct probity_spools_entry *entry)
{
    if (call->loses_records || entry->state == PROBITY_SPOOLS_CLOSED ||
        entry->trace == PROBITY_SPOOLS_GONE)
        return 1;
    if (entry->trace == PROBITY_SPOOLS_FOUND)
        cli_warn(ME, "kept '%s', whose trace '%s' exists; use --recover or --lose-records",
                 entry->path, entry->trace_path);
    else
        cli_warn(ME, "kept '%s', whose trace may still exist; use `probity recover` or "
                 "--lose-records", entry->path);
    return 0;
}

static int remove_spool(const struct spools_call *call, const struct probity_spools_entry *entry)
{
    const struct probity_discard_spool spool = {.directory =
                                                    call->spools.directories[entry->directory],
                                                .stem = entry->stem,
                                                .owner = entry->owner,
                                                .session = entry->session,
                                                .boot = entry->boot};
    char bytes[PROBITY_BYTES_TEXT_BYTES];

    if (!is_own(call, entry) || !may_go(call, entry))
        return CLI_DAMAGED;
    int error = probity_discard(&spool);
    if (error != 0)
        return cli_fail(ME, "cannot remove '%s': %s", entry->path,
                        error == PROBITY_ERROR_OPEN || error == PROBITY_ERROR_WRITE
                            ? strerror(errno)
                            : probity_error_text(error));
    printf("%s: removed, %s", entry->path, probity_bytes_text(entry->bytes, bytes));
    if (entry->functions > 0)
        printf("; counts of %" PRIu64 " functions are lost\n", entry->functions);
    else
        printf("; %" PRIu64 " record%s %s lost\n", entry->records, probity_text_s(entry->records),
               probity_text_are(entry->records));
    return CLI_OK;
}

static int treat_all(const struct spools_call *call,
                     int (*one)(const struct spools_call *call,
                                const struct probity_spools_entry *entry))
{
    int worst = CLI_OK;

    for (size_t i = 0; i < call->spools.count; i++) {
        const struct probity_spools_entry *entry = &call->spools.entries[i];
        int status = probity_spools_is_left(entry) ? one(call, entry) : CLI_OK;
        worst = status == CLI_FAILURE || worst == CLI_OK ? status : worst;
    }
    return worst;
}

static void print_page(const char *directory, const char *name)
{
    printf("%s/%s: removed\n", directory, name);
}

/* Removes the control pages of killed programs. */
static int remove_pages(const struct spools_call *call)
{
    int worst = CLI_OK;

    for (size_t i = 0; i < call->spools.directory_count; i++) {
        if (call->spools.owners[i] != geteuid() && !call->is_trusted)
            continue;
        int error = probity_discard_pages(call->spools.directories[i], call->spools.owners[i],
                                          print_page);
        if (error != 0)
            worst = cli_fail(ME, "cannot remove a control page in '%s': %s",
                             call->spools.directories[i],
                             error == PROBITY_ERROR_OPEN || error == PROBITY_ERROR_WRITE
                                 ? strerror(errno)
                                 : probity_error_text(error));
    }
    return worst;
}

static int list(const struct spools_call *call)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (!call->as_json)
        probity_spools_text(stdout, &call->spools, now_ns);
    else if (probity_spools_json(stdout, &call->spools, now_ns) == PROBITY_ERROR_MEMORY)
        return cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    return CLI_OK;
}

static int run_call(struct spools_call *call)
{
    int status = cli_spools_collect(ME, call->is_all, &call->spools), then = CLI_OK;

    if (status == CLI_FAILURE)
        return status;
    if (call->is_recover)
        then = treat_all(call, recover);
    else if (call->is_remove)
        then = treat_all(call, remove_spool);
    else
        then = list(call);
    if (call->is_remove && remove_pages(call) != CLI_OK)
        then = CLI_FAILURE;
    return then != CLI_OK ? then : status;
}

static int run(int argc, char **argv)
{
    struct spools_call call = {0};
    int status = cli_options_take(ME, &call, argc, argv);

    if (status != CLI_OK)
        return status < 0 ? CLI_OK : status;
    call.is_all |= call.is_trusted;
    if (optind < argc)
        return cli_fail_usage(ME, "unexpected argument '%s'", argv[optind]);
    if (call.is_recover + call.is_remove + call.as_json > 1)
        return cli_fail_usage(ME, "--recover, --remove and --json are mutually exclusive");
    if (call.loses_records && !call.is_remove)
        return cli_fail_usage(ME, "--lose-records requires --remove");
    status = cli_spools_check(ME, call.is_all, "--all and --trust search");
    if (status != CLI_OK)
        return status;
    status = run_call(&call);
    probity_spools_release(&call.spools);
    return status;
}

static const struct cli_operand no_operands[] = {{.label = NULL}};

static const struct cli_option options[] = {
    {.name = "recover", .brief = "recover spools of dead programs into their traces",
     .help = "recover each dead program's spool into its trace, and remove it",
     CLI_FLAG(struct spools_call, is_recover)},
    {.name = "remove", .brief = "remove spools whose trace is gone",
     .help = "remove spools of dead programs whose trace is gone, and their control pages",
     CLI_FLAG(struct spools_call, is_remove)},
    {.name = "lose-records", .brief = "with --remove, also spools that could be recovered",
     .help = "with --remove: also those that could still be recovered",
     CLI_FLAG(struct spools_call, loses_records)},
    {.name = "all", .letter = 'a', .brief = "include spools of other users",
     .help = "include other users' readable spools",
     CLI_FLAG(struct spools_call, is_all)},
    {.name = "trust", .brief = "also recover or remove spools of other users",
     .help = "like --all, and let --recover and --remove act on them",
     CLI_FLAG(struct spools_call, is_trusted)},
    {.name = "json", .help = "print one JSON object", .brief = "print JSON",
     CLI_FLAG(struct spools_call, as_json)},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_spools = {
    .name = "spools",
    .run = run,
    .summary = "List the spools in shared memory; recover or remove orphaned ones",
    .usage = "[OPTION]...",
    .help =
        "A recording program keeps its latest records in a spool, files in shared memory; a "
        "killed program leaves them there. Lists your spools: memory, age, whether the program "
        "is alive, process id, number of records not yet in the trace, and the trace.",
    .options = options,
    .operands = no_operands,
    .statuses =
    "0 success; 1 failure; 2 usage error;\n"
    "3 some spools of dead programs are left",
};
