/* SPDX-License-Identifier: MIT
 *
 * cli.c: messages, paths, progress and output files of the subcommands.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "base/parent.h"
#include "base/temporary.h"
#include "cli/align.h"
#include "cli/bundle.h"
#include "cli/cli_repeated.h"
#include "cli/filter.h"
#include "cli/jobs.h"
#include "cli/option.h"
#include "print/text.h"

void cli_put_text(FILE *stream, const char *text)
{
    enum { PIECE = 128 };
    char piece[4 * PIECE];
    size_t left = strlen(text);

    while (left > 0) {
        size_t bytes = left < PIECE ? left : probity_text_whole(text, PIECE);
        bytes = bytes > 0 ? bytes : PIECE;
        const char *end = probity_text_put(piece, piece + sizeof piece, text, bytes, '\0');
        fwrite(piece, 1, (size_t)(end - piece), stream);
        text += bytes;
        left -= bytes;
    }
}

/* A single line, which scripts and logs can rely on. Erases an unfinished progress line first. */
static void print_line(const struct cli_command *command, const char *format, va_list arguments)
{
    char *text = NULL;

    cli_progress_end();
    fprintf(stderr, "probity %s: ", command->name);
    if (vasprintf(&text, format, arguments) >= 0) {
        cli_put_text(stderr, text);
        free(text);
    }
    fputc('\n', stderr);
}

int cli_fail(const struct cli_command *command, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_line(command, format, arguments);
    va_end(arguments);
    return CLI_FAILURE;
}

