/* SPDX-License-Identifier: MIT
 *
 * sums_sql.c: writes the statements. Both ways to sum calls have the same columns: function, run,
 * thread, then those of `sum_names` and the histogram.
 */
#include <inttypes.h>

#include "fleet/open_sums.h"
#include "fleet/schema.h"
#include "fleet/sums.h"

#define MINUTE_NS PROBITY_FLEET_MINUTE_NS
#define HOUR_NS (60 * MINUTE_NS)
#define DAY_NS PROBITY_FLEET_DAY_NS

static const char *const sum_names[] = {
    "calls", "untimed", "repaired", "open", "entries", "counted", "profiled", "total_ns",
    "total_cpu_ns", "self_ns", "self_cpu_ns", "paused_ns", "paused_cpu_ns", "sum_ns"};

enum { SUMS = sizeof sum_names / sizeof *sum_names };

int probity_fleet_is_of_minutes(const struct probity_fleet_range *range)
{
    int is_total = range->measure == 0 || range->measure == PROBITY_REPORT_TOTAL;

    return is_total && range->from_ns % MINUTE_NS == 0 && range->to_ns % MINUTE_NS == 0;
}

/* ---- Conditions --------------------------------------------------------------------------------
 */

static void put_list(FILE *stream, const char *column, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s%s%" PRIu64, i > 0 ? ", " : column, i > 0 ? "" : " IN (", numbers[i]);
    fputc(')', stream);
}

/* Writes the condition on runs. A run has no calls outside its own time; the extra minute allows
 * for differences between clocks. */
static void put_runs(FILE *stream, const struct probity_fleet_range *range)
{
    struct probity_fleet_choice choice = range->choice;

    if (range->chosen != NULL) {
        put_list(stream, "run", choice.run != 0 ? &choice.run : range->chosen,
                 choice.run != 0 ? 1 : range->chosen_count);
        return;
    }
    choice.from_ns = range->from_ns > MINUTE_NS ? range->from_ns - MINUTE_NS : 0;
    choice.to_ns = range->to_ns > 0 && range->to_ns < UINT64_MAX - MINUTE_NS
                       ? range->to_ns + MINUTE_NS
                       : 0;
    fputs("run IN (", stream);
    probity_fleet_sql_run_numbers(stream, &choice);
    fputc(')', stream);
}

static void put_numbers(FILE *stream, const char *column, const uint64_t *numbers, size_t count)
{
    if (numbers == NULL)
        return;
    fputs(" AND ", stream);
    put_list(stream, column, numbers, count);
}

/* Writes the condition on days. The day of a call is that of its end, or later, so it only excludes
 * days before the range. */
static void put_day(FILE *stream, const struct probity_fleet_range *range)
{
    if (range->from_ns > 0)
        fprintf(stream, " AND day >= toDate(%" PRIu64 ")", range->from_ns / DAY_NS);
}

void probity_fleet_sql_condition(FILE *stream, const struct probity_fleet_range *range,
                                 const char *moment, uint64_t unit_ns)
{
    put_runs(stream, range);
    put_numbers(stream, "run", range->runs, range->run_count);
    put_numbers(stream, "function", range->functions, range->function_count);
    put_day(stream, range);
    if (range->from_ns > 0)
        fprintf(stream, " AND %s >= %" PRIu64, moment, range->from_ns / unit_ns);
    if (range->to_ns > 0)
        fprintf(stream, " AND %s < %" PRIu64, moment, range->to_ns / unit_ns);
}

/* The same for rows of calls, which are sorted by at_ns: start_ns or a little earlier. */
static void put_calls_condition(FILE *stream, const struct probity_fleet_range *range)
{
    probity_fleet_sql_condition(stream, range, "start_ns", 1);
    if (range->from_ns >= PROBITY_FLEET_SINCE_MAX)
        fprintf(stream, " AND at_ns > %" PRIu64, range->from_ns - PROBITY_FLEET_SINCE_MAX);
    if (range->to_ns > 0)
        fprintf(stream, " AND at_ns < %" PRIu64, range->to_ns);
}

/* ---- Sums --------------------------------------------------------------------------------------
 */

static void put_group(FILE *stream, const struct probity_fleet_range *range)
{
    static const char *const groups[] = {
        [PROBITY_FLEET_OF_ALL] = " GROUP BY function",
        [PROBITY_FLEET_OF_RUN] = " GROUP BY function, run",
        [PROBITY_FLEET_OF_THREAD] = " GROUP BY function, run, thread"};

    fputs(groups[range->group], stream);
}

static void put_keys(FILE *stream, const struct probity_fleet_range *range)
{
    static const char *const keys[] = {
        [PROBITY_FLEET_OF_ALL] = "SELECT function, toUInt64(0), toUInt32(0)",
        [PROBITY_FLEET_OF_RUN] = "SELECT function, run, toUInt32(0)",
        [PROBITY_FLEET_OF_THREAD] = "SELECT function, run, thread"};

    fputs(keys[range->group], stream);
}

static void put_sums(FILE *stream)
{
    for (size_t i = 0; i < SUMS; i++)
        fprintf(stream, ", sum(%s)", sum_names[i]);
    fputs(", max(least), min(min_ns), max(max_ns), sumMap(buckets, counts)", stream);
}

/* Whether the rows of hours suffice: there are far fewer of them. */
static int is_of_hours(const struct probity_fleet_range *range)
{
    return range->has_hours && range->group != PROBITY_FLEET_OF_THREAD &&
           probity_fleet_is_of_minutes(range) && range->from_ns % HOUR_NS == 0 &&
           range->to_ns % HOUR_NS == 0;
}

static void put_minutes(FILE *stream, const struct probity_fleet_range *range)
{
    put_keys(stream, range);
    put_sums(stream);
    if (is_of_hours(range)) {
        fprintf(stream, " FROM %s WHERE ", probity_fleet_tables[PROBITY_FLEET_HOURS].name);
        probity_fleet_sql_condition(stream, range, "toUnixTimestamp(hour)", UINT64_C(1000000000));
        put_group(stream, range);
        return;
    }
    fprintf(stream, " FROM %s WHERE ", probity_fleet_tables[PROBITY_FLEET_MINUTES].name);
    probity_fleet_sql_condition(stream, range, "toUnixTimestamp(minute)", UINT64_C(1000000000));
    put_group(stream, range);
}

/* The columns of a row of minutes, computed from one call. CPU times count only if its run has them
 * (has_cpu). */
static const char call_columns[] =
    "SELECT function, run, thread, "
    "bitAnd(flags, 16) != 0 AS is_untimed, bitAnd(flags, 7) AS how, "
    "is_untimed = 0 AND how IN (1, 4) AS is_ended, "
    "is_untimed = 0 AND bitAnd(flags, 8) = 0 AS is_outer, "
    "run IN (SELECT run FROM probity_runs WHERE bitAnd(flags, 1) = 1) AS has_cpu, "
    "toUInt64(is_untimed) AS untimed_, "
    "toUInt64(bitAnd(flags, 32) = 0 AND how != 1 AND how != 4) AS repaired_, "
    "toUInt64(is_untimed = 0 AND how = 3) AS open_, toUInt64(bitAnd(flags, 32) != 0) AS entries_, "
    "is_outer * total_ns AS total_, is_outer * has_cpu * (total_ns - off_ns) AS total_cpu_, "
    "(1 - is_untimed) * (total_ns - children_ns) AS self_, "
    "(1 - is_untimed) * has_cpu * (total_ns - off_ns - (children_ns - children_off_ns)) "
    "AS self_cpu_, "
    "(1 - is_untimed) * paused_ns AS paused_, (1 - is_untimed) * paused_cpu_ns AS paused_cpu_, ";

/* The logarithm of a large number is not exact, so it is corrected to that of the highest bit that
 * is set. */
const char probity_fleet_bucket_columns[] =
    "toUInt8(floor(log2(greatest(duration, 128)))) AS near, "
    "toUInt8(near - (bitShiftLeft(toUInt64(1), near) > duration AND near > 7)"
    " + (near < 63 AND bitShiftLeft(toUInt64(1), near + 1) <= duration) - 7) AS shift, "
    "toUInt16(if(duration < 128, duration, shift * 128 + bitShiftRight(duration, shift))) "
    "AS bucket, ";

/* Returns the expression for the duration of a call. Time off the CPU is never below 0. */
static const char *duration_of(enum probity_report_key measure)
{
    switch (measure) {
    case PROBITY_REPORT_SELF: return "total_ns - children_ns";
    case PROBITY_REPORT_CPU_TOTAL: return "total_ns - off_ns";
    case PROBITY_REPORT_CPU_SELF:
        return "total_ns - off_ns - (children_ns - children_off_ns)";
    case PROBITY_REPORT_OFF_TOTAL: return "if(off_ns > 0, off_ns, 0)";
    case PROBITY_REPORT_OFF_SELF:
        return "if(off_ns > children_off_ns, off_ns - children_off_ns, 0)";
    default: return "total_ns";
    }
}

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
    fprintf(stream, "%s%stoUInt64(%s) AS duration FROM %s WHERE ", call_columns,
            probity_fleet_bucket_columns, duration_of(range->measure),
            probity_fleet_tables[PROBITY_FLEET_CALLS].name);
    put_calls_condition(stream, range);
    fputs(") GROUP BY function, run, thread, bucket)", stream);
    put_group(stream, range);
}

