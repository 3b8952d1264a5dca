/* SPDX-License-Identifier: MIT
 *
 * patterns.c: a list of patterns, with a mark for each that has matched.
 */
#include "cli/patterns.h"

#include <stdlib.h>

#include "base/array_grow.h"
#include "cli/filter.h"
#include "probity.h"

int cli_patterns_add(const struct cli_command *command, struct cli_patterns *patterns,
                     const char *text)
{
    size_t count = patterns->count;
    const char **items = probity_array_append(patterns->items, sizeof *items, count + 1);

    if (items == NULL)
        return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    patterns->items = items; /* one more than patterns, since NULL ends the list */
    int *is_found = probity_array_append(patterns->is_found, sizeof *is_found, count);
    if (is_found == NULL)
        return cli_fail(command, "%s", probity_error_text(PROBITY_ERROR_MEMORY));
    patterns->is_found = is_found;
    items[count] = text;
    items[count + 1] = NULL;
    is_found[count] = 0;
    patterns->count = count + 1;
    return CLI_OK;
}

int cli_patterns_match(struct cli_patterns *patterns, const char *name, const char *signature)
{
    int is_like = patterns->count == 0;

    for (size_t i = 0; i < patterns->count; i++) {
        if (!cli_function_is_like(patterns->items[i], name, signature))
            continue;
        patterns->is_found[i] = 1;
        is_like = 1;
    }
    return is_like;
}

const char *cli_patterns_idle(const struct cli_patterns *patterns)
{
    for (size_t i = 0; i < patterns->count; i++) {
        if (!patterns->is_found[i])
            return patterns->items[i];
    }
    return NULL;
}

void cli_patterns_release(struct cli_patterns *patterns)
{
    free(patterns->items);
    free(patterns->is_found);
    *patterns = (struct cli_patterns){NULL, NULL, 0};
}
