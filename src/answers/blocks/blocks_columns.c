/* SPDX-License-Identifier: MIT
 *
 * blocks_columns.c: columns of a block.
 */
#include "answers/blocks/blocks_columns.h"

#include "answers/blocks/blocks.h"

static const struct probity_blocks_pair *pair_of(const void *row)
{
    return ((const struct probity_blocks_row *)row)->pair;
}

#define COLUMN(NAME, FROM) PROBITY_COLUMN(NAME, count, struct probity_blocks_row, FROM)
#define VALUE(NAME, KEY) COLUMN(NAME, probity_blocks_value(row->pair, KEY))

COLUMN(calls, row->pair->calls)
COLUMN(wall, row->pair->wall_ns)
VALUE(least, PROBITY_BLOCKS_MIN)
VALUE(mean, PROBITY_BLOCKS_MEAN)
VALUE(p50, PROBITY_BLOCKS_P50)
VALUE(p90, PROBITY_BLOCKS_P90)
VALUE(p99, PROBITY_BLOCKS_P99)
VALUE(most, PROBITY_BLOCKS_MAX)

static struct probity_cell probability(const void *row)
{
    uint64_t millionths = probity_blocks_value(pair_of(row), PROBITY_BLOCKS_PROBABILITY);

    return probity_cell_fraction((double)millionths / 1e6);
}

static struct probity_cell cpu(const void *row)
{
    return pair_of(row)->cpu_calls > 0 ? probity_cell_count(pair_of(row)->cpu_ns)
                                       : probity_cell_unknown();
}

static struct probity_cell off_cpu(const void *row)
{
    return pair_of(row)->cpu_calls > 0
               ? probity_cell_count(probity_blocks_value(pair_of(row), PROBITY_BLOCKS_OFF))
               : probity_cell_unknown();
}

const struct probity_column probity_blocks_columns[PROBITY_BLOCKS_COLUMNS] = {
    {"calls", calls},   {"probability", probability}, {"wall_ns", wall}, {"cpu_ns", cpu},
    {"off_cpu_ns", off_cpu}, {"min_ns", least},       {"mean_ns", mean}, {"p50_ns", p50},
    {"p90_ns", p90},    {"p99_ns", p99},              {"max_ns", most}};

static int correct(const void *row, struct probity_corrected *ret_corrected)
{
    const struct probity_blocks_row *block = row;

    return probity_blocks_corrected(block->pair, block->reader, ret_corrected);
}

static struct probity_cell corrected(const void *row)
{
    struct probity_corrected wall_time;

    return correct(row, &wall_time) ? probity_cell_count(wall_time.ns) : probity_cell_unknown();
}

static struct probity_cell error(const void *row)
{
    struct probity_corrected wall_time;

    return correct(row, &wall_time) ? probity_cell_count(wall_time.error_ns)
                                    : probity_cell_unknown();
}

const struct probity_column probity_blocks_corrected_columns[PROBITY_BLOCKS_CORRECTED_COLUMNS] = {
    {"wall_corrected_ns", corrected}, {"wall_error_ns", error}};
