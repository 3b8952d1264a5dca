/* SPDX-License-Identifier: MIT
 *
 * waits_columns.c: columns of a row. Times are ns.
 */
#include "answers/waits/waits_columns.h"

static const struct probity_waiting_row *row_of(const void *row)
{
    return row;
}

static struct probity_cell waits(const void *row)
{
    return probity_cell_count(row_of(row)->durations.count);
}

static struct probity_cell not_ended(const void *row)
{
    return probity_cell_count(row_of(row)->open);
}

static struct probity_cell given_up(const void *row)
{
    return probity_cell_count(row_of(row)->given_up);
}

static struct probity_cell waiters(const void *row)
{
    return probity_cell_count(row_of(row)->waiter_count);
}

static struct probity_cell total(const void *row)
{
    return probity_cell_count(row_of(row)->durations.total_ns);
}

static struct probity_cell known(const void *row)
{
    return probity_cell_count(row_of(row)->known_ns);
}

static struct probity_cell min(const void *row)
{
    return probity_cell_count(row_of(row)->durations.min_ns);
}

static struct probity_cell mean(const void *row)
{
    return probity_cell_count(
        (uint64_t)probity_duration_stats_mean(&row_of(row)->durations));
}

static struct probity_cell quantile(const void *row, unsigned per_mille)
{
    return probity_cell_count(
        probity_duration_stats_quantile(&row_of(row)->durations, per_mille));
}

static struct probity_cell p50(const void *row)
{
    return quantile(row, 500);
}

static struct probity_cell p90(const void *row)
{
    return quantile(row, 900);
}

static struct probity_cell p99(const void *row)
{
    return quantile(row, 990);
}

static struct probity_cell max(const void *row)
{
    return probity_cell_count(row_of(row)->durations.max_ns);
}

static struct probity_cell holders(const void *row)
{
    return probity_cell_count(row_of(row)->holder_count);
}

const struct probity_column probity_waits_columns[PROBITY_WAITS_COLUMNS] = {
    {"waits", waits},     {"open", not_ended},       {"given_up", given_up}, {"waiters", waiters},
    {"holders", holders}, {"total_ns", total},  {"held_ns", known},     {"min_ns", min},
    {"mean_ns", mean},    {"p50_ns", p50},      {"p90_ns", p90},        {"p99_ns", p99},
    {"max_ns", max}};
