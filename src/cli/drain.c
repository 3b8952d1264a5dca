/* SPDX-License-Identifier: MIT
 *
 * drain.c: `probity drain`: finds programs without a writer thread, drains their traces
 * (drain_traces.h), and completes the traces when the programs have ended.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/parent.h"
#include "cli/cli_process.h"
#include "cli/cli_recover.h"
#include "cli/cli_traces.h"
#include "cli/drain_traces.h"
#include "cli/option.h"
#include "reader/spools.h"

enum { TRIES = 100 };

/* A file that was examined. If it is not yet a trace, it may become one. */
struct drain_seen {
    uint64_t device, inode;
    int tries;
};

/* The trace is removed once its CSV is complete. */
static int is_csv(const char *trace)
{
    static const char suffix[] = ".csv" PROBITY_TRACE_SUFFIX;
    size_t length = strlen(trace);

    return length > sizeof suffix - 1 &&
           strcmp(trace + length - (sizeof suffix - 1), suffix) == 0;
}

/* Does the same as `probity recover`. Returns the same as drain_advance(). */
static int complete(const struct cli_command *command, const char *trace, int *ret_status)
{
    struct probity_recover_result result;

    signal(SIGXFSZ, SIG_IGN);
    int error = probity_recover(trace, 0, &result);
    if (error == PROBITY_ERROR_STATE && result.is_taken)
        return 0;
    /* The process that closes a trace also writes its CSV. */
    if (is_csv(trace) && ((error == 0 && result.was_closed) ||
                          (error == PROBITY_ERROR_OPEN && errno == ENOENT)))
        *ret_status = CLI_OK;
    else
        *ret_status = cli_recover_finish(command, trace, error, &result);
    return 1;
}

int drain_advance(const struct cli_command *command, const char *trace,
                  struct probity_drainer **drainer, int *ret_status)
{
    if (*drainer != NULL) {
        int more = probity_drainer_pass(*drainer), error_number = errno;
        if (more > 0)
            return 0;
        probity_drainer_close(*drainer);
        *drainer = NULL;
        if (more < 0) {
            *ret_status = cli_fail_trace(command, trace, more, error_number);
            return 1;
        }
    }
    return complete(command, trace, ret_status);
}

static struct drain_seen *find_seen(struct drain_follow *follow, const struct stat *status)
{
    for (size_t i = 0; i < follow->seen_count; i++) {
        if (follow->seen[i].device == status->st_dev && follow->seen[i].inode == status->st_ino)
            return &follow->seen[i];
    }
    struct drain_seen *seen = probity_array_append(follow->seen, sizeof *seen, follow->seen_count);
    if (seen == NULL)
        return NULL;
    follow->seen = seen;
    seen[follow->seen_count] = (struct drain_seen){status->st_dev, status->st_ino, 0};
    return &seen[follow->seen_count++];
}

/* Drains the trace at this path if necessary. Returns an error of probity_drainer_open(). */
static int consider_file(struct drain_follow *follow, const char *path,
                         const struct probity_recover_file *only)
{
    struct probity_drainer *drainer;
    struct stat status;

    if (lstat(path, &status) != 0)
        return PROBITY_ERROR_OPEN;
    if (!S_ISREG(status.st_mode))
        return PROBITY_ERROR_ARGUMENT;
    struct drain_seen *seen = find_seen(follow, &status);
    if (seen == NULL || seen->tries >= TRIES)
        return PROBITY_ERROR_STATE;
    seen->tries++;
    int error = probity_drainer_open(path, only, &drainer);
    if (error != 0)
        return error;
    seen->tries = TRIES;
    if (probity_drainer_began_ns(drainer) >= follow->start_ns)
        drain_hand_over(follow, path, drainer);
    else
        probity_drainer_close(drainer);
    return 0;
}

static int consider(struct drain_follow *follow, const char *path)
{
    return consider_file(follow, path, NULL);
}

void drain_consider_pattern(struct drain_follow *follow, const char *pattern)
{
    struct cli_names names = {NULL, 0};

    if (cli_names_find(pattern, &names) != 0)
        return;
    for (size_t i = 0; i < names.count; i++)
        consider(follow, names.items[i]);
    cli_names_release(&names);
}

void drain_release(struct drain_follow *follow)
{
    free(follow->seen);
}

/* ---- The command -------------------------------------------------------------------------------
 */

static void consider_directory(struct drain_follow *follow, const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;

    if (directory == NULL) {
        follow->status = cli_fail(follow->command, "cannot open '%s': %s", path, strerror(errno));
        return;
    }
    while ((entry = readdir(directory)) != NULL) {
        char *name = NULL;
        if (asprintf(&name, "%s/%s", path, entry->d_name) < 0)
            break;
        consider(follow, name);
        free(name);
    }
    closedir(directory);
}

