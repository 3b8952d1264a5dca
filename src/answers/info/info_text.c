/* SPDX-License-Identifier: MIT
 *
 * info_text.c: the facts of a trace as text.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "analysis/correction.h"
#include "answers/info/info.h"
#include "answers/report/report_text.h"

enum { NAME_COLUMNS = 14 };

static void put_line(FILE *stream, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void put_line(FILE *stream, const char *name, const char *format, ...)
{
    va_list arguments;

    fprintf(stream, "%-*s", NAME_COLUMNS, name);
    va_start(arguments, format);
    vfprintf(stream, format, arguments);
    va_end(arguments);
    fputc('\n', stream);
}

/* Prints a string from the traced program, or several separated by zeros. Unprintable bytes must
 * not reach a terminal. */
static void put_string(FILE *stream, const char *name, const struct probity_text *text)
{
    if (text->bytes == NULL)
        return;
    fprintf(stream, "%-*s", NAME_COLUMNS, name);
    for (size_t at = 0; at < text->length; at++) {
        const char *argument = (const char *)text->bytes + at;
        size_t bytes = strnlen(argument, text->length - at);
        if (at > 0)
            fputc(' ', stream);
        probity_report_put_safe(stream, argument, bytes);
        at += bytes;
    }
    fputc('\n', stream);
}

static void put_strings(FILE *stream, const struct probity_trace_facts *facts, int from, int to)
{
    for (int i = from; i <= to; i++)
        put_string(stream, probity_info_strings[i].title,
                   &facts->info.text[probity_info_strings[i].tag]);
}

/* ---- Columns -----------------------------------------------------------------------------------
 */

static uint64_t process_of(const struct probity_trace_facts *facts, int column)
{
    return probity_info_process[column].cell(facts).count;
}

static uint64_t count_of(const struct probity_trace_facts *facts, int column)
{
    return probity_info_counts[column].cell(facts).count;
}

static struct probity_cell time_of(const struct probity_trace_facts *facts, int column)
{
    return probity_info_times[column].cell(facts);
}

static struct probity_cell budget_of(const struct probity_trace_facts *facts, int column)
{
    return probity_info_budget[column].cell(facts);
}

static void put_count(FILE *stream, const char *name, const struct probity_trace_facts *facts,
                      int column)
{
    put_line(stream, name, "%" PRIu64, count_of(facts, column));
}

/* Prints a time if it is known. */
static void put_time(FILE *stream, const char *name, const struct probity_trace_facts *facts,
                     int column)
{
    struct probity_cell cell = time_of(facts, column);
    char text[PROBITY_INFO_TIME_BYTES];

    if (cell.kind == PROBITY_CELL_COUNT)
        put_line(stream, name, "%s.%09u UTC", probity_info_time_text(cell.count, text),
                 (unsigned)(cell.count % 1000000000));
}

/* ---- Groups of lines ---------------------------------------------------------------------------
 */

static void put_clocks(FILE *stream, const struct probity_trace_facts *facts)
{
    put_line(stream, "clock", "%s, %.6f ns per tick", time_of(facts, PROBITY_INFO_CLOCK).text,
             time_of(facts, PROBITY_INFO_NS_PER_TICK).fraction);
    if (time_of(facts, PROBITY_INFO_WALL_RECORDED).count != 0)
        put_line(stream, "wall time", "accurate to +- %" PRIu64 " ns at its anchors; adjusted %"
                 PRIu64 " times while recording", time_of(facts, PROBITY_INFO_WALL_BOUND).count,
                 time_of(facts, PROBITY_INFO_WALL_STEPS).count);
    else
        put_line(stream, "wall time", "not recorded");
    if (time_of(facts, PROBITY_INFO_CPU_RECORDED).count != 0)
        put_line(stream, "CPU time", "accurate to +- %" PRIu64 " ns; reading the clock costs %"
                 PRIu64 " ns", time_of(facts, PROBITY_INFO_CPU_BOUND).count,
                 time_of(facts, PROBITY_INFO_CPU_CLOCK_COST).count);
    else
        put_line(stream, "CPU time", "not recorded");
    struct probity_cell error = time_of(facts, PROBITY_INFO_CPU_RATE_ERROR);
    if (error.kind == PROBITY_CELL_COUNT)
        put_line(stream, "CPU clock", "cycles at a measured rate, accurate to +- %" PRIu64
                 " millionths", error.count);
}

