/* SPDX-License-Identifier: MIT
 *
 * record.c: `probity record`: runs a program with recording switched on, and leaves a whole trace
 * behind however it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/cli.h"
#include "cli/cli_recover.h"
#include "cli/cli_traces.h"
#include "cli/launch.h"

struct record_call {
    const char *out, *mode, *label;
    int force;
    char **program;
};

/* ---- Paths -------------------------------------------------------------------------------------
 */

/* Absolute, with the working directory's percent signs doubled, for PROBITY_OUT. malloc'ed, NULL
 * on failure. */
static char *absolute_pattern(const char *out)
{
    char directory[PATH_MAX];
    size_t used = 0;

    if (*out == '/')
        return strdup(out);
    if (getcwd(directory, sizeof directory) == NULL)
        return NULL;
    char *pattern = malloc(2 * strlen(directory) + strlen(out) + 2);
    if (pattern == NULL)
        return NULL;
    for (const char *at = directory; *at != '\0'; at++) {
        if (*at == '%')
            pattern[used++] = '%';
        pattern[used++] = *at;
    }
    pattern[used++] = '/';
    memcpy(pattern + used, out, strlen(out) + 1);
    return pattern;
}

/* What the library makes of the pattern in the process pid: %p, %n and %%. malloc'ed. */
static char *expand_pattern(const char *pattern, const char *program, pid_t pid)
{
    const char *slash = strrchr(program, '/'), *name = slash != NULL ? slash + 1 : program;
    char *path = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&path, &bytes);

    if (stream == NULL)
        return NULL;
    for (const char *at = pattern; *at != '\0'; at++) {
        if (at[0] != '%' || at[1] == '\0') {
            fputc(*at, stream);
            continue;
        }
        at++;
        if (*at == 'p')
            fprintf(stream, "%ld", (long)pid);
        else if (*at == 'n')
            fputs(name, stream);
        else
            fputc(*at, stream);
    }
    return fclose(stream) == 0 ? path : NULL;
}

/* A trace without its spool is worth nothing, and a spool without its trace is never found. */
static int discard(const char *trace)
{
    struct probity_recover_result result;
    int error = probity_recover_discard(trace, &result);

    if (error == PROBITY_ERROR_STATE)
        return cli_fail(&cli_command_record, "'%s' is still being recorded; use -o for another",
                        trace);
    return error == 0 ? CLI_OK : cli_fail_trace(&cli_command_record, trace, error, errno);
}

/* Removes one of the files that are in the way. */
static int remove_old(const char *path, int is_trace)
{
    struct stat status;

    if (lstat(path, &status) != 0)
        return CLI_OK;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return cli_fail(&cli_command_record, "'%s' is no regular file; use -o for another", path);
    if (is_trace && discard(path) != CLI_OK)
        return CLI_FAILURE;
    return unlink(path) == 0 ? CLI_OK
                             : cli_fail(&cli_command_record, "cannot remove '%s': %s", path,
                                        strerror(errno));
}

