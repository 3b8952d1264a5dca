/* SPDX-License-Identifier: MIT
 *
 * output_stream.c: opens the output, prints to it, and keeps it only if it is complete.
 */
#include "cli/output_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* As requested for this process. */
static enum cli_color wanted;

void cli_color_use(enum cli_color color)
{
    wanted = color;
}

int cli_has_color(int descriptor)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

    if (wanted != CLI_COLOR_AUTO)
        return wanted == CLI_COLOR_ALWAYS;
    return (none == NULL || *none == '\0') && isatty(descriptor) &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

size_t cli_line_columns(const char *out)
{
    struct winsize size;

    if (out == NULL && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        return size.ws_col;
    return 0;
}

/* Standard output is checked when it is closed, the same for all commands. */
static int print_here(cli_printer *print, void *context)
{
    int error = print(context, stdout, cli_has_color(STDOUT_FILENO));

    return error == 0 && ferror(stdout) ? PROBITY_ERROR_WRITE : error;
}

static int print_file(int descriptor, cli_printer *print, void *context)
{
    int copy = dup(descriptor);
    FILE *stream = copy >= 0 ? fdopen(copy, "w") : NULL;
    int error = PROBITY_ERROR_MEMORY;

    if (stream != NULL)
        error = print(context, stream, cli_has_color(descriptor));

    if (error == 0 && ferror(stream))
        error = PROBITY_ERROR_WRITE;
    if (stream != NULL && fclose(stream) != 0 && error == 0)
        error = PROBITY_ERROR_WRITE;
    return error;
}

int cli_print_answer(const struct cli_command *command, const char *path, int force,
                     cli_printer *print, void *context)
{
    int is_file = path != NULL && strcmp(path, "-") != 0;
    struct cli_output output;
    int status = cli_output_open(command, path, force, &output);

    if (status != CLI_OK)
        return status;
    int error = is_file ? print_file(output.descriptor, print, context)
                        : print_here(print, context);
    if (error == PROBITY_ERROR_WRITE && !is_file)
        return CLI_FAILURE;
    if (error == PROBITY_ERROR_WRITE)
        status = cli_fail_trace(command, path, error, errno);
    else if (error != 0)
        status = cli_fail(command, "%s", probity_error_text(error));
    int closed = is_file ? cli_output_close(command, &output, status == CLI_OK) : CLI_OK;
    return status == CLI_OK ? closed : status;
}