void probity_fleet_sql_sums(FILE *stream, const struct probity_fleet_range *range)
{
    if (probity_fleet_is_of_minutes(range))
        put_minutes(stream, range);
    else
        put_calls(stream, range);
}

void probity_fleet_sql_repairs(FILE *stream, const struct probity_fleet_range *range)
{
    struct probity_fleet_range all = *range;
    int is_of_minutes = probity_fleet_is_of_minutes(range);

    all.functions = NULL;
    if (is_of_minutes)
        fputs("SELECT sum(repaired), sum(open)", stream);
    else
        fputs("SELECT toUInt64(countIf(bitAnd(flags, 32) = 0 AND bitAnd(flags, 7) NOT IN (1, 4))), "
              "toUInt64(countIf(bitAnd(flags, 16) = 0 AND bitAnd(flags, 7) = 3))", stream);
    fprintf(stream, " FROM %s WHERE ",
            probity_fleet_tables[is_of_minutes ? PROBITY_FLEET_MINUTES : PROBITY_FLEET_CALLS].name);
    if (is_of_minutes)
        probity_fleet_sql_condition(stream, &all, "toUnixTimestamp(minute)", UINT64_C(1000000000));
    else
        put_calls_condition(stream, &all);
}

void probity_fleet_sql_counts(FILE *stream, const struct probity_fleet_range *range)
{
    fprintf(stream, "SELECT run, uniqExact(function) FROM %s WHERE ",
            probity_fleet_tables[PROBITY_FLEET_MINUTES].name);
    put_runs(stream, range);
    fprintf(stream, " AND function IN (SELECT function FROM %s WHERE declared = 1) GROUP BY run",
            probity_fleet_tables[PROBITY_FLEET_FUNCTIONS].name);
}

