/* SPDX-License-Identifier: MIT
 *
 * info_text.c: the facts of a trace as text.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

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

/* A string from the traced program, or several separated by zeros. Unprintable bytes must not reach
 * a terminal. */
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

static void put_time(FILE *stream, const char *name, uint64_t ns)
{
    char text[PROBITY_INFO_TIME_BYTES];

    put_line(stream, name, "%s.%09u UTC", probity_info_time_text(ns, text),
             (unsigned)(ns % 1000000000));
}

const char *probity_info_time_text(uint64_t ns, char ret_text[PROBITY_INFO_TIME_BYTES])
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;

    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(ret_text, PROBITY_INFO_TIME_BYTES, "%Y-%m-%d %H:%M:%S", &parts) == 0)
        ret_text[0] = '\0';
    return ret_text;
}

const char *probity_info_clock_name(uint32_t clock)
{
    switch (clock) {
    case PROBITY_CLOCK_TSC: return "x86 time stamp counter";
    case PROBITY_CLOCK_CNTVCT: return "AArch64 CNTVCT_EL0";
    case PROBITY_CLOCK_MONOTONIC_NS: return "CLOCK_MONOTONIC";
    default: return "unknown";
    }
}

static void put_clocks(FILE *stream, const struct probity_trace_facts *facts)
{
    const struct probity_info *info = &facts->info;

    put_line(stream, "clock", "%s, %.6f ns per tick", probity_info_clock_name(info->clock),
             (double)info->rate / 4294967296.0);
    if (info->flags & PROBITY_INFO_WALL_TIME)
        put_line(stream, "wall time", "accurate to +- %" PRIu64 " ns at its anchors; adjusted %"
                 PRIu64 " times while recording", facts->clock_bound_ns, facts->clock_steps);
    else
        put_line(stream, "wall time", "not recorded");
    if (info->flags & PROBITY_INFO_CPU_TIME)
        put_line(stream, "CPU time", "accurate to +- %" PRIu64 " ns; reading the clock costs %"
                 PRIu32 " ns", facts->cpu_bound_ns, info->cpu_clock_ns);
    else
        put_line(stream, "CPU time", "not recorded");
}

/* Whether clock readings wait for earlier instructions; if not, how early they may be. */
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

/* A line with the name of the previous line continues it and omits the name. */
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

static double percent(uint32_t share)
{
    return (double)share * 100 / PROBITY_BUDGET_UNITS;
}

static void put_budget(FILE *stream, const struct probity_trace_facts *facts)
{
    const struct probity_budget_event *budget = &facts->budget;

    if (facts->counted_functions > 0)
        put_line(stream, "only counted", "%" PRIu64 " function%s, from some point on, to keep "
                 "within the budget", facts->counted_functions,
                 facts->counted_functions == 1 ? "" : "s");
    if (facts->counted_hits > 0)
        put_line(stream, "only counted", "%" PRIu64 " kind%s of free locks, conditions or "
                 "allocations, from some point on, to keep within the budget", facts->counted_hits,
                 facts->counted_hits == 1 ? "" : "s");
    if (facts->removed_functions > 0)
        put_line(stream, "not counted", "%" PRIu64 " function%s of them, from a later point on: "
                 "counts are lower bounds", facts->removed_functions,
                 facts->removed_functions == 1 ? "" : "s");
    if (budget->what == 0)
        return;
    if (budget->cost <= budget->budget)
        put_line(stream, "budget", "%.3g %%, kept: recording took an estimated %.2f %%",
                 percent(budget->budget), percent(budget->cost));
    else
        put_line(stream, "budget", "%.3g %%, EXCEEDED: recording took an estimated %.2f %%, %.2f "
                 "points too much", percent(budget->budget), percent(budget->cost),
                 percent(budget->cost - budget->budget));
}

