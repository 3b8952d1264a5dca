/* SPDX-License-Identifier: MIT
 *
 * printed.h: an answer that is printed into standard output or a file.
 */
#ifndef PROBITY_CLI_PRINTED_H
#define PROBITY_CLI_PRINTED_H

#include <stdio.h>

#include "cli/cli.h"

/* Returns 0, PROBITY_ERROR_MEMORY or PROBITY_ERROR_WRITE; errors of writing may stay in the
 * stream. */
typedef int cli_printer(void *context, FILE *stream, int has_colour);

/* path NULL or "-": standard output. Returns CLI_OK, or CLI_FAILURE and says why. */
int cli_print_answer(const struct cli_command *command, const char *path, int force,
                     cli_printer *print, void *context);

/* Columns of the terminal that an answer goes to: out is NULL, standard output. 0 without one. */
size_t cli_line_columns(const char *out);

#endif
