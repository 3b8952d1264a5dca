/* SPDX-License-Identifier: MIT
 *
 * overhead.c: computes slowdowns from pairs of runs. Averages the logarithms of ratios, so that
 * twice as slow and twice as fast cancel out.
 */
#include "answers/overhead/overhead.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/signed_rank.h"
#include "probity.h"

static double time_of(const struct probity_overhead_run *run, enum probity_overhead_time which)
{
    return (double)(which == PROBITY_OVERHEAD_WALL ? run->wall_ns : run->user_ns + run->system_ns);
}

static uint64_t records_of(const struct probity_overhead_run *run)
{
    return run->calls > 0 ? run->calls : run->records;
}

static int add_ratio(const struct probity_overhead_pair *pairs, size_t count,
                     enum probity_overhead_time which, double *values,
                     struct probity_overhead_times *times)
{
    struct probity_shift log_ratio;

    times->has_ratio = 1;
    for (size_t i = 0; i < count; i++) {
        double off = time_of(&pairs[i].off, which), on = time_of(&pairs[i].on, which);
        times->has_ratio &= off > 0 && on > 0;
        values[i] = times->has_ratio ? log(on / off) : 0;
    }
    if (!times->has_ratio)
        return 0;
    int error = probity_signed_rank_estimate(values, count, PROBITY_OVERHEAD_CONFIDENCE,
                                             &log_ratio);
    if (error == 0)
        times->ratio = (struct probity_shift){expm1(log_ratio.estimate), expm1(log_ratio.low),
                                              expm1(log_ratio.high), log_ratio.has_interval};
    return error;
}

static int compare_times(const struct probity_overhead_pair *pairs, size_t count,
                         enum probity_overhead_time which, double *values,
                         struct probity_overhead_times *times)
{
    for (size_t i = 0; i < count; i++)
        values[i] = time_of(&pairs[i].off, which);
    times->off_ns = probity_median(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = time_of(&pairs[i].on, which);
    times->on_ns = probity_median(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = time_of(&pairs[i].on, which) - time_of(&pairs[i].off, which);
    int error =
        probity_signed_rank_estimate(values, count, PROBITY_OVERHEAD_CONFIDENCE, &times->added);
    return error != 0 ? error : add_ratio(pairs, count, which, values, times);
}

static void count_records(const struct probity_overhead_pair *pairs, size_t count, double *values,
                          struct probity_overhead *overhead)
{
    overhead->records_least = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct probity_overhead_run *on = &pairs[i].on;
        uint64_t records = records_of(on);
        values[i] = (double)records;
        overhead->records_least =
            records < overhead->records_least ? records : overhead->records_least;
        overhead->records_most =
            records > overhead->records_most ? records : overhead->records_most;
        overhead->lost += on->lost;
        overhead->incomplete += on->incomplete;
        overhead->traces += on->traces;
    }
    overhead->records = probity_median(values, count);
}

/* Computes the time to start and end a recording, per process. */
static int compare_starts(const struct probity_overhead_pair *pairs, size_t count, double *values,
                          struct probity_overhead_start *start)
{
    int error = 0;

    start->is_known = 1;
    for (size_t i = 0; i < count; i++) {
        values[i] = (double)pairs[i].idle.traces;
        start->is_known &= pairs[i].idle.traces > 0;
    }
    if (!start->is_known)
        return 0;
    start->processes = probity_median(values, count);
    for (int which = 0; error == 0 && which < PROBITY_OVERHEAD_TIMES; which++) {
        for (size_t i = 0; i < count; i++)
            values[i] = (time_of(&pairs[i].idle, which) - time_of(&pairs[i].off, which)) /
                        (double)pairs[i].idle.traces;
        error = probity_signed_rank_estimate(values, count, PROBITY_OVERHEAD_CONFIDENCE,
                                             &start->added[which]);
    }
    return error;
}

/* Divides the difference not explained by starts by the number of records. */
static int compare_records(const struct probity_overhead_pair *pairs, size_t count, double *values,
                           struct probity_overhead *overhead)
{
    overhead->has_record = overhead->start.is_known;
    for (size_t i = 0; overhead->has_record && i < count; i++) {
        const struct probity_overhead_pair *pair = &pairs[i];
        uint64_t records = records_of(&pair->on);
        double off = time_of(&pair->off, PROBITY_OVERHEAD_CPU);
        double starts = (time_of(&pair->idle, PROBITY_OVERHEAD_CPU) - off) *
                        (double)pair->on.traces / (double)pair->idle.traces;
        values[i] =
            (time_of(&pair->on, PROBITY_OVERHEAD_CPU) - off - starts) / (double)records;
        overhead->has_record = records / PROBITY_OVERHEAD_RECORDS_MIN >= pair->on.traces;
    }
    return overhead->has_record ? probity_signed_rank_estimate(values, count,
                                                               PROBITY_OVERHEAD_CONFIDENCE,
                                                               &overhead->record)
                                : 0;
}

int probity_overhead_of(const struct probity_overhead_pair *pairs, size_t count,
                        struct probity_overhead *ret_overhead)
{
    struct probity_overhead overhead = {0};
    double *values = calloc(count, sizeof *values);
    int error = values != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (int which = 0; error == 0 && which < PROBITY_OVERHEAD_TIMES; which++)
        error = compare_times(pairs, count, which, values, &overhead.times[which]);
    if (error == 0)
        error = compare_starts(pairs, count, values, &overhead.start);
    if (error == 0)
        error = compare_records(pairs, count, values, &overhead);
    if (error == 0)
        count_records(pairs, count, values, &overhead);
    free(values);
    if (error == 0)
        *ret_overhead = overhead;
    return error;
}

