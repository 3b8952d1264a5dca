/* SPDX-License-Identifier: MIT
 *
 * output_stream.h: prints an answer to standard output or a file.
 */
#ifndef PROBITY_CLI_OUTPUT_STREAM_H
#define PROBITY_CLI_OUTPUT_STREAM_H

#include <stdio.h>

#include "cli/cli.h"

/* Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE; the caller also checks the stream for
 * errors. */
typedef int cli_printer(void *context, FILE *stream, int has_color);

/* In the order of the choices of --color. */
enum cli_color { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER };

/* For --color. */
void cli_color_use(enum cli_color color);

/* Whether text written to an open file has colors. */
int cli_has_color(int descriptor);

/* path NULL or "-": standard output. Returns CLI_OK, or CLI_FAILURE after reporting why. */
int cli_print_answer(const struct cli_command *command, const char *path, int force,
                     cli_printer *print, void *context);

/* Width of the terminal to which an answer is printed; 0 if it is not a terminal. out: NULL for
 * standard output. */
size_t cli_line_columns(const char *out);

#endif
