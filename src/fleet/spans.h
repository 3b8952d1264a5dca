/* SPDX-License-Identifier: MIT
 *
 * spans.h: statements that query spans between probes, and the conversion of their replies into the
 * answer of `probity blocks`. Does no I/O.
 */
#ifndef PROBITY_FLEET_SPANS_H
#define PROBITY_FLEET_SPANS_H

#include "answers/blocks/blocks.h"
#include "fleet/sums.h"

/* Which spans to select. */
struct probity_fleet_spans {
    const struct probity_fleet_range *range; /* with group OF_THREAD: by thread */
    int by_correlation;
    size_t slowest; /* number of spans to list for each pair */
};

/* Whether the per-minute rows suffice. A span counts if both its hits are in the range, which
 * cannot be determined from per-minute rows. */
int probity_fleet_spans_are_of_minutes(const struct probity_fleet_spans *spans);

/* Write the statements for probes, for sums, and for the slowest spans of each pair of probes. */
void probity_fleet_sql_probes(FILE *stream, const struct probity_fleet_spans *spans);
void probity_fleet_sql_spans_sums(FILE *stream, const struct probity_fleet_spans *spans);
void probity_fleet_sql_slowest(FILE *stream, const struct probity_fleet_spans *spans);

/* Probes, by number in the database. */
struct probity_fleet_probes_taken {
    struct probity_hashtable table;
};

/* Take the replies, in this order, after those with threads. Return 0, MEMORY, or
 * PROBITY_ERROR_FORMAT if a reply has another format. The blocks refer to the sums and probes.
 * `blocks`: one for each run if the sums are by run, otherwise one. */
int probity_fleet_take_probes(struct probity_fleet_probes_taken *probes,
                              struct probity_fleet_answer *answer);
int probity_fleet_take_spans_sums(const struct probity_fleet_probes_taken *probes,
                                  const struct probity_fleet_sums *sums,
                                  struct probity_fleet_answer *answer,
                                  struct probity_blocks *const *blocks);
int probity_fleet_take_slowest(const struct probity_fleet_probes_taken *probes,
                               const struct probity_fleet_sums *sums,
                               struct probity_fleet_answer *answer, struct probity_blocks *blocks);

void probity_fleet_probes_taken_release(struct probity_fleet_probes_taken *probes);

#endif