/* Prints whether clock readings wait for earlier instructions and, if not, how early they may
 * be. */
static void put_order(FILE *stream, const struct probity_trace_facts *facts)
{
    const double unit = 1.0 / PROBITY_COST_UNITS;
    struct probity_costs costs;

    probity_costs_of(facts, &costs);
    if (costs.is_ordered)
        put_line(stream, "clock order", "strict: read after preceding work has finished");
    else if (costs.early == 0)
        put_line(stream, "clock order", "relaxed: may be read before preceding work has finished; "
                 "not measured how early");
    else
        put_line(stream, "clock order", "relaxed: may be read up to %.1f ns before preceding work "
                 "has finished (%.1f ns for floating point and divisions, longer for cache misses)",
                 (double)costs.early * unit, (double)costs.early_slow * unit);
}

static void put_range(FILE *stream, const char *name, struct probity_cost_range range,
                      const char *of_what)
{
    const double unit = 1.0 / PROBITY_COST_UNITS;

    put_line(stream, name, "%.1f to %.1f ns%s", (double)range.least * unit,
             (double)range.most * unit, of_what);
}

/* A line with the same name as the previous one continues it and omits the name. */
static void put_costs(FILE *stream, const struct probity_trace_facts *facts)
{
    static const char *const what[PROBITY_PARTS] = {
        " per hit", " in a scope's self time", " in its caller's",
        " in the self time of a scope with values", " in its caller's", " per message",
        " in a scope's self time", " in its caller's",
        " in the self time of a call that the compiler's hooks record", " in its caller's"};
    struct probity_costs costs;
    const char *name = "overhead";

    probity_costs_of(facts, &costs);
    if (!costs.is_known)
        put_line(stream, name, "not measured");
    for (int part = 0; costs.is_known && part < PROBITY_PARTS; part++) {
        if (costs.part[part].most == 0)
            continue;
        put_range(stream, name, costs.part[part], what[part]);
        name = "";
    }
}

/* Prints what was left out to stay within the budget. */
static void put_only_counted(FILE *stream, const struct probity_trace_facts *facts)
{
    uint64_t functions = budget_of(facts, PROBITY_INFO_FUNCTIONS_COUNTED).count;
    uint64_t hits = budget_of(facts, PROBITY_INFO_HITS_COUNTED).count;
    uint64_t removed = budget_of(facts, PROBITY_INFO_FUNCTIONS_REMOVED).count;

    if (functions > 0)
        put_line(stream, "only counted", "%" PRIu64 " function%s, from some point on, to keep "
                 "within the budget", functions, functions == 1 ? "" : "s");
    if (hits > 0)
        put_line(stream, "only counted", "%" PRIu64 " kind%s of free locks, conditions or "
                 "allocations, from some point on, to keep within the budget", hits,
                 hits == 1 ? "" : "s");
    if (removed > 0)
        put_line(stream, "not counted", "%" PRIu64 " function%s of them, from a later point on: "
                 "counts are lower bounds", removed, removed == 1 ? "" : "s");
}

static void put_budget(FILE *stream, const struct probity_trace_facts *facts)
{
    struct probity_cell held = budget_of(facts, PROBITY_INFO_HELD);
    double percent = budget_of(facts, PROBITY_INFO_PERCENT).fraction;
    double cost = budget_of(facts, PROBITY_INFO_COST_PERCENT).fraction;

    put_only_counted(stream, facts);
    if (facts->switched_sites > 0)
        put_line(stream, "switched off", "%" PRIu64 " site%s, at some time: hits are missing",
                 facts->switched_sites, facts->switched_sites == 1 ? "" : "s");
    if (held.kind == PROBITY_CELL_UNKNOWN)
        return;
    if (held.count != 0)
        put_line(stream, "budget", "%.3g %%, kept: recording took an estimated %.2f %%", percent,
                 cost);
    else
        put_line(stream, "budget", "%.3g %%, EXCEEDED: recording took an estimated %.2f %%, %.2f "
                 "points too much", percent, cost, (double)(facts->budget.cost -
                 facts->budget.budget) * 100 / PROBITY_BUDGET_UNITS);
}

