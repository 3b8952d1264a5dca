/* SPDX-License-Identifier: MIT
 *
 * threads_columns.c: columns of a thread. Times are ns, first and last in CLOCK_REALTIME.
 */
#include "answers/threads/threads_columns.h"

static const struct probity_threads_sums *sums_of(const void *row)
{
    return ((const struct probity_threads_row *)row)->sums;
}

#define COLUMN(NAME, FROM) PROBITY_COLUMN(NAME, count, struct probity_threads_row, FROM)

COLUMN(first, row->sums->first_ns)
COLUMN(last, row->sums->last_ns)
COLUMN(lifetime, row->sums->last_ns - row->sums->first_ns)
COLUMN(inside, row->sums->inside_ns)
COLUMN(scopes, row->sums->scopes)

static struct probity_cell if_all_known(const struct probity_threads_sums *sums, uint64_t count)
{
    return sums->has_calls_only ? probity_cell_unknown() : probity_cell_count(count);
}

static struct probity_cell records(const void *row)
{
    return if_all_known(sums_of(row), sums_of(row)->records);
}

static struct probity_cell hits(const void *row)
{
    return if_all_known(sums_of(row), sums_of(row)->hits);
}

static struct probity_cell if_cpu_known(const struct probity_threads_row *row, uint64_t ns)
{
    return row->is_cpu_known ? if_all_known(row->sums, ns) : probity_cell_unknown();
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

const struct probity_column probity_threads_columns[PROBITY_THREADS_COLUMNS] = {
    {"first_ns", first},     {"last_ns", last},   {"lifetime_ns", lifetime},
    {"inside_ns", inside},   {"cpu_ns", cpu},     {"off_cpu_ns", off_cpu},
    {"cpu_share", cpu_share}, {"records", records}, {"hits", hits},
    {"scopes", scopes}};

/* ---- States ------------------------------------------------------------------------------------
 */

static struct probity_cell state_time(const void *row, uint32_t state)
{
    const struct probity_threads_sums *sums = sums_of(row);

    return sums->has_states ? probity_cell_count(sums->states.ns[state]) : probity_cell_unknown();
}

static struct probity_cell state_share(const void *row, uint32_t state)
{
    const struct probity_threads_sums *sums = sums_of(row);
    double share = probity_threads_state_share(sums, state);

    return share >= 0 ? probity_cell_fraction(share) : probity_cell_unknown();
}

double probity_threads_state_share(const struct probity_threads_sums *sums, uint32_t state)
{
    uint64_t all_ns = 0;

    for (size_t i = 0; i < PROBITY_STATES; i++)
        all_ns += sums->states.ns[i];
    return sums->has_states && all_ns > 0 ? (double)sums->states.ns[state] / (double)all_ns : -1;
}

static struct probity_cell running(const void *row)
{
    return state_time(row, PROBITY_STATE_RUNNING);
}

static struct probity_cell runnable(const void *row)
{
    return state_time(row, PROBITY_STATE_RUNNABLE);
}

static struct probity_cell blocked(const void *row)
{
    return state_time(row, PROBITY_STATE_BLOCKED);
}

static struct probity_cell unknown(const void *row)
{
    return state_time(row, PROBITY_STATE_UNKNOWN);
}

static struct probity_cell running_share(const void *row)
{
    return state_share(row, PROBITY_STATE_RUNNING);
}

static struct probity_cell runnable_share(const void *row)
{
    return state_share(row, PROBITY_STATE_RUNNABLE);
}

static struct probity_cell blocked_share(const void *row)
{
    return state_share(row, PROBITY_STATE_BLOCKED);
}

const struct probity_column probity_threads_states[PROBITY_THREADS_STATES] = {
    {"running_ns", running},       {"waiting_ns", runnable},          {"blocked_ns", blocked},
    {"unknown_ns", unknown},       {"running_share", running_share},
    {"waiting_share", runnable_share}, {"blocked_share", blocked_share}};
