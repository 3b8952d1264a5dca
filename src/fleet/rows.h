/* SPDX-License-Identifier: MIT
 *
 * rows.h: turns the events of a trace into the rows of doc/fleet.md, in blocks. The same trace
 * always gives the same blocks. Memory: one block of each table, and the sums of one minute, of
 * which there are at most 4,096. Does no I/O.
 */
#ifndef PROBITY_FLEET_ROWS_H
#define PROBITY_FLEET_ROWS_H

#include "analysis/histogram.h"
#include "analysis/scopes.h"
#include "fleet/batch.h"
#include "fleet/output.h"
#include "fleet/run.h"
#include "reader/reader.h"

enum {
    PROBITY_FLEET_BLOCK_ROWS = 100000,
    PROBITY_FLEET_SUMS_MAX = 4096
};

struct probity_fleet_rows_options {
    uint64_t run;
    uint64_t started_ns; /* time when recording began */
    size_t block_rows;
    enum probity_fleet_detail detail;
    int has_cpu;   /* CPU times are known */
    probity_fleet_take *take;
    probity_fleet_known *known; /* NULL: nothing was sent before */
    void *context;
};

struct probity_fleet_rows;

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_fleet_rows_open(const struct probity_fleet_rows_options *options,
                            struct probity_fleet_rows **ret_rows);

/* Takes the next event in time order. Returns 0, MEMORY, or the result of `take`. */
int probity_fleet_rows_put(struct probity_fleet_rows *rows, const struct probity_event *event);

/* Takes the counts of profile mode, after the last event. Returns the same. */
int probity_fleet_rows_profiled(struct probity_fleet_rows *rows,
                                const struct probity_profiled *profiled);

/* Writes rows with bytes of the trace. Returns the same. */
struct probity_fleet_piece {
    uint64_t place; /* offset in the trace */
    uint32_t type;  /* type of the block that these bytes are; 0: not a block */
    uint32_t thread, records; /* for a block of type DATA */
    const uint8_t *bytes;
    size_t count;
};
int probity_fleet_rows_piece(struct probity_fleet_rows *rows,
                             const struct probity_fleet_piece *piece);

/* Ends all blocks here, for a trace that is being recorded. Returns the same. */
int probity_fleet_rows_flush(struct probity_fleet_rows *rows);

/* Passes on the remaining rows. Returns the same. */
int probity_fleet_rows_finish(struct probity_fleet_rows *rows);

/* Call after finish. */
const struct probity_scopes_repairs *probity_fleet_rows_repairs(
    const struct probity_fleet_rows *rows);

/* Return the number of blocks and rows of a table so far. */
uint32_t probity_fleet_rows_blocks(const struct probity_fleet_rows *rows,
                                   enum probity_fleet_table_number table);
uint64_t probity_fleet_rows_count(const struct probity_fleet_rows *rows,
                                  enum probity_fleet_table_number table);

void probity_fleet_rows_close(struct probity_fleet_rows *rows);

#endif
