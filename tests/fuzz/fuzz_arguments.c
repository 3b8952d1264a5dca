/* SPDX-License-Identifier: MIT
 *
 * fuzz_arguments.c: arbitrary command lines of all commands that neither run a program nor affect a
 * process, on an arbitrary trace.
 *
 * An input is one line per argument, an empty line, and the trace, whose path replaces a lone `%`.
 * Slashes become spaces, so that all files are written to a temporary directory.
 */
#define main probity_main
#include "cli/main.c"
#undef main

#include <ftw.h>
#include <sys/stat.h>

#include "fuzz/target.h"

enum { ARGUMENTS_MAX = 24 };

const int target_ways = 0;

static const char *const refused[] = {"record", "level", "overhead", "recover"};

static struct {
    int before, directory; /* descriptors of directories */
    char name[512];
} place;

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    if (walk->level > 0 && strcmp(path + walk->base, ".probity") != 0)
        remove(path);
    return 0;
}

static void remove_files(void)
{
    nftw(place.name, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_place(void)
{
    remove_files();
    unlinkat(place.directory, ".probity", AT_REMOVEDIR);
    rmdir(place.name);
}

/* Has a .probity, so that parent directories are not searched. */
static void make_place(void)
{
    int nowhere = open("/dev/null", O_WRONLY);

    target_directory_name(place.name, sizeof place.name, "arguments");
    place.before = open(".", O_RDONLY | O_DIRECTORY);
    mkdir(place.name, 0700);
    place.directory = open(place.name, O_RDONLY | O_DIRECTORY);
    if (place.before < 0 || place.directory < 0 || nowhere < 0 ||
        mkdirat(place.directory, ".probity", 0700) != 0 || dup2(nowhere, 1) < 0)
        abort();
    atexit(remove_place);
    unsetenv("PROBITY_PROJECT");
    opterr = 0;
}

static void write_trace(const uint8_t *bytes, size_t size)
{
    int file = openat(place.directory, "trace", O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (file < 0 || write(file, bytes, size) != (ssize_t)size)
        abort();
    close(file);
}

/* Each argument is a separate allocation, so that reads past its end are detected. Returns the part
 * after the empty line. */
static const uint8_t *take_arguments(const uint8_t *at, const uint8_t *end, char **arguments,
                                     int *count)
{
    while (at < end && *at != '\n') {
        const uint8_t *line = memchr(at, '\n', (size_t)(end - at));
        size_t bytes = (size_t)((line != NULL ? line : end) - at);
        if (*count < ARGUMENTS_MAX) {
            char *text = strndup((const char *)at, bytes);
            for (char *slash = text; (slash = strchr(slash, '/')) != NULL;)
                *slash = ' ';
            if (strcmp(text, "%") == 0) {
                free(text);
                text = strdup("trace");
            }
            arguments[(*count)++] = text;
        }
        at += bytes + (line != NULL);
    }
    return at < end ? at + 1 : end;
}

static int is_refused(const char *command)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (strcmp(command, refused[i]) == 0)
            return 1;
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t trace[TARGET_BYTES_MAX];
    char *arguments[ARGUMENTS_MAX + 2] = {strdup("probity")}, *taken[ARGUMENTS_MAX + 2];
    int count = 1;

    if (place.before == 0)
        make_place();
    const uint8_t *rest = take_arguments(data, data + size, arguments, &count);
    size_t bytes = (size_t)(data + size - rest);
    if (count > 1 && !is_refused(arguments[1]) && bytes <= sizeof trace) {
        memcpy(trace, rest, bytes);
        target_fix_checksums(trace, bytes);
        write_trace(trace, bytes);
        memcpy(taken, arguments, sizeof taken); /* getopt permutes them */
        optind = 0;
        if (fchdir(place.directory) != 0)
            abort();
        int status = run(count, taken);
        if (status < CLI_OK || status > CLI_DAMAGED || fchdir(place.before) != 0)
            abort();
        fflush(stdout);
        clearerr(stdout);
        remove_files();
    }
    while (count > 0)
        free(arguments[--count]);
    return 0;
}
