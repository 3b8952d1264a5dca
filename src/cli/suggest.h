/* SPDX-License-Identifier: MIT
 *
 * suggest.h: finds the word that a mistyped one probably meant.
 */
#ifndef PROBITY_CLI_SUGGEST_H
#define PROBITY_CLI_SUGGEST_H

#include <stddef.h>

enum { CLI_SUGGEST_BYTES = 32 };

struct cli_suggestion {
    const char *word; /* as typed */
    size_t length, least;
    const char *best; /* best candidate so far, if similar enough, or NULL */
};

/* The same for candidates that do not stay in memory: `best` is a copy, or empty. All zero: no
 * candidate yet. */
struct cli_nearest {
    size_t errors;
    char best[CLI_SUGGEST_BYTES + 1];
};

void cli_suggest_begin(struct cli_suggestion *suggestion, const char *word, size_t length);
void cli_suggest_take(struct cli_suggestion *suggestion, const char *candidate);

void cli_nearest_take(struct cli_nearest *nearest, const char *word, size_t length,
                      const char *candidate, size_t bytes);

#endif
