/* SPDX-License-Identifier: MIT
 *
 * hits.h: rows of probes, of the spans between their hits, and of hits with correlation ids; see
 * doc/fleet.md. The spans are those of `probity blocks`. Memory: an entry for each pair of
 * successive probes in a thread, for each open id (analysis/inflight.h), and the sums of one
 * minute, of which there are at most 4,096. Does no I/O.
 */
#ifndef PROBITY_FLEET_HITS_H
#define PROBITY_FLEET_HITS_H

#include "analysis/probes.h"
#include "fleet/output.h"
#include "reader/reader.h"

struct probity_fleet_hits_options {
    struct probity_fleet_output *output;
    uint64_t run;
    int has_spans; /* 0: write sums only */
};

struct probity_fleet_hits;

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_fleet_hits_open(const struct probity_fleet_hits_options *options,
                            struct probity_fleet_hits **ret_hits);

/* Takes the next HIT or LOST in time order. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_fleet_hits_put(struct probity_fleet_hits *hits, const struct probity_event *event);

/* Writes the remaining rows. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_fleet_hits_finish(struct probity_fleet_hits *hits);

void probity_fleet_hits_close(struct probity_fleet_hits *hits);

/* Returns the number of a probe. */
uint64_t probity_fleet_probe(const struct probity_probe *probe);

#endif
