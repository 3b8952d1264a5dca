/* SPDX-License-Identifier: MIT
 *
 * cli_traces.h: which traces a name stands for: with %p and %n filled in by anybody, and with the
 * process id that the library inserts where a name is taken or a child records.
 */
#ifndef PROBITY_CLI_CLI_TRACES_H
#define PROBITY_CLI_CLI_TRACES_H

#include <stddef.h>

struct cli_names {
    char **items; /* paths; sorted */
    size_t count;
};

/* Files whose names the library could have made of a pattern, as they are in the folder (the %p and
 * %n of a folder's name are not looked into). Returns 0 or PROBITY_ERROR_MEMORY. */
int cli_names_find(const char *pattern, struct cli_names *ret_names);

void cli_names_release(struct cli_names *names);

#endif
