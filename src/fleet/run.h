/* SPDX-License-Identifier: MIT
 *
 * run.h: converts facts about a run to a row of probity_runs and back. Does no I/O.
 */
#ifndef PROBITY_FLEET_RUN_H
#define PROBITY_FLEET_RUN_H

#include "analysis/scopes.h"
#include "fleet/answer.h"
#include "fleet/batch.h"
#include "reader/reader.h"

enum probity_fleet_detail {
    PROBITY_FLEET_DETAIL_SUMMARY,
    PROBITY_FLEET_DETAIL_CALLS, /* also spans and requests */
    PROBITY_FLEET_DETAIL_RECORDS, /* also records */
    PROBITY_FLEET_DETAILS
};

/* Returns "summary", ... */
const char *probity_fleet_detail_name(enum probity_fleet_detail detail);

/* Columns of probity_runs in addition to the facts of the trace. */
struct probity_fleet_run {
    uint64_t run, version;
    int is_finished;
    enum probity_fleet_detail detail;
    uint32_t block_rows;
    uint64_t rows[PROBITY_FLEET_TABLES]; /* of tables divided into blocks; see probity_runs */
    uint64_t sent_ns;
    uint32_t schema; /* version of the tables; rows that later versions added are missing */
    struct probity_scopes_repairs repairs;
};

/* Whether the tables contain everything about the run that they can contain. */
int probity_fleet_run_is_complete(const struct probity_fleet_run *run);

void probity_fleet_run_put(struct probity_fleet_batch *batch, const struct probity_fleet_run *run,
                           const struct probity_trace_facts *facts);

/* Reads a row. Texts of the facts point into the reply; the path is malloc'ed: "HOST:PATH". Returns
 * 0, MEMORY, or PROBITY_ERROR_FORMAT if it is not a row of a run. */
int probity_fleet_run_get(struct probity_fleet_answer *answer, struct probity_fleet_run *ret_run,
                          struct probity_trace_facts *ret_facts);

#endif
