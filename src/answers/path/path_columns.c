/* SPDX-License-Identifier: MIT
 *
 * path_columns.c: the columns of a part of a critical path. Times are ns, at_ns in CLOCK_REALTIME.
 */
#include "answers/path/path_columns.h"

static const struct probity_path_row *row_of(const void *row)
{
    return row;
}

static struct probity_cell at(const void *row)
{
    return probity_cell_count(row_of(row)->part->from_ns);
}

static struct probity_cell offset(const void *row)
{
    return probity_cell_count(row_of(row)->part->from_ns - row_of(row)->span->from_ns);
}

static struct probity_cell time(const void *row)
{
    return probity_cell_count(row_of(row)->part->ns);
}

static struct probity_cell share(const void *row)
{
    uint64_t ns = row_of(row)->span->to_ns - row_of(row)->span->from_ns;

    return ns > 0 ? probity_cell_fraction((double)row_of(row)->part->ns / (double)ns)
                  : probity_cell_unknown();
}

static struct probity_cell depth(const void *row)
{
    uint64_t count = 0;

    for (const struct probity_path_link *link = row_of(row)->part->link; link != NULL;
         link = link->outer)
        count++;
    return probity_cell_count(count);
}

const struct probity_column probity_path_columns[PROBITY_PATH_COLUMNS] = {
    {"at_ns", at}, {"offset_ns", offset}, {"ns", time}, {"share", share}, {"depth", depth}};
