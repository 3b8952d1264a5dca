/* SPDX-License-Identifier: MIT
 *
 * sites.h: converts the sites compiled into a run's program, and the probes that were hit, to rows
 * and back, for `probity list`. Does no I/O.
 */
#ifndef PROBITY_FLEET_SITES_H
#define PROBITY_FLEET_SITES_H

#include "fleet/batch.h"
#include "fleet/sums.h"
#include "reader/reader.h"

/* A row of probity_sites. */
struct probity_fleet_site {
    struct probity_listed_site site; /* kind 0: `hits` sites did not fit in the list */
    int is_listed;
    uint64_t hits; /* for a probe that is not in the list */
};

void probity_fleet_site_put(struct probity_fleet_batch *batch, uint64_t run, uint64_t version,
                            const struct probity_fleet_site *site);

/* Writes the statement for the sites of the selected runs. */
void probity_fleet_sql_sites(FILE *stream, const struct probity_fleet_range *range);

/* Passes on the rows of the reply, whose texts are valid during the call; site.trace is the index
 * of the run. Returns 0, MEMORY, FORMAT, or the result of `take`. */
typedef int probity_fleet_take_site(void *context, const struct probity_fleet_site *site);
int probity_fleet_take_sites(const struct probity_fleet_sums *sums,
                             struct probity_fleet_answer *answer, probity_fleet_take_site *take,
                             void *context);

#endif
