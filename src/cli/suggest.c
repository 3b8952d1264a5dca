/* SPDX-License-Identifier: MIT
 *
 * suggest.c: compares words by the number of letters that were added, left out, replaced, or
 * swapped with their neighbors.
 */
#include "cli/suggest.h"

#include <string.h>

enum { WORD_MAX = CLI_SUGGEST_BYTES };

void cli_suggest_begin(struct cli_suggestion *suggestion, const char *word, size_t length)
{
    /* One error per three letters; shorter words resemble too many others. */
    *suggestion = (struct cli_suggestion){word, length, length / 3 + 1, NULL};
    if (length > WORD_MAX || length < 2)
        suggestion->least = 0;
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* rows[0] is the current row, for the first i letters of a; the others are the previous rows. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];

    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        memcpy(rows[2], rows[1], sizeof rows[1]);
        memcpy(rows[1], rows[0], sizeof rows[0]);
        rows[0][0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t cost = a[i - 1] != b[j - 1];
            rows[0][j] = least_of(least_of(rows[1][j], rows[0][j - 1]) + 1, rows[1][j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                rows[0][j] = least_of(rows[0][j], rows[2][j - 2] + 1);
        }
    }
    return rows[0][b_length];
}

void cli_suggest_take(struct cli_suggestion *suggestion, const char *candidate)
{
    size_t length = strlen(candidate);

    if (length > WORD_MAX || suggestion->least == 0)
        return;
    size_t errors = distance(suggestion->word, suggestion->length, candidate, length);
    if (errors >= suggestion->least + (suggestion->best == NULL))
        return;
    suggestion->least = errors;
    suggestion->best = candidate;
}

static int is_before(const char *name, size_t bytes, const char *other)
{
    int order = strncmp(name, other, bytes);

    return order < 0 || (order == 0 && other[bytes] != '\0');
}

void cli_nearest_take(struct cli_nearest *nearest, const char *word, size_t length,
                      const char *candidate, size_t bytes)
{
    struct cli_suggestion suggestion;

    cli_suggest_begin(&suggestion, word, length);
    if (bytes > WORD_MAX || suggestion.least == 0)
        return;
    size_t errors = distance(word, length, candidate, bytes);
    if (errors > suggestion.least)
        return;
    /* Of equally similar words, chooses the first by name, so that the order of candidates does not
     * matter. */
    if (nearest->best[0] != '\0' &&
        (errors > nearest->errors ||
         (errors == nearest->errors && !is_before(candidate, bytes, nearest->best))))
        return;
    nearest->errors = errors;
    memcpy(nearest->best, candidate, bytes);
    nearest->best[bytes] = '\0';
}