int cli_fail_usage(const struct cli_command *command, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_line(command, format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try 'probity %s --help'.\n", command->name);
    return CLI_USAGE;
}

int cli_check_out(const struct cli_command *command, const char *out)
{
    if (out != NULL && *out == '\0')
        return cli_fail_usage(command, "-o requires a name");
    if (out != NULL && strcmp(out, "-") == 0)
        return cli_fail_usage(command, "-o -: a trace cannot be written to standard output "
                              "(for a file of this name use ./-)");
    return CLI_OK;
}

/* As requested for this process. */
static int is_quiet;

void cli_be_quiet(void)
{
    is_quiet = 1;
}

void cli_warn(const struct cli_command *command, const char *format, ...)
{
    va_list arguments;

    if (is_quiet)
        return;
    va_start(arguments, format);
    print_line(command, format, arguments);
    va_end(arguments);
}

/* The format is the same for all commands. */
int cli_print_help(const struct cli_command *command)
{
    printf("Usage: probity %s %s\n\n%s.\n\n", command->name, command->usage, command->summary);
    cli_text_print(stdout, command->help);
    putchar('\n');
    cli_options_print(stdout, command->options);
    if (command->notes != NULL) {
        putchar('\n');
        cli_text_print(stdout, command->notes);
    }
    printf("\nExit status: %s.\n",
           command->statuses != NULL
               ? command->statuses
               : "0 success; 1 failure; 2 usage error; 3 the input is damaged or incomplete");
    return CLI_OK;
}

int cli_fail_function(const struct cli_command *command, const char *pattern)
{
    const char *nearest = cli_function_nearest(pattern);

    if (nearest != NULL)
        return cli_fail(command, "no calls match '%s'; did you mean '%s'?", pattern, nearest);
    return cli_fail(command, "no calls match '%s'; `probity report` lists the functions", pattern);
}

void cli_warn_stopped(const struct cli_command *command, size_t limit, const char *noun)
{
    cli_warn(command, "stopped after %zu %s (--limit)", limit, noun);
}

/* A program creates its trace a fraction of a millisecond before it writes the first block. */
static int fail_format(const struct cli_command *command, const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
        return cli_fail(command, "'%s' is empty: its program was killed before it recorded "
                        "anything, or it is not a Probity trace", path);
    if (cli_is_bundle(path))
        return cli_fail(command, "'%s' is a bundle of traces; name one of them ('%s/NAME'; "
                        "`probity info` shows the names)", path, path);
    return cli_fail(command, "'%s' is not a Probity trace; expected a file written by PROBITY_OUT "
                    "or `probity record`", path);
}

/* Each text names the file and, if possible, the remedy. */
int cli_fail_trace(const struct cli_command *command, const char *path, int error, int error_number)
{
    switch (error) {
    case PROBITY_ERROR_OPEN:
        return cli_fail(command, "cannot open '%s': %s", path, strerror(error_number));
    case PROBITY_ERROR_READ:
        return cli_fail(command, "cannot read '%s': %s", path, strerror(error_number));
    case PROBITY_ERROR_WRITE:
        return cli_fail(command, "cannot write '%s': %s; free some space and retry", path,
                        strerror(error_number));
    case PROBITY_ERROR_FORMAT:
        return fail_format(command, path);
    case PROBITY_ERROR_VERSION:
        return cli_fail(command, "'%s' was written by another version of Probity; read it with "
                        "that version (this is %s)", path, probity_version());
    case PROBITY_ERROR_DAMAGED:
        return cli_fail(command, "'%s': the first block is damaged or missing, so nothing can be "
                        "read; use another copy of the file", path);
    default:
        return cli_fail(command, "'%s': %s", path, probity_error_text(error));
    }
}

/* ---- Traces ------------------------------------------------------------------------------------
 */

#define TRACE_SUFFIX PROBITY_TRACE_SUFFIX

/* A program that was to write NAME.csv records into NAME.csv.probity, so users may give either
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

/* Standard input as a path. A trace is read at many places, so a pipe is copied to a file without a
 * name, which vanishes with this process. malloc'ed; NULL with errno set. */
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

/* Whether the trace was converted to CSV and then removed. */
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

/* Each opening takes one pass of the progress line, or two. */
static int open_paths(char **paths, size_t count, const struct probity_reader_options *options,
                      size_t *ret_failed, struct probity_reader **ret_reader)
{
    unsigned later = cli_progress_expect(0);

    cli_progress_expect(later + 1);
    if (options->has_lanes || options->prescan)
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

    /* Each trace keeps a file open, and a program that forks a lot leaves many traces. */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    signal(SIGXFSZ, SIG_IGN); /* makes exceeding the size limit a write error, which is reported */
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

/* Called after the output, because some damage is found only when a block is opened. */
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

/* ---- Progress ----------------------------------------------------------------------------------
 */

enum { PROGRESS_AFTER_MS = 1000, PROGRESS_EVERY_MS = 200 };

/* State of the process's progress line. */
static struct {
    int64_t start_ms, last_ms;
    int is_shown, has_pass;
    double base, share, latest; /* of the current pass, and the position reached; the whole is 1 */
    unsigned expected;          /* passes after the current one */
} progress;

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

unsigned cli_progress_expect(unsigned passes)
{
    unsigned before = progress.expected;

    progress.expected = passes;
    return before;
}

void cli_progress_pass(void)
{
    progress.has_pass = 1;
    progress.base = progress.latest = progress.base + progress.share;
    progress.share = (1 - progress.base) / (progress.expected + 1);
}

/* Several traces may be at different positions. */
static double reached(uint64_t done, uint64_t total)
{
    double share = progress.has_pass ? progress.share : 1;
    double now = progress.base + share * (done < total ? (double)done / (double)total : 1);

    progress.latest = now > progress.latest ? now : progress.latest;
    return progress.latest;
}

/* Called every few blocks; the clock decides whether anything is shown. */
void cli_progress(void *context, uint64_t done, uint64_t total)
{
    const struct cli_command *command = context;
    int64_t now = now_ms();

    if (progress.start_ms == 0)
        progress.start_ms = progress.last_ms = now;
    if (now - progress.start_ms < PROGRESS_AFTER_MS || now - progress.last_ms < PROGRESS_EVERY_MS ||
        total == 0 || is_quiet || !isatty(STDERR_FILENO))
        return;
    progress.last_ms = now;
    progress.is_shown = 1;
    fprintf(stderr, "\rprobity %s: %3u %%", command->name,
            (unsigned)(reached(done, total) * 100));
    fflush(stderr);
}

void cli_progress_end(void)
{
    if (progress.is_shown)
        fputs("\r\033[K", stderr);
    progress.is_shown = 0;
}

/* ---- Output ------------------------------------------------------------------------------------
 */

int cli_output_is_apart(const struct cli_command *command, const char *path, char **inputs,
                        size_t count)
{
    struct cli_place input;
    struct stat output;

    if (path == NULL || strcmp(path, "-") == 0 || stat(path, &output) != 0)
        return CLI_OK;
    for (size_t i = 0; i < count; i++) {
        if (cli_place_of(inputs[i], &input) && input.device == output.st_dev &&
            input.inode == output.st_ino)
            return cli_fail(command, "refusing to overwrite input '%s'", path);
    }
    return CLI_OK;
}

/* Creates the new file next to the one that it will replace. */
static int open_temporary(const struct cli_command *command, int must_have_name,
                          struct cli_output *output)
{
    output->temporary = probity_temporary_name(output->path);
    if (output->temporary == NULL)
        return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    cli_unfinished_set(output);
    output->descriptor =
        must_have_name ? open(output->temporary,
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)
                       : probity_temporary_open(AT_FDCWD, output->temporary, &output->is_unnamed);
    if (output->descriptor >= 0)
        return CLI_OK;
    cli_unfinished_clear();
    cli_fail(command, "cannot write '%s': %s", output->path, strerror(errno));
    free(output->temporary);
    return CLI_FAILURE;
}

/* A pipe or device is written to directly, because replacing it would destroy it. A link to one is
 * followed only if this user or root created it: in a shared directory another user may have
 * created one to a device that only this user may write to. A regular file that has taken its place
 * meanwhile is not touched. */
static int open_special(const struct cli_command *command, struct cli_output *output)
{
    const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
    struct stat status;

    output->descriptor = open(output->path, flags | O_NOFOLLOW);
    if (output->descriptor < 0 && errno == ELOOP && lstat(output->path, &status) == 0) {
        if (status.st_uid != geteuid() && status.st_uid != 0)
            return cli_fail(command, "cannot write '%s': this link belongs to another user",
                            output->path);
        output->descriptor = open(output->path, flags);
    }
    if (output->descriptor >= 0 &&
        (fstat(output->descriptor, &status) != 0 || S_ISREG(status.st_mode))) {
        close(output->descriptor);
        output->descriptor = -1;
        errno = EEXIST;
    }
    return output->descriptor >= 0
               ? CLI_OK
               : cli_fail(command, "cannot write '%s': %s", output->path, strerror(errno));
}

static int open_output(const struct cli_command *command, const char *path, int force,
                       int must_have_name, struct cli_output *ret_output)
{
    struct cli_output output = {.descriptor = STDOUT_FILENO};
    struct stat there;
    int status = CLI_OK;

    if (path != NULL && strcmp(path, "-") != 0) {
        int exists = stat(path, &there) == 0;
        if (!force && (exists || access(path, F_OK) == 0))
            return cli_fail(command, "'%s' already exists; use -f to overwrite it", path);
        output.path = path;
        status = exists && !S_ISREG(there.st_mode) ? open_special(command, &output)
                                                   : open_temporary(command, must_have_name,
                                                                    &output);
    }
    if (status == CLI_OK)
        *ret_output = output;
    return status;
}

int cli_output_open(const struct cli_command *command, const char *path, int force,
                    struct cli_output *ret_output)
{
    return open_output(command, path, force, 0, ret_output);
}

int cli_output_open_named(const struct cli_command *command, const char *path, int force,
                          struct cli_output *ret_output)
{
    return open_output(command, path, force, 1, ret_output);
}

/* The temporary file gets its final name only once all bytes are written. */
int cli_output_close(const struct cli_command *command, struct cli_output *output, int keep)
{
    int status = CLI_OK;

    if (output->path == NULL) {
        if (keep && close(STDOUT_FILENO) != 0 && errno != EBADF)
            status = cli_fail(command, "cannot write to standard output: %s", strerror(errno));
        return status;
    }
    int is_named = output->temporary != NULL && !output->is_unnamed, is_whole = keep;
    if (keep && output->is_unnamed)
        is_named = is_whole =
            probity_temporary_keep(output->descriptor, AT_FDCWD, output->temporary) == 0;
    if (keep && !is_whole)
        status = cli_fail(command, "cannot write '%s': %s", output->path, strerror(errno));
    if (close(output->descriptor) != 0 && is_whole) {
        status = cli_fail(command, "cannot write '%s': %s", output->path, strerror(errno));
        is_whole = 0;
    }
    if (is_whole && is_named && rename(output->temporary, output->path) != 0) {
        status = cli_fail(command, "cannot rename '%s' to '%s': %s", output->temporary,
                          output->path, strerror(errno));
        is_whole = 0;
    }
    if (!is_whole && is_named && unlink(output->temporary) != 0)
        cli_warn(command, "could not remove temporary file '%s': %s", output->temporary,
                 strerror(errno));
    cli_unfinished_clear();
    free(output->temporary);
    output->temporary = NULL;
    return status;
}