static int is_directory(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A process is looked up only once, because its id may be reused. */
static void consider_operand(struct drain_follow *follow, const char *name)
{
    if (cli_process_is(name))
        return;
    if (is_directory(name)) {
        consider_directory(follow, name);
        return;
    }
    char *trace = cli_trace_path(name);
    if (trace != NULL)
        consider(follow, trace);
    free(trace);
}

static int report(const struct drain_follow *follow, const char *trace, int error)
{
    if (error == PROBITY_ERROR_STATE)
        return cli_fail(follow->command, "'%s' needs no drainer: its program writes it, another "
                        "process drains it, or its program has ended (then run `probity recover`)",
                        trace);
    if (error == PROBITY_ERROR_ARGUMENT)
        return cli_fail(follow->command, "'%s' is a link, not a regular file, or another user's",
                        trace);
    return error != 0 ? cli_fail_trace(follow->command, trace, error, errno) : CLI_OK;
}

/* A trace given by name must be one that can be drained. */
static int check_trace(struct drain_follow *follow, const char *name)
{
    char *trace = is_directory(name) ? NULL : cli_trace_path(name);
    int status = trace != NULL ? report(follow, trace, consider(follow, trace)) : CLI_OK;

    free(trace);
    return status;
}

/* The path in the spool is only a hint: verify that the file there is the one that the program
 * created. */
static int drain_process(struct drain_follow *follow, const char *pid)
{
    struct probity_request *request;
    struct probity_spools_entry entry;
    int status = cli_process_open(follow->command, pid, &request);

    if (status != CLI_OK)
        return status;
    int found = probity_spools_find_trace(probity_request_attach(request), &entry);
    probity_request_close(request);
    if (found < 0)
        return cli_fail(follow->command, "the spool of process %s cannot be read: %s", pid,
                        probity_error_text(found));
    const struct probity_recover_file file = {entry.device, entry.inode};
    if (found == PROBITY_SPOOLS_UNRECORDED)
        status = cli_fail(follow->command, "the spool of process %s does not contain the path of "
                          "its trace; give the trace", pid);
    else if (found != PROBITY_SPOOLS_FOUND)
        status = cli_fail(follow->command, "the trace of process %s, '%s', %s", pid,
                          entry.trace_path,
                          found == PROBITY_SPOOLS_GONE ? "is gone; if it was moved, give its name"
                                                       : "cannot be read");
    else
        status = report(follow, entry.trace_path, consider_file(follow, entry.trace_path, &file));
    free(entry.trace_path);
    return status;
}

static int run(int argc, char **argv)
{
    struct drain_follow follow = {.command = &cli_command_drain, .is_ours = 1};
    int taken = cli_options_take(&cli_command_drain, &follow, argc, argv);

    if (taken != CLI_OK)
        return taken < 0 ? CLI_OK : taken;
    if (optind == argc)
        return cli_fail_usage(&cli_command_drain, "expected process ids, traces or directories");
    for (int i = optind; i < argc; i++) {
        int status = cli_process_is(argv[i]) ? drain_process(&follow, argv[i])
                                             : check_trace(&follow, argv[i]);
        follow.status = status != CLI_OK ? status : follow.status;
    }
    do {
        for (int i = optind; i < argc; i++)
            consider_operand(&follow, argv[i]);
        drain_proceed(&follow);
    } while (follow.count > 0 || follow.watches);
    drain_release(&follow);
    return follow.status;
}

static const struct cli_operand operands[] = {
    {.label = "process, trace or directory", .repeats = 1},
    {.label = NULL},
};

static const struct cli_option options[] = {
    {.name = "watch", .letter = 'w', .help = "keep waiting for new programs in a DIRECTORY",
     .brief = "keep waiting for new programs", CLI_FLAG(struct drain_follow, watches)},
    CLI_HELP_ROW,
    {.name = NULL},
};

const struct cli_command cli_command_drain = {
    .name = "drain",
    .run = run,
    .summary = "Write traces for programs without a writer thread",
    .usage = "[OPTION]... PID|TRACE|DIRECTORY...",
    .help =
        "Replaces the writer thread of programs that record with PROBITY_WRITER=external: moves "
        "their records from the spool to the trace while they run, and completes the trace when "
        "they end. A PID means that process's trace, found through its spool; a DIRECTORY means "
        "every such trace in it, including new ones. Exits when these programs have ended. It "
        "may be killed at any time: another drainer continues where it stopped.",
    .options = options,
    .operands = operands,
    .stops_at_operand = 1,
};
