/* SPDX-License-Identifier: MIT
 *
 * threads_columns.c: the figures of a thread. Times are ns, first and last in CLOCK_REALTIME.
 */
#include "answers/threads/threads_columns.h"

static const struct probity_threads_sums *sums_of(const void *row)
{
    return ((const struct probity_threads_row *)row)->sums;
}

static struct probity_cell first(const void *row)
{
    return probity_cell_count(sums_of(row)->first_ns);
}

static struct probity_cell last(const void *row)
{
    return probity_cell_count(sums_of(row)->last_ns);
}

static struct probity_cell lifetime(const void *row)
{
    return probity_cell_count(sums_of(row)->last_ns - sums_of(row)->first_ns);
}

static struct probity_cell inside(const void *row)
{
    return probity_cell_count(sums_of(row)->inside_ns);
}

static struct probity_cell if_cpu_known(const struct probity_threads_row *row, uint64_t ns)
{
    return row->is_cpu_known ? probity_cell_count(ns) : probity_cell_unknown();
}

static struct probity_cell cpu(const void *row)
{
    return if_cpu_known(row, sums_of(row)->cpu_ns);
}

static struct probity_cell off_cpu(const void *row)
{
    return if_cpu_known(row, sums_of(row)->off_ns);
}

static struct probity_cell cpu_share(const void *row)
{
    uint64_t all_ns = ((const struct probity_threads_row *)row)->all_cpu_ns;

    return all_ns > 0 ? probity_cell_fraction((double)sums_of(row)->cpu_ns / (double)all_ns)
                      : probity_cell_unknown();
}

static struct probity_cell records(const void *row)
{
    return probity_cell_count(sums_of(row)->records);
}

static struct probity_cell hits(const void *row)
{
    return probity_cell_count(sums_of(row)->hits);
}

static struct probity_cell scopes(const void *row)
{
    return probity_cell_count(sums_of(row)->scopes);
}

const struct probity_column probity_threads_columns[PROBITY_THREADS_COLUMNS] = {
    {"first_ns", first},     {"last_ns", last},   {"lifetime_ns", lifetime},
    {"inside_ns", inside},   {"cpu_ns", cpu},     {"off_cpu_ns", off_cpu},
    {"cpu_share", cpu_share}, {"records", records}, {"hits", hits},
    {"scopes", scopes}};
