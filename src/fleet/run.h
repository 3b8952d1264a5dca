/* SPDX-License-Identifier: MIT
 *
 * run.h: what is known about a run, as a row of probity_runs and back. Does no I/O.
 */
#ifndef PROBITY_FLEET_RUN_H
#define PROBITY_FLEET_RUN_H

#include "analysis/scopes.h"
#include "fleet/answer.h"
#include "fleet/batch.h"
#include "reader/reader.h"

/* What probity_runs has beside the facts of the trace. */
struct probity_fleet_run {
    uint64_t run, version;
    int is_finished, has_calls;
    uint32_t block_rows;
    uint64_t minutes_rows, calls_rows;
    struct probity_scopes_repairs repairs;
};

void probity_fleet_run_put(struct probity_fleet_batch *batch, const struct probity_fleet_run *run,
                           const struct probity_trace_facts *facts);

/* Reads a row. Texts of the facts point into the answer; the path is malloc'ed: "HOST:PATH".
 * Returns 0, MEMORY, or PROBITY_ERROR_FORMAT if it is not a row of a run. */
int probity_fleet_run_get(struct probity_fleet_answer *answer, struct probity_fleet_run *ret_run,
                          struct probity_trace_facts *ret_facts);

#endif
