/* SPDX-License-Identifier: MIT
 *
 * memory_columns.c: columns of a row. Bytes are those that the program requested.
 */
#include "answers/memory/memory_columns.h"

#include "answers/memory/memory.h"

#define COLUMN(FIELD)                                                                              \
    static struct probity_cell FIELD(const void *row)                                              \
    {                                                                                              \
        return probity_cell_count(((const struct probity_memory_sums *)row)->FIELD);               \
    }

COLUMN(allocations)
COLUMN(bytes)
COLUMN(frees)
COLUMN(live_blocks)
COLUMN(live_bytes)
COLUMN(peak_blocks)
COLUMN(peak_bytes)
COLUMN(failed)

static struct probity_cell lifetime(const void *row)
{
    const struct probity_memory_sums *sums = row;

    return sums->frees > 0 ? probity_cell_count(sums->lifetime_ns / sums->frees)
                           : probity_cell_unknown();
}

const struct probity_column probity_memory_columns[PROBITY_MEMORY_COLUMNS] = {
    {"allocations", allocations}, {"bytes", bytes},             {"frees", frees},
    {"live_blocks", live_blocks}, {"live_bytes", live_bytes},   {"peak_blocks", peak_blocks},
    {"peak_bytes", peak_bytes},   {"failed", failed},           {"lifetime_mean_ns", lifetime}};