/* Shows every cause of loss, even if 0, because "none" is an answer, too. */
static void put_counts(FILE *stream, const struct probity_trace_facts *facts)
{
    const struct probity_totals *totals = &facts->totals;
    uint64_t dropped = totals->dropped_full + totals->dropped_memory + totals->dropped_write;

    put_line(stream, "threads", "%" PRIu64, facts->threads);
    put_line(stream, "hits", "%" PRIu64, facts->hits);
    if (facts->enters > 0)
        put_line(stream, "scopes", "%" PRIu64, facts->enters);
    if (facts->spool_records > 0)
        put_line(stream, "records", "%" PRIu64 " in the file, %" PRIu64 " in the spool",
                 facts->records, facts->spool_records);
    else
        put_line(stream, "records", "%" PRIu64, facts->records);
    put_line(stream, "dropped", "%" PRIu64 " (no free chunk %" PRIu64 ", memory or limit %" PRIu64
             ", not writable %" PRIu64 ")", dropped, totals->dropped_full, totals->dropped_memory,
             totals->dropped_write);
    put_line(stream, "stalls", "%" PRIu64 ", %.6f s in total", totals->stalls,
             (double)probity_trace_ns_of_ticks(facts, totals->stall_ticks) / 1e9);
    put_line(stream, "holes", "%" PRIu64, facts->holes);
    put_line(stream, "late blocks", "%" PRIu64, facts->late_blocks);
    put_line(stream, "file", "%" PRIu64 " bytes, %" PRIu64 " blocks", facts->file_bytes,
             facts->blocks);
    if (facts->records > 0)
        put_line(stream, "per record", "%.2f bytes",
                 (double)facts->file_bytes / (double)facts->records);
}

/* The amount that met the condition: a time or, for rates and values, a number. */
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

/* The cause: what took how long, or the source of the request. */
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

void probity_info_text(FILE *stream, const struct probity_trace_facts *facts)
{
    static const char *const states[] = {"", "closed", "live", "killed", "unfinished"};
    static const char *const modes[] = {"block", "drop", "ring"};
    const struct probity_info *info = &facts->info;
    char why[256];
    int complete = probity_trace_is_complete(facts, why, sizeof why);

    put_line(stream, "trace", "%s", facts->path);
    put_line(stream, "state", "%s", states[facts->state]);
    put_line(stream, "complete", "%s: %s", complete ? "yes" : "NO", why);
    put_dump(stream, facts);
    put_string(stream, "label", &info->text[PROBITY_TAG_LABEL]);
    put_string(stream, "program", &info->text[PROBITY_TAG_PROGRAM]);
    put_string(stream, "command", &info->text[PROBITY_TAG_COMMAND]);
    put_string(stream, "executable", &info->text[PROBITY_TAG_EXECUTABLE]);
    put_string(stream, "build id", &info->text[PROBITY_TAG_BUILD]);
    put_string(stream, "directory", &info->text[PROBITY_TAG_DIRECTORY]);
    put_line(stream, "process", "%" PRIu32 ", parent %" PRIu32, info->pid, info->parent_pid);
    put_string(stream, "host", &info->text[PROBITY_TAG_HOST]);
    put_string(stream, "kernel", &info->text[PROBITY_TAG_KERNEL]);
    put_string(stream, "CPU", &info->text[PROBITY_TAG_CPU]);
    put_string(stream, "processors", &info->text[PROBITY_TAG_PROCESSORS]);
    put_string(stream, "library", &info->text[PROBITY_TAG_LIBRARY]);
    put_line(stream, "mode", "%s%s", info->mode < 3 ? modes[info->mode] : "unknown",
             info->flags & PROBITY_INFO_PROFILE
                 ? "; profile: scopes are counted and timed, not recorded"
                 : "");
    put_clocks(stream, facts);
    put_order(stream, facts);
    put_costs(stream, facts);
    put_budget(stream, facts);
    if (facts->sched != NULL) {
        fprintf(stream, "%-*s", NAME_COLUMNS, "states");
        probity_report_put_states(stream, facts);
    }
    put_time(stream, "started", info->anchor.realtime_ns);
    if (facts->hits + facts->enters > 0) {
        int is_of_hits = facts->enters == 0;
        put_time(stream, is_of_hits ? "first hit" : "first record", facts->first_wall_ns);
        put_time(stream, is_of_hits ? "last hit" : "last record", facts->last_wall_ns);
        put_line(stream, "duration", "%.9f s",
                 (double)(int64_t)(facts->last_wall_ns - facts->first_wall_ns) / 1e9);
    }
    put_counts(stream, facts);
}
