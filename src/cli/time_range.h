/* SPDX-License-Identifier: MIT
 *
 * time_range.h: option values that are times: moments of a recording, and ranges between two.
 */
#ifndef PROBITY_CLI_TIME_RANGE_H
#define PROBITY_CLI_TIME_RANGE_H

#include "cli/cli.h"

#define CLI_TIME_HELP                                                                              \
    "seconds since the start, a time with a unit such as 5ms, -1s from the end, 50%, a date such " \
    "as 2026-01-31T12:00:00, or @SECONDS since 1970"

/* A recording, in ns of CLOCK_REALTIME. */
struct cli_time_span {
    uint64_t start_ns, end_ns; /* end_ns: 1 ns after the last record, or start_ns */
};

/* From the earliest start of the traces to their last record. */
struct cli_time_span cli_time_span_of(const struct probity_reader *reader);

/* Parses a time to CLOCK_REALTIME in ns, exactly: "1.5", "20ms", "-1s", "50%",
 * "@1700000000.5", "2026-01-31", "2026-01-31T12:00[:00.5][Z|+01:00]"; a date without a zone is in
 * local time. Returns 0 or -1. */
int cli_parse_time(const char *text, const struct cli_time_span *span, uint64_t *ret_ns);

/* Parses "1.5" or "20ms" to ns. Returns 0 or -1. */
int cli_parse_duration(const char *text, uint64_t *ret_ns);

/* The values of --since and --until. */
struct cli_range {
    const char *from, *to; /* NULL: unbounded */
};

/* Sets 0 for a missing bound. Returns CLI_OK, or CLI_USAGE if a time is invalid or the range is
 * empty. */
int cli_parse_range(const struct cli_command *command, const struct cli_range *range,
                    const struct probity_reader *reader, uint64_t *ret_from_ns,
                    uint64_t *ret_to_ns);

/* Warns if a range (0: unbounded) ends before the recording begins or begins after it ends. */
void cli_warn_outside(const struct cli_command *command, const struct probity_reader *reader,
                      uint64_t from_ns, uint64_t to_ns);

#endif
