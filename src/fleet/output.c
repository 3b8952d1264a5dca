/* SPDX-License-Identifier: MIT
 *
 * output.c: the numbers of rows depend only on the order of events. Blocks may end anywhere, but a
 * block that was sent must end at the same row when the trace is read again.
 */
#include "fleet/output.h"

void probity_fleet_output_init(struct probity_fleet_output *output)
{
    for (size_t i = 0; i < PROBITY_FLEET_TABLES; i++)
        output->batches[i].table = &probity_fleet_tables[i];
}

void probity_fleet_output_fail(struct probity_fleet_output *output, int error)
{
    if (output->error == 0)
        output->error = error;
}

static void pass_on(struct probity_fleet_output *output, enum probity_fleet_table_number table,
                    uint32_t block)
{
    struct probity_fleet_batch *batch = &output->batches[table];

    if (batch->rows == 0 || output->error != 0)
        return;
    output->error = batch->error != 0 ? batch->error
                                      : output->take(output->context, batch, table, block);
    probity_fleet_batch_clear(batch);
}

void probity_fleet_output_pass(struct probity_fleet_output *output,
                               enum probity_fleet_table_number table)
{
    pass_on(output, table, 0);
}

void probity_fleet_output_pass_large(struct probity_fleet_output *output,
                                     enum probity_fleet_table_number table)
{
    if (output->batches[table].bytes >= PROBITY_FLEET_BLOCK_BYTES)
        pass_on(output, table, 0);
}

/* Ends a block. Rows that its rows refer to are passed on first. */
static void end_block(struct probity_fleet_output *output, enum probity_fleet_table_number table)
{
    if (output->batches[table].rows == 0)
        return;
    pass_on(output, PROBITY_FLEET_FUNCTIONS, 0);
    pass_on(output, PROBITY_FLEET_THREADS, 0);
    pass_on(output, PROBITY_FLEET_PROBES, 0);
    pass_on(output, PROBITY_FLEET_PATHS, 0);
    output->rows[table] += output->batches[table].rows;
    pass_on(output, table, output->blocks[table]++);
}

/* Starts a block. If the server has it, it keeps its size there, unless that exceeds the
 * maximum. */
static void start_block(struct probity_fleet_output *output,
                        enum probity_fleet_table_number table)
{
    uint64_t known = output->known != NULL
                         ? output->known(output->context, table, output->blocks[table])
                         : 0;
    int is_known = known > 0 && known <= PROBITY_FLEET_BLOCK_ROWS_MAX;

    output->limits[table].rows = is_known ? (size_t)known : output->block_rows;
    output->limits[table].is_known = is_known;
}

struct probity_fleet_batch *probity_fleet_output_row(struct probity_fleet_output *output,
                                                     enum probity_fleet_table_number table,
                                                     uint64_t *day)
{
    struct probity_fleet_batch *batch = &output->batches[table];
    struct probity_fleet_limit *limit = &output->limits[table];

    *day = *day < UINT16_MAX ? *day : UINT16_MAX;
    if (__builtin_expect(batch->rows > 0 && (batch->rows >= limit->rows || limit->day != *day ||
                                             batch->bytes >= PROBITY_FLEET_BLOCK_BYTES), 0))
        end_block(output, table);
    if (__builtin_expect(batch->rows == 0, 0))
        start_block(output, table);
    limit->day = *day;
    return batch;
}

void probity_fleet_output_end(struct probity_fleet_output *output)
{
    for (size_t i = PROBITY_FLEET_MINUTES; i < PROBITY_FLEET_TABLES; i++)
        end_block(output, (enum probity_fleet_table_number)i);
    for (size_t i = PROBITY_FLEET_FUNCTIONS; i < PROBITY_FLEET_MINUTES; i++)
        pass_on(output, (enum probity_fleet_table_number)i, 0);
}

void probity_fleet_output_flush(struct probity_fleet_output *output)
{
    for (size_t i = PROBITY_FLEET_MINUTES; i < PROBITY_FLEET_TABLES; i++) {
        if (!output->limits[i].is_known || output->batches[i].rows == output->limits[i].rows)
            end_block(output, (enum probity_fleet_table_number)i);
    }
}

void probity_fleet_output_release(struct probity_fleet_output *output)
{
    for (size_t i = 0; i < PROBITY_FLEET_TABLES; i++)
        probity_fleet_batch_release(&output->batches[i]);
}
