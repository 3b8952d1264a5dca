/* SPDX-License-Identifier: MIT
 *
 * sums_sql.c: the statements. Both ways to add up calls have the same columns: function, run,
 * thread, then those of `sum_names` and the histogram.
 */
#include <inttypes.h>

#include "fleet/schema.h"
#include "fleet/sums.h"

#define MINUTE_NS UINT64_C(60000000000)
#define DAY_NS UINT64_C(86400000000000)

static const char *const sum_names[] = {
    "calls", "untimed", "repaired", "open", "entries", "counted", "profiled", "total_ns",
    "total_cpu_ns", "self_ns", "self_cpu_ns", "paused_ns", "paused_cpu_ns", "sum_ns"};

enum { SUMS = sizeof sum_names / sizeof *sum_names };

int probity_fleet_is_whole_minutes(const struct probity_fleet_range *range)
{
    return range->from_ns % MINUTE_NS == 0 && range->to_ns % MINUTE_NS == 0;
}

static void put_runs(FILE *stream, const struct probity_fleet_range *range)
{
    fputs("run IN (", stream);
    probity_fleet_sql_run_numbers(stream, &range->choice);
    fputc(')', stream);
}

/* A call's day is that of its end, or later, so that it excludes days before the range only. */
static void put_condition(FILE *stream, const struct probity_fleet_range *range,
                          const char *moment, uint64_t unit_ns)
{
    put_runs(stream, range);
    if (range->from_ns > 0)
        fprintf(stream, " AND day >= toDate(%" PRIu64 ") AND %s >= %" PRIu64,
                range->from_ns / DAY_NS, moment, range->from_ns / unit_ns);
    if (range->to_ns > 0)
        fprintf(stream, " AND %s < %" PRIu64, moment, range->to_ns / unit_ns);
}

static void put_group(FILE *stream, const struct probity_fleet_range *range)
{
    fputs(range->by_thread ? " GROUP BY function, run, thread" : " GROUP BY function", stream);
}

static void put_keys(FILE *stream, const struct probity_fleet_range *range)
{
    fputs(range->by_thread ? "SELECT function, run, thread"
                           : "SELECT function, toUInt64(0), toUInt32(0)", stream);
}

static void put_sums(FILE *stream)
{
    for (size_t i = 0; i < SUMS; i++)
        fprintf(stream, ", sum(%s)", sum_names[i]);
    fputs(", max(least), min(min_ns), max(max_ns), sumMap(buckets, counts)", stream);
}

static void put_minutes(FILE *stream, const struct probity_fleet_range *range)
{
    put_keys(stream, range);
    put_sums(stream);
    fprintf(stream, " FROM %s WHERE ", probity_fleet_tables[PROBITY_FLEET_MINUTES].name);
    put_condition(stream, range, "toUnixTimestamp(minute)", UINT64_C(1000000000));
    put_group(stream, range);
}

/* Columns of rows of minutes, of one call. CPU times count only if its run has them (has_cpu); the
 * logarithm of a large number is not exact, so it is corrected to the highest bit that is set. */
static const char call_columns[] =
    "SELECT function, run, thread, "
    "bitAnd(flags, 16) != 0 AS is_untimed, bitAnd(flags, 7) AS how, "
    "is_untimed = 0 AND how != 3 AS is_ended, "
    "is_untimed = 0 AND bitAnd(flags, 8) = 0 AS is_outer, "
    "run IN (SELECT run FROM probity_runs WHERE bitAnd(flags, 1) = 1) AS has_cpu, "
    "toUInt8(floor(log2(greatest(total_ns, 128)))) AS near, "
    "toUInt8(near - (bitShiftLeft(toUInt64(1), near) > total_ns AND near > 7)"
    " + (near < 63 AND bitShiftLeft(toUInt64(1), near + 1) <= total_ns) - 7) AS shift, "
    "toUInt16(if(total_ns < 128, total_ns, shift * 128 + bitShiftRight(total_ns, shift))) "
    "AS bucket, "
    "toUInt64(is_untimed) AS untimed_, "
    "toUInt64(bitAnd(flags, 32) = 0 AND how != 1 AND how != 4) AS repaired_, "
    "toUInt64(is_untimed = 0 AND how = 3) AS open_, toUInt64(bitAnd(flags, 32) != 0) AS entries_, "
    "is_outer * total_ns AS total_, is_outer * has_cpu * (total_ns - off_ns) AS total_cpu_, "
    "(1 - is_untimed) * (total_ns - children_ns) AS self_, "
    "(1 - is_untimed) * has_cpu * (total_ns - off_ns - (children_ns - children_off_ns)) "
    "AS self_cpu_, "
    "(1 - is_untimed) * paused_ns AS paused_, (1 - is_untimed) * paused_cpu_ns AS paused_cpu_, "
    "total_ns AS duration";

static void put_calls(FILE *stream, const struct probity_fleet_range *range)
{
    put_keys(stream, range);
    put_sums(stream);
    fputs(" FROM (SELECT function, run, thread, count() AS calls, sum(untimed_) AS untimed, "
          "sum(repaired_) AS repaired, sum(open_) AS open, sum(entries_) AS entries, "
          "toUInt64(0) AS counted, toUInt64(0) AS profiled, toUInt8(0) AS least, "
          "toUInt64(sum(total_)) AS total_ns, toUInt64(sum(total_cpu_)) AS total_cpu_ns, "
          "toUInt64(sum(self_)) AS self_ns, toUInt64(sum(self_cpu_)) AS self_cpu_ns, "
          "toUInt64(sum(paused_)) AS paused_ns, toUInt64(sum(paused_cpu_)) AS paused_cpu_ns, "
          "toUInt64(sumIf(duration, is_ended)) AS sum_ns, "
          "if(countIf(is_ended) > 0, minIf(duration, is_ended), toUInt64(-1)) AS min_ns, "
          "maxIf(duration, is_ended) AS max_ns, "
          "[bucket] AS buckets, [countIf(is_ended)] AS counts FROM (", stream);
    fputs(call_columns, stream);
    fprintf(stream, " FROM %s WHERE ", probity_fleet_tables[PROBITY_FLEET_CALLS].name);
    put_condition(stream, range, "start_ns", 1);
    fputs(") GROUP BY function, run, thread, bucket)", stream);
    put_group(stream, range);
}

void probity_fleet_sql_sums(FILE *stream, const struct probity_fleet_range *range)
{
    if (probity_fleet_is_whole_minutes(range))
        put_minutes(stream, range);
    else
        put_calls(stream, range);
}

void probity_fleet_sql_functions(FILE *stream, const struct probity_fleet_range *range)
{
    fprintf(stream, "SELECT function, any(declared), any(name), any(signature), any(file), "
            "any(object), any(returns), any(line), any(level) FROM %s WHERE function IN "
            "(SELECT function FROM %s WHERE ", probity_fleet_tables[PROBITY_FLEET_FUNCTIONS].name,
            probity_fleet_tables[probity_fleet_is_whole_minutes(range) ? PROBITY_FLEET_MINUTES
                                                                       : PROBITY_FLEET_CALLS].name);
    put_runs(stream, range);
    fputs(") GROUP BY function", stream);
}

void probity_fleet_sql_threads(FILE *stream, const struct probity_fleet_range *range)
{
    fprintf(stream, "SELECT run, thread, argMax(tid, version), argMax(pid, version), "
            "argMax(name, version) FROM %s WHERE ",
            probity_fleet_tables[PROBITY_FLEET_THREADS].name);
    put_runs(stream, range);
    fputs(" GROUP BY run, thread", stream);
}
