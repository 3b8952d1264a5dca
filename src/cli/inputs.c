/* SPDX-License-Identifier: MIT
 *
 * inputs.c: the traces that a command reads: turns its operands into an open reader, and determines
 * the exit status.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/parent.h"
#include "cli/align.h"
#include "cli/bundle.h"
#include "cli/cli.h"
#include "cli/cli_repeated.h"
#include "cli/jobs.h"

#define TRACE_SUFFIX PROBITY_TRACE_SUFFIX

/* If NAME.csv was requested, the program records to NAME.csv.probity, so users may give either
 * name. */
char *cli_trace_path(const char *name)
{
    size_t length = strlen(name);
    char *path = malloc(length + sizeof TRACE_SUFFIX);

    if (path == NULL)
        return NULL;
    memcpy(path, name, length + 1);
    probity_os_use_slashes(path);
    if (length > 4 && strcmp(name + length - 4, ".csv") == 0)
        memcpy(path + length, TRACE_SUFFIX, sizeof TRACE_SUFFIX);
    return path;
}

/* Copies everything. Returns 0, or -1 with errno. */
static int copy_all(int from, int to)
{
    char bytes[64 << 10];
    ssize_t got;

    while ((got = read(from, bytes, sizeof bytes)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        for (ssize_t done = 0, put; got > 0 && done < got; done += put) {
            put = write(to, bytes + done, (size_t)(got - done));
            if (put < 0 && errno != EINTR)
                return -1;
            put = put > 0 ? put : 0;
        }
        if (got < 0)
            return -1;
    }
    return 0;
}

/* Returns standard input as a path. Reading a trace requires seeking, so a pipe is copied to an
 * unnamed file, which is deleted when this process ends. malloc'ed; NULL with errno set. */
static char *input_path(void)
{
    const char *directory = getenv("TMPDIR");
    char *name = NULL, *path = NULL;
    struct stat status;
    int file = STDIN_FILENO;

    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        if (asprintf(&name, "%s/probity.XXXXXX", directory != NULL ? directory : "/tmp") < 0)
            return NULL;
        file = mkostemp(name, O_CLOEXEC);
        int failed = file < 0 || unlink(name) != 0 || copy_all(STDIN_FILENO, file) != 0;
        free(name);
        if (failed)
            return NULL;
    }
    return asprintf(&path, "/proc/self/fd/%d", file) >= 0 ? path : NULL;
}

static int fail_paths(const struct cli_command *command)
{
    if (errno == ENOMEM)
        return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    return cli_fail(command, "cannot copy standard input to a temporary file: %s",
                    strerror(errno));
}

char **cli_trace_paths(const struct cli_command *command, char **names, size_t *count)
{
    size_t path_count = *count;
    char **paths = calloc(path_count + 1, sizeof *paths);
    int is_whole = paths != NULL;

    for (size_t i = 0; is_whole && i < path_count; i++) {
        paths[i] = strcmp(names[i], "-") == 0 ? input_path() : cli_trace_path(names[i]);
        is_whole = paths[i] != NULL;
    }
    if (!is_whole)
        fail_paths(command);
    if (is_whole && cli_bundles_expand(command, &paths, &path_count) == CLI_OK) {
        *count = path_count;
        return paths;
    }
    cli_paths_free(paths, path_count);
    return NULL;
}

void cli_paths_free(char **paths, size_t count)
{
    for (size_t i = 0; paths != NULL && i < count; i++)
        free(paths[i]);
    free(paths);
}

int cli_on_traces(const struct cli_command *command, char **names, size_t count,
                  int (*run)(void *context, char **paths, size_t count), void *context)
{
    if (count == 0)
        return cli_fail_usage(command, "no trace given");
    char **paths = cli_trace_paths(command, names, &count);
    int status = paths != NULL ? run(context, paths, count) : CLI_FAILURE;

    cli_paths_free(paths, count);
    return status;
}

