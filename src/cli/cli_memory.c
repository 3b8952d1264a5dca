/* SPDX-License-Identifier: MIT
 *
 * cli_memory.c: ends a command that runs out of memory for a part of an answer (JSON, a signature),
 * since nobody would notice that the part is missing.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"

void cli_memory_end(void)
{
    fputs("probity: out of memory\n", stderr);
    exit(CLI_FAILURE);
}

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);

    if (memory == NULL && bytes > 0)
        cli_memory_end();
    return memory;
}

void cli_memory_init(void)
{
    json_set_alloc_funcs(allocate, free);
}
