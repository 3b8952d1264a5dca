/* SPDX-License-Identifier: MIT
 *
 * filter.h: option values: lists of numbers and names, and numbers.
 */
#ifndef PROBITY_CLI_FILTER_H
#define PROBITY_CLI_FILTER_H

#include "cli/cli.h"
#include "cli/suggest.h"

struct cli_filter_item {
    uint64_t number;
    const char *name; /* NULL for a number */
    size_t name_bytes;
    int is_seen;
    struct cli_nearest nearest; /* the name most similar to this item, until this item is seen */
};

enum { CLI_FILTER_REFUSED = 64 }; /* a power of two */

/* Sorted, numbers first. If empty, everything passes. */
struct cli_filter {
    struct cli_filter_item *items;
    size_t count, numbers;
    const char *refused[CLI_FILTER_REFUSED]; /* names that were compared, identified by address */
};

/* Adds the items of a list such as "1,2,name". The text must stay valid. Returns CLI_OK or
 * CLI_USAGE. */
int cli_filter_parse(const struct cli_command *command, struct cli_filter *filter, const char *text,
                     int allow_names);

/* Whether a number (UINT64_MAX: none) or name (or NULL) passes; marks it as seen. */
int cli_filter_passes(struct cli_filter *filter, uint64_t number, const char *name,
                      size_t name_bytes);

/* Marks thread ids as seen that a trace has outside the range. */
void cli_filter_see_tids(struct cli_filter *filter, const struct probity_reader *reader);

/* Reports, on one line, requested items that were never seen. Returns whether there were any. */
int cli_filter_warn_unseen(const struct cli_command *command, const struct cli_filter *filter,
                           const char *noun);

/* Makes a copy with no items seen. Returns 0 or PROBITY_ERROR_MEMORY. */
int cli_filter_copy(const struct cli_filter *filter, struct cli_filter *ret_copy);

/* Marks items as seen if a copy has seen them. */
void cli_filter_see(struct cli_filter *filter, const struct cli_filter *copy);

void cli_filter_release(struct cli_filter *filter);

/* Whether a shell pattern matches a function's name, its name with its classes, or its signature
 * (or ""): 1 or 0. */
int cli_function_matches(const char *pattern, const char *name, const char *signature);

/* The same, called once for each function and by one thread: remembers the name most similar to the
 * pattern. */
int cli_function_is_like(const char *pattern, const char *name, const char *signature);

/* Earlier results for the same pattern. All zero: none. */
struct cli_function_memo {
    struct {
        const struct probity_function *function;
        int matches;
    } items[64];
};

/* The same as cli_function_matches() for a function of a reader, always with the same pattern: for
 * commands that check every call. */
int cli_function_memo_matches(struct cli_function_memo *memo, const char *pattern,
                              const struct probity_function *function);

enum { CLI_FUNCTION_PATTERNS = 8 }; /* more get no suggestion */

/* Returns the name of a function that is similar to a pattern but did not match, or NULL. */
const char *cli_function_nearest(const char *pattern);

/* Reports that --function PATTERN matches no call. Returns CLI_FAILURE. */
int cli_fail_function(const struct cli_command *command, const char *pattern);

/* Parses a decimal integer in the range least to most. Returns 0 or -1. */
int cli_parse_number(const char *text, size_t least, size_t most, size_t *ret_number);

/* Largest valid value of --limit. */
enum { CLI_LIMIT_MAX = 999999999 };

#endif
