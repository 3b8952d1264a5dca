/* SPDX-License-Identifier: MIT
 *
 * snapshot.c: `probity snapshot`: writes a dump of a running program's ring (doc/triggers.md).
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conditions.h"
#include "cli/cli.h"
#include "cli/cli_process.h"
#include "cli/option.h"
#include "reader/spools.h"
#include "writer/snapshot.h"

#define ME (&cli_command_snapshot)

struct snapshot_call {
    const char *target, *out, *reason;
    int force;
};

/* Returns the trace of a recording process. malloc'ed. */
static int find_trace(const char *target, char **ret_path, char ret_program[65])
{
    struct probity_spools_entry entry = {.trace_path = NULL};
    struct probity_request *request;
    int status = cli_process_open(ME, target, &request);

    if (status != CLI_OK)
        return status;
    int found = probity_spools_find_trace(probity_request_attach(request), &entry);
    if (found != PROBITY_SPOOLS_FOUND || entry.trace_path == NULL)
        status = cli_fail(ME, "cannot find the trace of process %s; give its name instead", target);
    else
        memcpy(ret_program, entry.program, sizeof entry.program);
    probity_request_close(request);
    if (status == CLI_OK)
        *ret_path = entry.trace_path;
    else
        free(entry.trace_path);
    return status;
}

/* Returns the trace's name without directory and extension, with "-%i.probity". malloc'ed. */
static char *default_name(const char *trace)
{
    const char *slash = strrchr(trace, '/'), *name = slash != NULL ? slash + 1 : trace;
    size_t length = strlen(name), used = 0;
    char *pattern = malloc(2 * length + sizeof "-%i.probity");

    if (pattern == NULL)
        return NULL;
    if (length > 8 && strcmp(name + length - 8, ".probity") == 0)
        length -= 8;
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '%')
            pattern[used++] = '%';
        pattern[used++] = name[i];
    }
    memcpy(pattern + used, "-%i.probity", sizeof "-%i.probity");
    return pattern;
}

static int report(const struct snapshot_call *call, const char *trace,
                  const struct probity_snapshot_result *result, int error)
{
    switch (error) {
    case PROBITY_ERROR_STATE:
        if (result->is_dead)
            return cli_fail(ME, "'%s': its program is no longer recording; `probity recover` "
                            "writes the contents of its ring", trace);
        return cli_fail(ME, "process %" PRIu32 " does not record in a ring: everything goes to "
                        "'%s'; record with --ring", result->pid, trace);
    case PROBITY_ERROR_EXISTS:
        if (result->is_in_use)
            return cli_fail(ME, "'%s' is still being recorded, or is not a regular file; choose "
                            "another name", result->name);
        return cli_fail(ME, "'%s' already exists; use -f to overwrite it, or %%i in its name",
                        result->name);
    case PROBITY_ERROR_VERSION:
        return cli_fail(ME, "'%s' is recorded by another version of Probity; use the `probity` of "
                        "that version (this is %s)", trace, probity_version());
    case PROBITY_ERROR_ARGUMENT:
        return cli_fail(ME, "the name '%s' is too long", call->out);
    case PROBITY_ERROR_OPEN:
    case PROBITY_ERROR_WRITE:
        return cli_fail(ME, "cannot write '%s': %s", call->out, strerror(result->system_error));
    default:
        return cli_fail_trace(ME, trace, error, errno);
    }
}

static int snapshot(struct snapshot_call *call, const char *trace)
{
    struct probity_snapshot_result *result = malloc(sizeof *result);
    char *name = call->out == NULL ? default_name(trace) : NULL;

    if (result == NULL || (call->out == NULL && name == NULL)) {
        free(result);
        free(name);
        return cli_fail(ME, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    }
    if (call->out == NULL)
        call->out = name;
    const struct probity_snapshot_wanted wanted = {.trace = trace,
                                                   .pattern = call->out,
                                                   .reason = call->reason,
                                                   .replaces = call->force};
    int error = probity_snapshot_write(&wanted, result);
    int status = CLI_OK;
    if (error == 0) {
        cli_put_text(stdout, result->name);
        printf(": the last %.3f s, %" PRIu64 " records, %" PRIu64 " bytes\n",
               (double)result->window_ns / 1e9, result->records, result->bytes);
    } else {
        status = report(call, trace, result, error);
    }
    free(name);
    free(result);
    return status;
}

/* %n and %p are not allowed: a process's program is unknown until its spool is found. */
static int check_name(const struct snapshot_call *call)
{
    struct probity_condition_error error;

    if (call->out == NULL)
        return CLI_OK;
    if (cli_check_out(ME, call->out) != CLI_OK)
        return CLI_USAGE;
    if (strchr(call->out, '%') != NULL && !probity_dumps_pattern_check(call->out, &error))
        return cli_fail_usage(ME, "invalid -o '%s', column %zu: expected %s", call->out,
                              error.column, error.allowed);
    for (const char *at = call->out; (at = strchr(at, '%')) != NULL; at += 2) {
        if (at[1] == 'n' || at[1] == 'p')
            return cli_fail_usage(ME, "invalid -o '%s', column %zu: expected %%i or %%%%",
                                  call->out, (size_t)(at - call->out) + 2);
    }
    return CLI_OK;
}

static int run(int argc, char **argv)
{
    struct snapshot_call call = {.target = NULL};
    char program[65], *trace = NULL;
    int status = cli_options_take(ME, &call, argc, argv);

    if (status == CLI_OK && argc - optind != 1)
        status = cli_fail_usage(ME, "expected a process id or a trace");
    if (status == CLI_OK)
        status = check_name(&call);
    if (status != CLI_OK)
        return status < 0 ? CLI_OK : status;
    call.target = argv[optind];
    if (cli_process_is(call.target))
        status = find_trace(call.target, &trace, program);
    if (status == CLI_OK)
        status = snapshot(&call, trace != NULL ? trace : call.target);
    free(trace);
    return status;
}

static const struct cli_operand operands[] = {{.label = "process or trace"}, {.label = NULL}};

static const struct cli_option options[] = {
    {.name = "output", .letter = 'o', .value = "FILE", .brief = "file to write",
     .help = "file to write; %i expands to the first free number. Default: the trace's name in "
             "this directory, with -%i before its extension",
     CLI_TEXT(struct snapshot_call, out)},
    {.name = "force", .letter = 'f', .help = "replace FILE if it exists",
     .brief = "overwrite an existing file", CLI_FLAG(struct snapshot_call, force)},
    {.name = "reason", .value = "TEXT", .help = "store TEXT in the file as the reason for the dump",
     .brief = "reason to store", CLI_TEXT(struct snapshot_call, reason)},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_snapshot = {
    .name = "snapshot",
    .run = run,
    .summary = "Write the ring of a running program to a file",
    .usage = "[OPTION]... PID|TRACE",
    .help =
        "Copies the last seconds from the ring of a program (see probity-record(1)) to a separate "
        "trace. The program continues to record, and is not involved.",
    .options = options,
    .operands = operands,
    .statuses = "0 success; 1 failure; 2 usage error",
    .is_for_running = 1,
};