/* Prints every cause of loss, even if 0, so that "none" is explicit. */
static void put_counts(FILE *stream, const struct probity_trace_facts *facts)
{
    struct probity_cell per_record = probity_info_counts[PROBITY_INFO_PER_RECORD].cell(facts);
    uint64_t full = count_of(facts, PROBITY_INFO_DROPPED_FULL);
    uint64_t memory = count_of(facts, PROBITY_INFO_DROPPED_MEMORY);
    uint64_t write = count_of(facts, PROBITY_INFO_DROPPED_WRITE);

    put_count(stream, "threads", facts, PROBITY_INFO_THREADS);
    put_count(stream, "hits", facts, PROBITY_INFO_HITS);
    if (count_of(facts, PROBITY_INFO_SCOPES) > 0)
        put_count(stream, "scopes", facts, PROBITY_INFO_SCOPES);
    if (count_of(facts, PROBITY_INFO_RECORDS_SPOOL) > 0)
        put_line(stream, "records", "%" PRIu64 " in the file, %" PRIu64 " in the spool",
                 count_of(facts, PROBITY_INFO_RECORDS_FILE),
                 count_of(facts, PROBITY_INFO_RECORDS_SPOOL));
    else
        put_count(stream, "records", facts, PROBITY_INFO_RECORDS);
    put_line(stream, "dropped", "%" PRIu64 " (no free chunk %" PRIu64 ", memory or limit %" PRIu64
             ", not writable %" PRIu64 ")", full + memory + write, full, memory, write);
    put_line(stream, "stalls", "%" PRIu64 ", %.6f s in total", count_of(facts, PROBITY_INFO_STALLS),
             (double)count_of(facts, PROBITY_INFO_STALL_NS) / 1e9);
    put_count(stream, "holes", facts, PROBITY_INFO_HOLES);
    put_count(stream, "late blocks", facts, PROBITY_INFO_LATE_BLOCKS);
    put_line(stream, "file", "%" PRIu64 " bytes, %" PRIu64 " blocks",
             count_of(facts, PROBITY_INFO_FILE_BYTES), count_of(facts, PROBITY_INFO_BLOCKS));
    if (per_record.kind == PROBITY_CELL_REAL)
        put_line(stream, "per record", "%.2f bytes", per_record.fraction);
}

/* Prints the amount that met the condition: a time or, for rates and values, a number. */
static void put_amount(FILE *stream, const struct probity_trace_facts *facts,
                       const struct probity_dump_reason *reason)
{
    double ms = (double)probity_trace_ns_of_ticks(facts, reason->end - reason->start) / 1e6;

    if (reason->kind == PROBITY_DUMP_VALUE)
        fprintf(stream, ": %" PRId64 " in thread %" PRIu32, (int64_t)reason->id, reason->tid);
    else if (reason->kind == PROBITY_DUMP_RATE)
        fprintf(stream, ": %" PRIu64 " in %.3f ms", reason->id, ms);
    else if (reason->kind == PROBITY_DUMP_GAP)
        fprintf(stream, ": none for %.3f ms after thread %" PRIu32, ms, reason->tid);
    else if (reason->end > reason->start)
        fprintf(stream, " took %.3f ms in thread %" PRIu32, ms, reason->tid);
}