/* The library would say so too, but only when the program runs already. */
static int check_folder(const struct record_call *call)
{
    const char *slash = call->out != NULL ? strrchr(call->out, '/') : NULL;
    char *folder = slash == NULL        ? strdup(".")
                   : slash == call->out ? strdup("/")
                                        : strndup(call->out, (size_t)(slash - call->out));
    struct stat status;
    int result = CLI_OK;

    if (folder == NULL)
        return cli_fail(&cli_command_record, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    if (strchr(folder, '%') == NULL) {
        int error = stat(folder, &status) != 0            ? errno
                    : !S_ISDIR(status.st_mode)            ? ENOTDIR
                    : access(folder, W_OK | X_OK) != 0    ? errno
                                                          : 0;
        if (error != 0)
            result = cli_fail(&cli_command_record, "cannot write in '%s': %s", folder,
                              strerror(error));
    }
    free(folder);
    return result;
}

/* Refuses what is there, or removes it. Patterns with %p name what cannot be there yet. */
static int clear_output(const struct record_call *call)
{
    if (call->out == NULL || strchr(call->out, '%') != NULL)
        return CLI_OK;
    char *trace = cli_trace_path(call->out);
    if (trace == NULL)
        return cli_fail(&cli_command_record, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    const char *existing = access(trace, F_OK) == 0       ? trace
                           : access(call->out, F_OK) == 0 ? call->out
                                                          : NULL;
    int status = CLI_OK;
    if (existing != NULL && !call->force)
        status = cli_fail(&cli_command_record,
                          "'%s' exists; use -f to replace it, or -o for another", existing);
    else if (existing != NULL)
        status = remove_old(trace, 1);
    if (existing != NULL && status == CLI_OK && strcmp(trace, call->out) != 0)
        status = remove_old(call->out, 0);
    free(trace);
    return status;
}

/* ---- Afterwards --------------------------------------------------------------------------------
 */

/* Whether a file was written to since the start. */
static int is_file_new(const char *path, uint64_t start_ns)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return 0;
    return (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec +
               20000000 >= start_ns; /* a file system's clock may lag by a tick of the kernel */
}

/* What is told of one trace that appeared. Returns whether it was begun after start_ns. */
static int conclude_one(const char *path, const char *own, uint64_t start_ns)
{
    const char *paths[] = {path};
    struct probity_reader *reader;
    struct probity_recover_result result;

    if (!is_file_new(path, start_ns) || probity_reader_open(paths, 1, NULL, NULL, &reader) != 0)
        return 0;
    const struct probity_trace_facts *facts = probity_reader_facts(reader, 0);
    int is_new = facts->info.anchor.realtime_ns >= start_ns;
    enum probity_trace_state state = facts->state;
    probity_reader_close(reader);
    /* Children may still be at work; the program itself is not. */
    if (is_new && (state == PROBITY_TRACE_KILLED || strcmp(path, own) == 0)) {
        if (cli_recover_trace(&cli_command_record, path, &result) == CLI_OK && result.has_failed)
            cli_warn(&cli_command_record, "'%s' is not complete: recording ended when it could not "
                     "be written; `probity info` says why", path);
    }
    return is_new;
}

/* Programs that were killed leave a spool: folds them in, those of children and of a script's
 * programs too. Says what went wrong, never changes the status. */
static void conclude(const char *pattern, const char *own_out, uint64_t start_ns)
{
    struct cli_names names = {NULL, 0};
    char *own = cli_trace_path(own_out);
    int appeared = 0, is_csv = own != NULL && strcmp(own, own_out) != 0;

    if (own == NULL || cli_names_find(pattern, &names) != 0) {
        free(own);
        cli_fail(&cli_command_record, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
        return;
    }
    for (size_t i = 0; i < names.count; i++)
        appeared += conclude_one(names.items[i], own, start_ns);
    /* The trace of a finished CSV is gone. Of CSVs with other names, nothing is left that tells
     * whose they are. */
    if (appeared == 0 && is_csv && is_file_new(own_out, start_ns))
        appeared = 1;
    if (appeared == 0 && !(is_csv && strchr(pattern, '%') != NULL))
        cli_warn(&cli_command_record,
                 "no trace '%s' appeared: does the program use Probity, and may it write there?",
                 own);
    cli_names_release(&names);
    free(own);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* What is not asked for stays as the environment has it. */
static int launch(const struct record_call *call, const char *pattern,
                  struct cli_launched *ret_launched)
{
    struct cli_variable environment[3] = {{"PROBITY_OUT", pattern}};
    struct cli_launch how = {
        .program = call->program, .environment = environment, .environment_count = 1};

    if (call->mode != NULL)
        environment[how.environment_count++] = (struct cli_variable){"PROBITY_MODE", call->mode};
    if (call->label != NULL)
        environment[how.environment_count++] = (struct cli_variable){"PROBITY_LABEL", call->label};
    return cli_launch(&cli_command_record, &how, ret_launched);
}

/* The status is the program's, whatever becomes of its trace: that is told on stderr. */
static int record(const struct record_call *call)
{
    struct cli_launched launched = {0};
    int status = check_folder(call);

    if (status == CLI_OK)
        status = clear_output(call);
    if (status != CLI_OK)
        return status;
    uint64_t start_ns = now_ns();
    char *pattern = absolute_pattern(call->out != NULL ? call->out : "%n.%p.probity");
    if (pattern == NULL)
        return cli_fail(&cli_command_record, "cannot tell the working directory: %s",
                        strerror(errno));
    status = launch(call, pattern, &launched);
    if (status == CLI_OK) {
        char *out = expand_pattern(pattern, call->program[0], launched.pid);
        if (out != NULL && launched.exec_error == 0)
            conclude(pattern, out, start_ns);
        free(out);
        status = launched.status;
    }
    free(pattern);
    return status;
}

static int run(int argc, char **argv)
{
    static const struct option long_options[] = {{"output", required_argument, NULL, 'o'},
                                                 {"force", no_argument, NULL, 'f'},
                                                 {"mode", required_argument, NULL, 'm'},
                                                 {"label", required_argument, NULL, 'l'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    struct record_call call = {0};
    int option;

    while ((option = getopt_long(argc, argv, "+:o:fh", long_options, NULL)) != -1) {
        switch (option) {
        case 'o': call.out = optarg; break;
        case 'f': call.force = 1; break;
        case 'm': call.mode = optarg; break;
        case 'l': call.label = optarg; break;
        case 'h': return cli_print_help(&cli_command_record);
        default: return cli_fail_option(&cli_command_record, argv, option);
        }
    }
    if (call.mode != NULL && strcmp(call.mode, "block") != 0 && strcmp(call.mode, "drop") != 0 &&
        strcmp(call.mode, "ring") != 0)
        return cli_fail_usage(&cli_command_record, "no mode '%s'; there are block, drop and ring",
                              call.mode);
    if (call.label != NULL && (*call.label == '\0' || strlen(call.label) > PROBITY_LIMIT_NAME))
        return cli_fail_usage(&cli_command_record, "--label: 1 to %d bytes", PROBITY_LIMIT_NAME);
    if (optind == argc)
        return cli_fail_usage(&cli_command_record, "no program given");
    if (call.out != NULL && *call.out == '\0')
        return cli_fail_usage(&cli_command_record, "-o needs a name");
    call.program = argv + optind;
    return record(&call);
}

const struct cli_command cli_command_record = {
    "record", run, "Run a program and record its probes",
    "[OPTION]... [--] PROGRAM [ARGUMENT]...",
    "Sets PROBITY_OUT for the program, waits for it, and passes on its exit status: 128 + N\n"
    "where signal N ended it, 127 where it is not found, 126 where it cannot be run. SIGTERM and\n"
    "SIGHUP are passed on. Where the program was killed, its last records are taken from the\n"
    "spool.\n\n"
    "  -o, --output TRACE   default %n.%p.probity (%n program, %p process id) in this directory;\n"
    "                       a name that ends in .csv becomes a CSV when the program ends\n"
    "  -f, --force          remove TRACE first where it exists\n"
    "      --label LABEL    what this run is called, to find it again among others\n"
    "      --mode MODE      when the writer cannot keep up: block (default), drop or ring\n"
    "  -h, --help           this text\n",
    "that of the program. Where it was not run: 1 failure; 2 wrong call;\n"
    "126 cannot be run; 127 not found"};
