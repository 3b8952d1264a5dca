/* SPDX-License-Identifier: MIT
 *
 * arguments.c: see arguments.h. The dynamic linker of the program lists its shared libraries, as
 * for ldd(1), without running any of the program's own code. Debugging information is read by a
 * child process with limited CPU time: it may be damaged or malicious, and libdw is not designed
 * for that.
 */
#include "cli/arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/selection.h"
#include "cli/program_file.h"
#include "symbols/arguments.h"
#include "symbols/symbols.h"

/* ---- Rules -------------------------------------------------------------------------------------
 */

static int are_valid(const struct cli_command *command, const struct cli_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++) {
        const char *pattern = patterns->items[i];
        if (strpbrk(pattern, ";#\n") != NULL || strspn(pattern, " \t\r") == strlen(pattern))
            return cli_fail_usage(command, "invalid pattern '%s': it must not be empty or contain "
                                  "; # or a line break", pattern);
    }
    return CLI_OK;
}

int cli_arguments_check(const struct cli_command *command, const struct cli_arguments *arguments)
{
    int status = are_valid(command, &arguments->arguments);

    return status == CLI_OK ? are_valid(command, &arguments->results) : status;
}

/* In the syntax of probity-functions(7). malloc'ed; NULL without patterns, or if out of memory. */
static char *rules_of(const struct cli_patterns *patterns)
{
    char *text = NULL;
    size_t bytes;
    FILE *stream = patterns->count > 0 ? open_memstream(&text, &bytes) : NULL;

    if (stream == NULL)
        return NULL;
    for (size_t i = 0; i < patterns->count; i++)
        fprintf(stream, "function %s\n", patterns->items[i]);
    return fclose(stream) == 0 ? text : NULL;
}

/* ---- Files -------------------------------------------------------------------------------------
 */

struct adding {
    const struct cli_command *command;
    struct symbols_arguments *all;
    struct symbols_wanted wanted;
    uint32_t functions, described;
    char undescribed[PATH_MAX]; /* the first file with functions that DWARF does not describe */
    int is_unused;              /* because the DWARF of `undescribed` may not be used */
};

/* is_any: adds the file even if it does not seem to have hooks. */
static struct symbols_found add(struct adding *adding, const char *path, int is_any)
{
    struct symbols_found found;

    adding->wanted.is_any = is_any;
    symbols_arguments_add(adding->all, path, &adding->wanted, &found);
    adding->functions += found.functions;
    adding->described += found.described;
    if (found.undescribed > 0 && adding->undescribed[0] == '\0') {
        snprintf(adding->undescribed, sizeof adding->undescribed, "%s", path);
        adding->is_unused = found.is_unused;
    }
    return found;
}

/* One line of the list: "NAME => PATH (0xADDRESS)" or "PATH (0xADDRESS)". */
static void add_listed(struct adding *adding, char *line)
{
    char *arrow = strstr(line, " => "), *end = strstr(line, " (0x");
    char *path = arrow != NULL ? arrow + 4 : line + strspn(line, " \t");

    if (end == NULL || end <= path)
        return;
    *end = '\0';
    if (strchr(path, '/') != NULL) /* skips linux-vdso.so.1 */
        add(adding, path, 0);
}

/* Returns the read end of a pipe with the list, or -1. */
static int list(const char *interpreter, const char *program, pid_t *ret_child)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fflush(NULL);
    *ret_child = fork();
    if (*ret_child == 0) {
        int none = open("/dev/null", O_WRONLY);
        if (dup2(ends[1], STDOUT_FILENO) >= 0 && none >= 0 && dup2(none, STDERR_FILENO) >= 0)
            execl(interpreter, interpreter, "--list", program, (char *)NULL);
        _exit(CLI_FAILURE);
    }
    close(ends[1]);
    if (*ret_child > 0)
        return ends[0];
    close(ends[0]);
    return -1;
}

