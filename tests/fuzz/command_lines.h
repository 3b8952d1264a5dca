/* SPDX-License-Identifier: MIT
 *
 * command_lines.h: command lines of a reading command with any options from its table, so that new
 * options are tried without a change here.
 */
#ifndef TESTS_FUZZ_COMMAND_LINES_H
#define TESTS_FUZZ_COMMAND_LINES_H

#include <stdint.h>

#include "cli/cli.h"

enum { LINE_ARGUMENTS_MAX = 40 };

/* Writes "probity COMMAND [OPTION]... OPERAND...", NULL-terminated; equal seeds give equal lines.
 * The strings are valid until the next call. Returns the number of arguments. */
int command_line_make(const struct cli_command *command, uint64_t seed, char *trace,
                      char *ret_arguments[LINE_ARGUMENTS_MAX]);

#endif