/* ---- Functions and threads ---------------------------------------------------------------------
 */

void probity_fleet_sql_functions(FILE *stream, const struct probity_fleet_range *range)
{
    fprintf(stream, "SELECT function, any(declared), any(name), any(signature), any(file), "
            "any(object), any(returns), any(line), any(level) FROM %s",
            probity_fleet_tables[PROBITY_FLEET_FUNCTIONS].name);
    if (!range->of_any_run) {
        fprintf(stream, " WHERE function IN (SELECT function FROM %s WHERE ",
                probity_fleet_tables[range->has_hours ? PROBITY_FLEET_HOURS
                                                      : PROBITY_FLEET_MINUTES].name);
        put_runs(stream, range);
        put_day(stream, range);
        fputc(')', stream);
    }
    fputs(" GROUP BY function", stream);
}

void probity_fleet_sql_threads(FILE *stream, const struct probity_fleet_range *range)
{
    fprintf(stream, "SELECT run, thread, argMax(tid, version), argMax(pid, version), "
            "argMax(name, version) FROM %s WHERE ",
            probity_fleet_tables[PROBITY_FLEET_THREADS].name);
    put_runs(stream, range);
    fputs(" GROUP BY run, thread", stream);
}

/* A moment counts if it is in the range and was recorded: all beginnings are recorded, ends only if
 * the call ended by its leave. */
void probity_fleet_sql_spans(FILE *stream, const struct probity_fleet_range *range)
{
    uint64_t to_ns = range->to_ns > 0 ? range->to_ns : UINT64_MAX;

    fprintf(stream, "SELECT run, thread, toUInt64(countIf(is_begun)), "
            "min(least(if(is_begun, start_ns, toUInt64(-1)), if(is_left, end_ns, toUInt64(-1)))), "
            "max(greatest(if(is_begun, start_ns, toUInt64(0)), if(is_left, end_ns, toUInt64(0)))), "
            "toUInt64(sumIf(end_ns - start_ns, is_begun AND depth = 0)), max(paused_ns > 0) "
            "FROM (SELECT run, thread, depth, paused_ns, start_ns, "
            "start_ns + total_ns + paused_ns AS end_ns, "
            "start_ns >= %" PRIu64 " AND start_ns < %" PRIu64 " AS is_begun, "
            "bitAnd(flags, 55) IN (1, 4) AND end_ns >= %" PRIu64 " AND end_ns < %" PRIu64
            " AS is_left FROM %s WHERE ", range->from_ns, to_ns, range->from_ns, to_ns,
            probity_fleet_tables[PROBITY_FLEET_CALLS].name);
    put_runs(stream, range);
    put_day(stream, range);
    if (range->to_ns > 0)
        fprintf(stream, " AND at_ns < %" PRIu64, range->to_ns);
    fputs(") WHERE is_begun OR is_left GROUP BY run, thread", stream);
}
