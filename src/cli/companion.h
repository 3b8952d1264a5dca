/* SPDX-License-Identifier: MIT
 *
 * companion.h: opens a file named like a trace plus a suffix: its index or its thread states.
 */
#ifndef PROBITY_CLI_COMPANION_H
#define PROBITY_CLI_COMPANION_H

#include "reader/range.h"

/* The file's name; malloc'ed, or NULL. */
char *cli_companion_name(const char *trace, const char *suffix);

/* Opens a regular file that belongs to the owner of the trace or to the caller: a file of another
 * user could hide records of the trace or change how it is shown. Returns 0, or -1. */
int cli_companion_open(const char *trace, const char *suffix, const struct probity_range *range,
                       struct probity_range *ret_companion);

#endif
