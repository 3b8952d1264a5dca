/* SPDX-License-Identifier: MIT
 *
 * query_lanes.h: reads traces in two lanes (src/reader/lanes.h): two threads each read and analyze
 * the records of half of the traced threads, and the two parts of the answer are joined at the end.
 */
#ifndef PROBITY_CLI_QUERY_LANES_H
#define PROBITY_CLI_QUERY_LANES_H

#include "cli/query.h"

struct cli_query_lanes {
    void *parts[2];
    struct probity_reader *other; /* reader of the second lane: the answer may refer to its
                                   * functions */
};

/* Whether a command's answer may be made in two lanes; called before its traces are opened. */
int cli_query_lanes_use(const struct cli_query *answer);

/* Reads all events. Returns 1 with both parts, 0 if nothing was read because one lane is better, an
 * error, or PROBITY_QUERY_AGAIN if the events turned out to require a single reader: the caller
 * then opens the traces again. */
int cli_query_lanes_read(struct cli_query *answer, struct probity_reader *reader,
                         struct cli_query_lanes *ret_lanes);

/* Adds the parts to the answer, which is open. Returns 0 or an error. */
int cli_query_lanes_join(struct cli_query *answer, struct cli_query_lanes *lanes);

/* Call after the answer was printed. */
void cli_query_lanes_release(struct cli_query *answer, struct cli_query_lanes *lanes);

/* Differs from all error codes of the reader. */
enum { PROBITY_QUERY_AGAIN = 2 };

#endif
