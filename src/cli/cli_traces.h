/* SPDX-License-Identifier: MIT
 *
 * cli_traces.h: finds the traces that match a name pattern, with any values for %p and %n, and with
 * the process id that the library inserts if the name is taken or a child records.
 */
#ifndef PROBITY_CLI_CLI_TRACES_H
#define PROBITY_CLI_CLI_TRACES_H

#include <stddef.h>

struct cli_names {
    char **items; /* sorted paths */
    size_t count;
};

/* Makes a pattern absolute, for PROBITY_OUT and PROBITY_DUMP; percent signs in the working
 * directory are doubled. malloc'ed; NULL with errno set on failure. */
char *cli_absolute_pattern(const char *pattern);

/* Finds the files whose names the library may have made from a pattern (%p and %n are expanded in
 * the file name, not in the directory). Returns 0 or PROBITY_ERROR_MEMORY. */
int cli_names_find(const char *pattern, struct cli_names *ret_names);

/* Splits a pattern of dumps, an absolute path: *ret_directory is its directory, with %n the name of
 * the program; *ret_name a pattern for fnmatch() with any %n, %p and %i. Both malloc'ed; NULL if
 * out of memory. */
void cli_dumps_where(const char *pattern, const char *program, char **ret_directory,
                     char **ret_name);

/* The default pattern of dumps, which are next to the trace with this pattern. malloc'ed, or
 * NULL. */
char *cli_dumps_beside(const char *trace_pattern);

void cli_names_release(struct cli_names *names);

#endif
