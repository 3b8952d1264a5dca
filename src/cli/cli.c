/* SPDX-License-Identifier: MIT
 *
 * cli.c: messages, paths, progress and output files of the subcommands.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/temporary.h"

/* One line, so that scripts and logs can rely on it; in front of it, no half progress line. */
static void print_line(const struct cli_command *command, const char *format, va_list arguments)
{
    cli_progress_end();
    fprintf(stderr, "probity %s: ", command->name);
    vfprintf(stderr, format, arguments);
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

int cli_fail_option(const struct cli_command *command, char **argv, int returned)
{
    const char *word = argv[optind - 1];
    int is_long = strncmp(word, "--", 2) == 0;

    if (returned == ':')
        return cli_fail_usage(command, "option '%s' needs a value", word);
    if (is_long && optopt == 0)
        return cli_fail_usage(command, "no option '%s', or it is short for several", word);
    if (is_long && strchr(word, '=') != NULL)
        return cli_fail_usage(command, "option '%s' takes no value", word);
    return cli_fail_usage(command, "no option '-%c'", optopt);
}

int cli_take_options(const struct cli_command *command, const struct cli_options *options,
                     void *context, int argc, char **argv)
{
    int option, status = CLI_OK;

    while (status == CLI_OK && (option = getopt_long(argc, argv, options->letters, options->names,
                                                     NULL)) != -1) {
        status = options->take(context, option, optarg);
        if (status == -2)
            status = cli_fail_option(command, argv, option);
    }
    return status;
}

void cli_warn(const struct cli_command *command, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_line(command, format, arguments);
    va_end(arguments);
}

/* All help has one shape; only what differs stands in the table of commands. */
int cli_print_help(const struct cli_command *command)
{
    printf("Usage: probity %s %s\n\n%s.\n\n%s", command->name, command->usage, command->summary,
           command->help);
    printf("\nExit status: %s.\n",
           command->statuses != NULL
               ? command->statuses
               : "0 done; 1 failure; 2 wrong call; 3 the input is damaged or incomplete");
    return CLI_OK;
}

int cli_fail_function(const struct cli_command *command, const char *pattern)
{
    return cli_fail(command, "no call of a function like '%s' here; `probity report` shows which "
                    "there are", pattern);
}

/* Each text names the thing and, where there is one, the remedy. */
int cli_fail_trace(const struct cli_command *command, const char *path, int error, int error_number)
{
    switch (error) {
    case PROBITY_ERROR_OPEN:
        return cli_fail(command, "cannot open '%s': %s", path, strerror(error_number));
    case PROBITY_ERROR_READ:
        return cli_fail(command, "cannot read '%s': %s", path, strerror(error_number));
    case PROBITY_ERROR_WRITE:
        return cli_fail(command, "cannot write '%s': %s; make room and run it again", path,
                        strerror(error_number));
    case PROBITY_ERROR_FORMAT:
        return cli_fail(command, "'%s' is not a Probity trace; name a file that PROBITY_OUT or "
                                 "`probity record` made", path);
    case PROBITY_ERROR_VERSION:
        return cli_fail(command, "'%s' was made by another version of Probity; read it with that "
                                 "version (this one is %s)", path, probity_version());
    case PROBITY_ERROR_DAMAGED:
        return cli_fail(command, "'%s': the first block is damaged or missing, so nothing can be "
                                 "read; take another copy of the file", path);
    default:
        return cli_fail(command, "'%s': %s", path, probity_error_text(error));
    }
}

/* ---- Traces ------------------------------------------------------------------------------------
 */

#define TRACE_SUFFIX ".probity"

/* A program that is to leave NAME.csv records into NAME.csv.probity: the user knows the former. */
char *cli_trace_path(const char *name)
{
    size_t length = strlen(name);
    char *path = malloc(length + sizeof TRACE_SUFFIX);

    if (path == NULL)
        return NULL;
    memcpy(path, name, length + 1);
    if (length > 4 && strcmp(name + length - 4, ".csv") == 0)
        memcpy(path + length, TRACE_SUFFIX, sizeof TRACE_SUFFIX);
    return path;
}

char **cli_trace_paths(char **names, size_t count)
{
    char **paths = calloc(count + 1, sizeof *paths);

    for (size_t i = 0; paths != NULL && i < count; i++) {
        paths[i] = cli_trace_path(names[i]);
        if (paths[i] == NULL) {
            cli_paths_free(paths, i);
            return NULL;
        }
    }
    return paths;
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
    char **paths = cli_trace_paths(names, count);
    int status = paths != NULL ? run(context, paths, count)
                               : cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));

    cli_paths_free(paths, count);
    return status;
}

