/* SPDX-License-Identifier: MIT
 *
 * message.c: prints to stderr: messages, and a progress line while a command reads.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/place.h"
#include "print/text.h"
#include "probity.h"

/* As requested for this process. */
static int is_quiet;

/* ---- Progress ----------------------------------------------------------------------------------
 */

enum { PROGRESS_AFTER_MS = 1000, PROGRESS_EVERY_MS = 200 };

/* State of the process's progress line. */
static struct {
    int64_t start_ms, last_ms;
    int is_shown, has_pass;
    int has_begun; /* whether the current pass has begun */
    double base, share, latest; /* start and share of the current pass, and the position reached; 1:
                                 * everything */
    unsigned expected;          /* number of passes after the current one */
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

void cli_progress_expect_more(void)
{
    double share = progress.has_pass ? progress.share : 1;
    double done = share > 0 ? (progress.latest - progress.base) / share : 1;

    progress.expected++;
    progress.has_pass = 1;
    progress.share = (1 - progress.latest) / (1 - done + progress.expected);
    progress.base = progress.latest - progress.share * done;
}

void cli_progress_pass(void)
{
    progress.base = progress.latest =
        progress.base + (progress.has_pass && progress.has_begun ? progress.share : 0);
    progress.share = (1 - progress.base) / (progress.expected + 1);
    progress.has_pass = 1;
    progress.has_begun = 0;
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

    progress.has_begun = 1;
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

/* ---- Messages ----------------------------------------------------------------------------------
 */

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

/* Prints a single line, on which scripts and logs can rely. Erases an unfinished progress line
 * first. */
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