int cli_each_operand(const struct cli_command *command, char **names, size_t count,
                     int (*one)(const char *name, const char *trace))
{
    int status = CLI_OK;

    if (count == 0)
        return cli_fail_usage(command, "no trace given");
    for (size_t i = 0; i < count; i++) {
        char *trace = cli_trace_path(names[i]);
        int got = trace != NULL
                      ? one(names[i], trace)
                      : cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
        free(trace);
        status = status == CLI_OK || got == CLI_FAILURE ? got : status;
    }
    return status;
}

/* Whether the trace was converted to CSV and then deleted. */
static int is_csv_finished(const char *trace)
{
    size_t length = strlen(trace), suffix = sizeof TRACE_SUFFIX - 1;

    if (length < suffix + 4 || strcmp(trace + length - suffix, TRACE_SUFFIX) != 0 ||
        memcmp(trace + length - suffix - 4, ".csv", 4) != 0)
        return 0;
    char *csv = strndup(trace, length - suffix);
    int is_there = csv != NULL && access(csv, F_OK) == 0;
    free(csv);
    errno = ENOENT;
    return is_there;
}

/* Opening a trace may take a pass over it. */
static int open_paths(char **paths, size_t count, const struct probity_reader_options *options,
                      size_t *ret_failed, struct probity_reader **ret_reader)
{
    unsigned later = cli_progress_expect(0);

    cli_progress_expect(later + 1);
    cli_progress_pass();
    int error = probity_reader_open((const char *const *)paths, count, options, ret_failed,
                                    ret_reader);
    cli_progress_expect(later);
    cli_progress_pass();
    return error;
}

int cli_open_reader(const struct cli_command *command, char **paths, size_t count,
                    struct probity_reader_options *options, struct probity_reader **ret_reader)
{
    size_t failed = 0;
    struct rlimit files;

    count = count > 1 ? cli_repeated_links(command, paths, count) : count;

    /* Each trace keeps a file open, and a program that forks often leaves many traces. */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    signal(SIGXFSZ, SIG_IGN); /* exceeding the size limit is then a write error, which is
                               * reported */
    cli_jobs_use(options);
    cli_align_use(options);
    options->progress = cli_progress;
    options->progress_context = (void *)(uintptr_t)command;
    int error = open_paths(paths, count, options, &failed, ret_reader);
    size_t kept = count;
    if (error == 0 && count > 1)
        kept = cli_repeated_copies(command, paths, *ret_reader);
    if (kept < count) {
        probity_reader_close(*ret_reader);
        error = open_paths(paths, kept, options, &failed, ret_reader);
    }
    if (error == 0) {
        cli_align_report(command, *ret_reader);
        return CLI_OK;
    }
    if (error == PROBITY_ERROR_OPEN && errno == ENOENT && is_csv_finished(paths[failed]))
        return cli_fail(command, "'%.*s' is a finished CSV; its trace was removed",
                        (int)(strlen(paths[failed]) - sizeof TRACE_SUFFIX + 1), paths[failed]);
    return cli_fail_trace(command, paths[failed], error, errno);
}

/* Called after the output, because some damage is found only when a block is read. */
int cli_judge_traces(const struct cli_command *command, const struct probity_reader *reader)
{
    int status = CLI_OK;
    char why[256];

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        if (!probity_trace_is_damaged(facts) && facts->state != PROBITY_TRACE_UNFINISHED)
            continue;
        probity_trace_is_complete(facts, why, sizeof why);
        cli_warn(command, "'%s' is incomplete: %s", facts->path, why);
        status = CLI_DAMAGED;
    }
    return status;
}

int cli_judge_bare(const struct cli_command *command, const struct probity_reader *reader)
{
    int status = CLI_OK;
    char why[256];

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        if (probity_trace_is_complete(facts, why, sizeof why))
            continue;
        cli_warn(command, "'%s' is incomplete: %s", facts->path, why);
        status = CLI_DAMAGED;
    }
    return status;
}
