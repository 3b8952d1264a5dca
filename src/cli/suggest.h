/* SPDX-License-Identifier: MIT
 *
 * suggest.h: finds what a mistyped word was probably meant to be.
 */
#ifndef PROBITY_CLI_SUGGEST_H
#define PROBITY_CLI_SUGGEST_H

#include <stddef.h>

struct cli_suggestion {
    const char *word; /* as typed */
    size_t length, least;
    const char *best; /* of the candidates so far, if one is similar enough; or NULL */
};

void cli_suggest_begin(struct cli_suggestion *suggestion, const char *word, size_t length);
void cli_suggest_take(struct cli_suggestion *suggestion, const char *candidate);

#endif
