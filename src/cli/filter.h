/* SPDX-License-Identifier: MIT
 *
 * filter.h: option values: lists of numbers and names, numbers, and times.
 */
#ifndef PROBITY_CLI_FILTER_H
#define PROBITY_CLI_FILTER_H

#include "cli/cli.h"

struct cli_filter_item {
    uint64_t number;
    const char *name; /* NULL for a number */
    size_t name_bytes;
    int is_seen;
};

/* Sorted, numbers first. If empty, everything passes. */
struct cli_filter {
    struct cli_filter_item *items;
    size_t count, numbers;
};

/* Adds the items of "1,2,name". The text must stay valid. Returns CLI_OK or CLI_USAGE. */
int cli_filter_parse(const struct cli_command *command, struct cli_filter *filter, const char *text,
                     int allow_names);

/* Whether a number (UINT64_MAX: none) or name (or NULL) passes; remembers that it was seen. */
int cli_filter_passes(struct cli_filter *filter, uint64_t number, const char *name,
                      size_t name_bytes);

/* Reports requested items that were never seen on one line. Returns whether there were any. */
int cli_filter_warn_unseen(const struct cli_command *command, const struct cli_filter *filter,
                           const char *noun);

void cli_filter_release(struct cli_filter *filter);

/* Whether a shell pattern matches a function's name, its name with its classes, or its signature
 * (or ""): 1 or 0. */
int cli_function_matches(const char *pattern, const char *name, const char *signature);

/* Parses a decimal integer from least to most. Returns 0 or -1. */
int cli_parse_number(const char *text, size_t least, size_t most, size_t *ret_number);

/* The maximum of --limit. */
enum { CLI_LIMIT_MAX = 999999999 };

#define CLI_TIME_HELP \
    "seconds since the start, a time with a unit such as 5ms, or @SECONDS since 1970"

/* Parses "1.5", "20ms", "@1700000000.5" to CLOCK_REALTIME in ns, exactly. Returns 0 or -1. */
int cli_parse_time(const char *text, uint64_t start_ns, uint64_t *ret_ns);

/* As given by options. */
struct cli_range {
    const char *from, *to; /* NULL: unbounded */
    int has_since; /* 1: the options are --since and --until */
};

/* 0 for a bound that is not set. Returns CLI_OK, or CLI_USAGE if a time is invalid or the range is
 * empty. */
int cli_parse_range(const struct cli_command *command, const struct cli_range *range,
                    uint64_t start_ns, uint64_t *ret_from_ns, uint64_t *ret_to_ns);

#endif
