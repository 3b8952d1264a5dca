/* SPDX-License-Identifier: MIT
 *
 * cli_memory.c: the end of a command where there is no memory for a part of a JSON answer: what
 * makes such answers would leave the part out, and the rest would look right.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);

    if (memory == NULL && bytes > 0) {
        fputs("probity: not enough memory\n", stderr);
        exit(CLI_FAILURE);
    }
    return memory;
}

void cli_memory_init(void)
{
    json_set_alloc_funcs(allocate, free);
}
