/* SPDX-License-Identifier: MIT
 *
 * output.h: collects rows by table, and divides them into blocks as described in doc/fleet.md
 * ("Blocks"). Does no I/O: blocks go to a callback.
 */
#ifndef PROBITY_FLEET_OUTPUT_H
#define PROBITY_FLEET_OUTPUT_H

#include "fleet/batch.h"

enum { PROBITY_FLEET_BLOCK_ROWS_MAX = 200000, PROBITY_FLEET_BLOCK_BYTES = 10000000 };

/* Takes rows; block: the number of their block, for tables that are divided into blocks. Returns 0,
 * or an error, which is final. */
typedef int probity_fleet_take(void *context, const struct probity_fleet_batch *batch,
                               enum probity_fleet_table_number table, uint32_t block);

/* Returns the number of rows that a block had when it was sent, or 0 if it was not sent. */
typedef uint64_t probity_fleet_known(void *context, enum probity_fleet_table_number table,
                                     uint32_t block);

struct probity_fleet_output {
    size_t block_rows;          /* maximum number of rows of blocks that were not sent before */
    probity_fleet_take *take;
    probity_fleet_known *known; /* NULL: nothing was sent before */
    void *context;
    int error;                  /* the first error; nothing is passed on after it */
    struct probity_fleet_batch batches[PROBITY_FLEET_TABLES];
    uint32_t blocks[PROBITY_FLEET_TABLES]; /* number of the current block */
    uint64_t rows[PROBITY_FLEET_TABLES];   /* number of rows in the blocks before it */
    struct probity_fleet_limit {
        size_t rows;   /* maximum number of rows in the block */
        int is_known;  /* the block was sent with that size before */
        uint64_t day;
    } limits[PROBITY_FLEET_TABLES];
};

/* Initializes the tables. The caller has set the first four members, and the others to 0. */
void probity_fleet_output_init(struct probity_fleet_output *output);

/* Ends the current block of a table if it is full, or of another day, and returns the batch for the
 * next row, whose block is output->blocks[table]. Only for tables that are divided into blocks.
 * *day: days since 1970, limited to the range of a column. */
struct probity_fleet_batch *probity_fleet_output_row(struct probity_fleet_output *output,
                                                     enum probity_fleet_table_number table,
                                                     uint64_t *day);

/* pass: passes on the rows of a table that is not divided into blocks. pass_large: only if they
 * exceed the limit of bytes. */
void probity_fleet_output_pass(struct probity_fleet_output *output,
                               enum probity_fleet_table_number table);
void probity_fleet_output_pass_large(struct probity_fleet_output *output,
                                     enum probity_fleet_table_number table);

/* end: ends all blocks. flush: ends all except those that were longer when they were sent
 * before. */
void probity_fleet_output_end(struct probity_fleet_output *output);
void probity_fleet_output_flush(struct probity_fleet_output *output);

/* Stores the first error. */
void probity_fleet_output_fail(struct probity_fleet_output *output, int error);

void probity_fleet_output_release(struct probity_fleet_output *output);

#endif
