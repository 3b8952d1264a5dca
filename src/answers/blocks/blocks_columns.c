/* SPDX-License-Identifier: MIT
 *
 * blocks_columns.c: the figures of a block.
 */
#include "answers/blocks/blocks_columns.h"

#include "answers/blocks/blocks_cost.h"

static const struct probity_blocks_pair *pair_of(const void *row)
{
    return ((const struct probity_blocks_row *)row)->pair;
}

static struct probity_cell value(const void *row, enum probity_blocks_key key)
{
    return probity_cell_count(probity_blocks_value(pair_of(row), key));
}

static struct probity_cell calls(const void *row)
{
    return probity_cell_count(pair_of(row)->calls);
}

static struct probity_cell probability(const void *row)
{
    uint64_t millionths = probity_blocks_value(pair_of(row), PROBITY_BLOCKS_PROBABILITY);

    return probity_cell_fraction((double)millionths / 1e6);
}

static struct probity_cell wall(const void *row)
{
    return probity_cell_count(pair_of(row)->wall_ns);
}

static struct probity_cell cpu(const void *row)
{
    return pair_of(row)->cpu_calls > 0 ? probity_cell_count(pair_of(row)->cpu_ns)
                                       : probity_cell_unknown();
}

static struct probity_cell off_cpu(const void *row)
{
    return pair_of(row)->cpu_calls > 0 ? value(row, PROBITY_BLOCKS_OFF) : probity_cell_unknown();
}

static struct probity_cell least(const void *row)
{
    return value(row, PROBITY_BLOCKS_MIN);
}

static struct probity_cell mean(const void *row)
{
    return value(row, PROBITY_BLOCKS_MEAN);
}

static struct probity_cell p50(const void *row)
{
    return value(row, PROBITY_BLOCKS_P50);
}

static struct probity_cell p90(const void *row)
{
    return value(row, PROBITY_BLOCKS_P90);
}

static struct probity_cell p99(const void *row)
{
    return value(row, PROBITY_BLOCKS_P99);
}

static struct probity_cell most(const void *row)
{
    return value(row, PROBITY_BLOCKS_MAX);
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