/* Prints the cause: what took how long, or the source of the request. */
static void put_reason(FILE *stream, const struct probity_trace_facts *facts,
                       const struct probity_dump_reason *reason)
{
    static const char *const kinds[] = {"other", "command", "program", "signal"};
    const char *kind = reason->kind < 4 ? kinds[reason->kind] : kinds[0];

    fprintf(stream, "%-*s", NAME_COLUMNS, "because");
    if (reason->condition.length > 0)
        probity_report_put_safe(stream, reason->condition.bytes, reason->condition.length);
    else
        fputs(kind, stream);
    if (reason->text.length > 0) {
        fputs(": ", stream);
        probity_report_put_safe(stream, reason->text.bytes, reason->text.length);
    }
    put_amount(stream, facts, reason);
    fputc('\n', stream);
}

static void put_dump(FILE *stream, const struct probity_trace_facts *facts)
{
    struct probity_dump dump;
    struct probity_dump_reason reason;
    size_t at;

    if (facts->dump == NULL || probity_dump_get(facts->dump, facts->dump_bytes, &dump, &at) != 0)
        return;
    for (uint32_t i = 0; i < dump.reasons; i++) {
        if (probity_dump_reason_get(facts->dump, facts->dump_bytes, &at, &reason) != 0)
            break;
        put_reason(stream, facts, &reason);
    }
    if (dump.more > 0)
        put_line(stream, "", "and %" PRIu32 " more", dump.more);
    put_line(stream, "left out", "%" PRIu32 " dumps before this one because of limits, %" PRIu32
             " reasons for lack of room", dump.left_out, dump.lost);
}

/* `probity log` shows each change. */
static void put_mode(FILE *stream, const struct probity_trace_facts *facts)
{
    const char *mode = probity_info_mode_name(facts->info.mode);
    uint64_t ticks = facts->modes.last_tick - facts->info.anchor.ticks;

    if (facts->modes.count > 0)
        put_line(stream, "mode", "%s; changed %" PRIu64 " time%s, %s from %.6f s on", mode,
                 facts->modes.count, facts->modes.count == 1 ? "" : "s",
                 probity_info_mode_name(facts->modes.mode),
                 (double)probity_trace_ns_of_ticks(facts, ticks) / 1e9);
    else
        put_line(stream, "mode", "%s%s", mode,
                 facts->info.flags & PROBITY_INFO_PROFILE
                     ? "; profile: scopes are counted and timed, not recorded"
                     : "");
}

void probity_info_text(FILE *stream, const struct probity_trace_facts *facts)
{
    const char *subject = facts->enters == 0 ? "hit" : "record";
    struct probity_cell duration = time_of(facts, PROBITY_INFO_DURATION);
    char name[32], why[256];
    int complete = probity_trace_is_complete(facts, why, sizeof why);

    put_line(stream, "trace", "%s", facts->path);
    put_line(stream, "state", "%s", probity_info_state_name(facts));
    put_line(stream, "complete", "%s: %s", complete ? "yes" : "NO", why);
    put_dump(stream, facts);
    put_strings(stream, facts, PROBITY_INFO_LABEL, PROBITY_INFO_DIRECTORY);
    put_line(stream, "process", "%" PRIu64 ", parent %" PRIu64,
             process_of(facts, PROBITY_INFO_PID), process_of(facts, PROBITY_INFO_PARENT_PID));
    put_strings(stream, facts, PROBITY_INFO_HOST, PROBITY_INFO_LIBRARY);
    put_mode(stream, facts);
    put_clocks(stream, facts);
    put_order(stream, facts);
    put_costs(stream, facts);
    put_budget(stream, facts);
    if (facts->sched != NULL) {
        fprintf(stream, "%-*s", NAME_COLUMNS, "states");
        probity_report_put_states(stream, facts);
    }
    put_time(stream, "started", facts, PROBITY_INFO_STARTED);
    snprintf(name, sizeof name, "first %s", subject);
    put_time(stream, name, facts, PROBITY_INFO_FIRST);
    snprintf(name, sizeof name, "last %s", subject);
    put_time(stream, name, facts, PROBITY_INFO_LAST);
    if (duration.kind == PROBITY_CELL_REAL)
        put_line(stream, "duration", "%.9f s", duration.fraction);
    put_counts(stream, facts);
}