static void add_libraries(struct adding *adding, const char *program)
{
    char interpreter[PATH_MAX], *line = NULL;
    size_t room = 0;
    pid_t child;

    if (symbols_interpreter(program, interpreter, sizeof interpreter) != 0)
        return;
    int descriptor = list(interpreter, program, &child);
    if (descriptor < 0)
        return;
    FILE *stream = fdopen(descriptor, "r");
    while (stream != NULL && getline(&line, &room, stream) > 0)
        add_listed(adding, line);
    free(line);
    if (stream != NULL)
        fclose(stream);
    else
        close(descriptor);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static int add_files(struct adding *adding, const struct cli_patterns *files)
{
    for (size_t i = 0; i < files->count; i++) {
        if (!add(adding, files->items[i], 1).is_readable)
            return cli_fail(adding->command, "'%s' is not an executable or shared library for "
                            "this machine", files->items[i]);
    }
    return CLI_OK;
}

/* ---- The description ---------------------------------------------------------------------------
 */

/* Descriptor numbers are part of a program's behavior, so this file gets a high one, which leaves
 * the program's own numbers unchanged. */
static int open_memory(void)
{
    enum { LEAST = 200 };
    int made = memfd_create("probity-arguments", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int high = made >= 0 ? fcntl(made, F_DUPFD, LEAST) : -1;

    if (made >= 0 && high < 0)
        high = dup(made);
    if (made >= 0)
        close(made);
    return high;
}

static int put(const struct cli_command *command, const uint8_t *bytes, size_t count,
               int descriptor)
{
    size_t done = 0;

    while (done < count) {
        ssize_t more = write(descriptor, bytes + done, count - done);
        if (more < 0 && errno != EINTR)
            return cli_fail(command, "cannot describe arguments: %s", strerror(errno));
        done += more > 0 ? (size_t)more : 0;
    }
    return CLI_OK;
}

static void report(const struct adding *adding)
{
    if (adding->described > 0)
        return;
    if (adding->functions == 0)
        cli_warn(adding->command, "no arguments: no function matches --args or --returns in the "
                 "program and its shared libraries; name others with --args-in");
    else if (adding->undescribed[0] != '\0')
        cli_warn(adding->command, "no arguments for functions in '%s': %s", adding->undescribed,
                 adding->is_unused
                     ? "its debugging information is not used"
                     : "it has no debugging information for them; compile it with -g");
    else
        cli_warn(adding->command, "no arguments: the functions that match have none that can be "
                 "shown");
}

static int describe(struct adding *adding, const struct cli_arguments *arguments,
                    const char *program, int descriptor)
{
    char path[PATH_MAX];
    size_t count;

    if (cli_program_find(program, path)) {
        add(adding, path, 1);
        add_libraries(adding, path);
    }
    int status = add_files(adding, &arguments->files);
    if (status != CLI_OK)
        return status;
    report(adding);
    if (adding->described == 0)
        return CLI_OK;
    uint8_t *bytes = symbols_arguments_bytes(adding->all, &count);
    if (bytes == NULL)
        return cli_fail(adding->command, "cannot describe arguments: out of memory, or too many "
                        "functions match");
    status = put(adding->command, bytes, count, descriptor);
    free(bytes);
    return status;
}

/* Runs in the child. */
static int describe_all(const struct cli_command *command, const struct cli_arguments *arguments,
                        const char *program, int descriptor)
{
    char *rules = rules_of(&arguments->arguments), *of_results = rules_of(&arguments->results);
    struct adding adding = {.command = command, .wanted = {rules, of_results, 0}};

    adding.all = symbols_arguments_new();
    int status = adding.all != NULL
                     ? describe(&adding, arguments, program, descriptor)
                     : cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    if (adding.all != NULL)
        symbols_arguments_release(adding.all);
    free(rules);
    free(of_results);
    return status;
}

static void limit(void)
{
    enum { CPU_SECONDS = 120 };
    const struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS}, core = {0, 0};

    (void)setrlimit(RLIMIT_CORE, &core);
    (void)setrlimit(RLIMIT_CPU, &cpu);
}

/* Makes the description in a child process. Returns its exit status. */
static int describe_apart(const struct cli_command *command, const struct cli_arguments *arguments,
                          const char *program, int descriptor)
{
    int status;

    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        limit();
        status = describe_all(command, arguments, program, descriptor);
        fflush(NULL);
        _exit(status);
    }
    if (child < 0)
        return cli_fail(command, "cannot describe arguments: %s", strerror(errno));
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return cli_fail(command, "cannot describe arguments: %s", strerror(errno));
    }
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    cli_warn(command, "no arguments: the debugging information of '%s', its libraries or the "
                      "files of --args-in is damaged, or takes too long to read", program);
    return ftruncate(descriptor, 0) == 0 ? CLI_OK : CLI_FAILURE;
}

int cli_arguments_describe(const struct cli_command *command,
                           const struct cli_arguments *arguments, const char *program,
                           int *ret_descriptor)
{
    enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE };
    struct stat made;

    *ret_descriptor = -1;
    if (arguments->arguments.count + arguments->results.count == 0)
        return CLI_OK;
    int descriptor = open_memory();
    if (descriptor < 0)
        return cli_fail(command, "cannot describe arguments: %s", strerror(errno));
    int status = describe_apart(command, arguments, program, descriptor);
    if (status == CLI_OK && (fstat(descriptor, &made) != 0 ||
                             (made.st_size > 0 && fcntl(descriptor, F_ADD_SEALS, SEALS) != 0)))
        status = cli_fail(command, "cannot describe arguments: %s", strerror(errno));
    if (status == CLI_OK && made.st_size > 0)
        *ret_descriptor = descriptor;
    else
        close(descriptor);
    return status;
}

void cli_arguments_release(struct cli_arguments *arguments)
{
    cli_patterns_release(&arguments->arguments);
    cli_patterns_release(&arguments->results);
    cli_patterns_release(&arguments->files);
}