int cli_each_trace(const struct cli_command *command, int argc, char **argv,
                   int (*one)(const char *name, const char *trace))
{
    static const struct option long_options[] = {{"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    int option, status = CLI_OK;

    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option == 'h')
            return cli_print_help(command);
        return cli_fail_option(command, argv, option);
    }
    if (optind == argc)
        return cli_fail_usage(command, "no trace given");
    for (int i = optind; i < argc; i++) {
        char *trace = cli_trace_path(argv[i]);
        int got = trace != NULL
                      ? one(argv[i], trace)
                      : cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
        free(trace);
        status = status == CLI_OK || got == CLI_FAILURE ? got : status;
    }
    return status;
}

/* Whether the CSV stands that a trace of this name was to become: it is removed then. */
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

int cli_open_reader(const struct cli_command *command, char **paths, size_t count,
                    struct probity_reader_options *options, struct probity_reader **ret_reader)
{
    size_t failed = 0;
    struct rlimit files;

    /* Each trace keeps a file open; a program with many forked children leaves many traces. */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    signal(SIGXFSZ, SIG_IGN); /* a limit of file size then is an error of write, and told */
    options->progress = cli_progress;
    options->progress_context = (void *)(uintptr_t)command;
    const char *const *names = (const char *const *)paths;
    int error = probity_reader_open(names, count, options, &failed, ret_reader);
    if (error == 0)
        return CLI_OK;
    if (error == PROBITY_ERROR_OPEN && errno == ENOENT && is_csv_finished(paths[failed]))
        return cli_fail(command, "'%.*s' is a finished CSV; its trace is gone",
                        (int)(strlen(paths[failed]) - sizeof TRACE_SUFFIX + 1), paths[failed]);
    return cli_fail_trace(command, paths[failed], error, errno);
}

/* Behind the output: damage that is found only when a block is opened counts too. */
int cli_judge_traces(const struct cli_command *command, const struct probity_reader *reader)
{
    int status = CLI_OK;
    char why[256];

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        if (!probity_trace_is_damaged(facts) && facts->state != PROBITY_TRACE_UNFINISHED)
            continue;
        probity_trace_is_complete(facts, why, sizeof why);
        cli_warn(command, "'%s' is not complete: %s", facts->path, why);
        status = CLI_DAMAGED;
    }
    return status;
}

/* ---- Progress ----------------------------------------------------------------------------------
 */

enum { PROGRESS_AFTER_MS = 1000, PROGRESS_EVERY_MS = 200 };

/* The one line of progress on the terminal belongs to the process. */
static struct {
    int64_t start_ms, last_ms;
    int is_shown;
} progress;

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Called for every few blocks: the clock decides whether there is anything to show. */
void cli_progress(void *context, uint64_t done, uint64_t total)
{
    const struct cli_command *command = context;
    int64_t now = now_ms();

    if (progress.start_ms == 0)
        progress.start_ms = progress.last_ms = now;
    if (now - progress.start_ms < PROGRESS_AFTER_MS || now - progress.last_ms < PROGRESS_EVERY_MS ||
        total == 0 || !isatty(STDERR_FILENO))
        return;
    progress.last_ms = now;
    progress.is_shown = 1;
    fprintf(stderr, "\rprobity %s: %3u %%", command->name,
            (unsigned)((double)done / (double)total * 100));
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
    struct stat output, input;

    if (path == NULL || strcmp(path, "-") == 0 || stat(path, &output) != 0)
        return CLI_OK;
    for (size_t i = 0; i < count; i++) {
        if (stat(inputs[i], &input) == 0 && input.st_dev == output.st_dev &&
            input.st_ino == output.st_ino)
            return cli_fail(command, "'%s' is the trace that is read; name another file", path);
    }
    return CLI_OK;
}

/* The new file, beside the one that it is to replace. */
static int open_temporary(const struct cli_command *command, int must_have_name,
                          struct cli_output *output)
{
    output->temporary = probity_temporary_name(output->path);
    if (output->temporary == NULL)
        return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    cli_unfinished_set(output);
    output->descriptor =
        must_have_name ? open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                       : probity_temporary_open(output->temporary, &output->is_unnamed);
    if (output->descriptor >= 0)
        return CLI_OK;
    cli_unfinished_clear();
    cli_fail(command, "cannot write '%s': %s", output->path, strerror(errno));
    free(output->temporary);
    return CLI_FAILURE;
}

/* A pipe or a device is written to as it is: to replace it would destroy it. */
static int open_special(const struct cli_command *command, struct cli_output *output)
{
    output->descriptor = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
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
            return cli_fail(command, "'%s' exists; use -f to replace it", path);
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

/* The temporary name becomes the true one only when all bytes have arrived. */
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
        is_named = is_whole = probity_temporary_keep(output->descriptor, output->temporary) == 0;
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
        cli_warn(command, "'%s' is left and may be removed: %s", output->temporary,
                 strerror(errno));
    cli_unfinished_clear();
    free(output->temporary);
    output->temporary = NULL;
    return status;
}
