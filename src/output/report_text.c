/* SPDX-License-Identifier: MIT
 *
 * report_text.c: the table of a report. All columns but the last have a fixed width, so that the
 * tables of two runs can be laid side by side.
 */
#include "output/report_text.h"

#include <inttypes.h>
#include <string.h>

enum { CALLS_COLUMNS = 9, TIME_COLUMNS = 8 };

static const enum probity_report_key columns[] = {
    PROBITY_REPORT_TOTAL, PROBITY_REPORT_SELF, PROBITY_REPORT_CPU_TOTAL, PROBITY_REPORT_CPU_SELF,
    PROBITY_REPORT_MIN,   PROBITY_REPORT_MEAN, PROBITY_REPORT_P50,       PROBITY_REPORT_P99,
    PROBITY_REPORT_MAX};

enum { COLUMNS = sizeof columns / sizeof *columns };

const char *probity_report_time_text(uint64_t ns, char *ret_text)
{
    static const struct {
        uint64_t ns;
        const char *unit;
    } units[] = {{1000, "us"}, {1000000, "ms"}, {1000000000, "s"}, {UINT64_C(3600000000000), "h"}};
    size_t unit = 0;

    if (ns < 1000) {
        snprintf(ret_text, PROBITY_REPORT_TIME_BYTES, "%uns", (unsigned)ns);
        return ret_text;
    }
    /* Of seconds there may be many: an hour is no decimal unit. */
    while (unit < 3 && ns >= (unit < 2 ? units[unit + 1].ns : UINT64_C(99999) * 1000000000))
        unit++;
    uint64_t whole = ns / units[unit].ns, rest = ns % units[unit].ns;
    int digits = whole < 10 ? 3 : whole < 100 ? 2 : whole < 1000 ? 1 : 0;
    unsigned scale = digits == 3 ? 1000 : digits == 2 ? 100 : 10;
    /* Cut, not rounded: 999.96 us stay below a millisecond. */
    unsigned fraction = (unsigned)((double)rest / (double)units[unit].ns * scale);
    fraction = fraction < scale ? fraction : scale - 1;
    if (digits == 0)
        snprintf(ret_text, PROBITY_REPORT_TIME_BYTES, "%" PRIu64 "%s", whole, units[unit].unit);
    else
        snprintf(ret_text, PROBITY_REPORT_TIME_BYTES, "%" PRIu64 ".%0*u%s", whole, digits, fraction,
                 units[unit].unit);
    return ret_text;
}

/* A text of the traced program: what is not printable must not reach a terminal. */
static void put_safe(FILE *stream, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        fputc(byte < 0x20 || byte == 0x7f ? '?' : byte, stream);
    }
}

static int has_cpu(const struct probity_reader *reader)
{
    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        if (probity_reader_facts(reader, i)->info.flags & PROBITY_INFO_CPU_TIME)
            return 1;
    }
    return 0;
}

static void put_head(FILE *stream, const struct probity_report_layout *layout)
{
    const char *start = layout->has_colour ? "\033[1m" : "";
    const char *end = layout->has_colour ? "\033[0m" : "";

    fprintf(stream, "%s%*s%*s%*s%s\n", start, CALLS_COLUMNS + 2 * TIME_COLUMNS - 1, "wall time",
            2 * TIME_COLUMNS, "CPU time", 5 * TIME_COLUMNS - 1, "wall time of one call", end);
    fprintf(stream, "%s%*s", start, CALLS_COLUMNS, "calls");
    for (int i = 0; i < COLUMNS; i++) {
        const char *name = probity_report_key_name(columns[i]);
        fprintf(stream, "%*s", TIME_COLUMNS, strncmp(name, "cpu-", 4) == 0 ? name + 4 : name);
    }
    fprintf(stream, "  function%s\n", end);
}

/* What is not known is no time of 0. */
static void put_sums(FILE *stream, const struct probity_report_sums *sums, int is_cpu_known)
{
    char text[PROBITY_REPORT_TIME_BYTES];

    fprintf(stream, "%*" PRIu64, CALLS_COLUMNS, sums->calls);
    for (int i = 0; i < COLUMNS; i++) {
        enum probity_report_key key = columns[i];
        int is_cpu = key == PROBITY_REPORT_CPU_TOTAL || key == PROBITY_REPORT_CPU_SELF;
        int is_known = sums->calls > sums->untimed && (is_cpu_known || !is_cpu);
        fprintf(stream, "%*s", TIME_COLUMNS,
                is_known ? probity_report_time_text(probity_report_value(sums, key), text) : "-");
    }
    fputs("  ", stream);
}

static void put_function(FILE *stream, const struct probity_report_layout *layout,
                         const struct probity_report_function *entry)
{
    const struct probity_function *function = entry->function;

    if (function == NULL) {
        fprintf(stream, "site-%" PRIu32, entry->number);
        return;
    }
    put_safe(stream, layout->has_signatures && *entry->signature != '\0' ? entry->signature
                                                                         : function->name);
    if (layout->has_places) {
        fputs("  ", stream);
        put_safe(stream, function->file);
        fprintf(stream, ":%" PRIu32, function->line);
    }
}

static void put_thread(FILE *stream, const struct probity_report_thread *thread, int has_pids)
{
    fputs("  ", stream);
    if (has_pids)
        fprintf(stream, "%" PRIu32 "/", thread->pid);
    fprintf(stream, "%" PRIu32, thread->tid);
    if (thread->name != NULL) {
        fputc(' ', stream);
        put_safe(stream, thread->name);
    }
}

static void put_repairs(FILE *stream, const struct probity_scopes_repairs *repairs)
{
    const struct {
        uint64_t count;
        const char *text;
    } lines[] = {
        {repairs->unwound, "left without a record of it (longjmp, or records are missing)"},
        {repairs->open, "open when their thread's records end"},
        {repairs->orphans, "left, but their enter is missing"},
        {repairs->pauses_unmatched, "paused without effect: already paused, or no scope"},
        {repairs->resumes_unmatched, "resumed without a pause"}};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (lines[i].count > 0)
            fprintf(stream, "repaired: %" PRIu64 " %s\n", lines[i].count, lines[i].text);
    }
}

static void put_traces(FILE *stream, const struct probity_report_layout *layout,
                       const struct probity_reader *reader)
{
    char why[256];

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        int is_complete = probity_trace_is_complete(facts, why, sizeof why);
        const char *colour = !layout->has_colour ? "" : is_complete ? "\033[32m" : "\033[1;31m";
        fputs("trace: ", stream);
        put_safe(stream, facts->path);
        fprintf(stream, ": %s%s%s: %s\n", colour, is_complete ? "complete" : "NOT COMPLETE",
                layout->has_colour ? "\033[0m" : "", why);
        if (facts->totals.stalls > 0)
            fprintf(stream, "trace: threads waited %" PRIu64 " times for a free chunk, %.6f s in "
                    "all; these waits are in the wall times\n", facts->totals.stalls,
                    (double)probity_trace_ns_of_ticks(facts, facts->totals.stall_ticks) / 1e9);
        if (facts->clock_steps > 0)
            fprintf(stream, "trace: its wall clock was set %" PRIu64 " times: calls across that "
                    "moment have wrong times\n", facts->clock_steps);
    }
}

static uint64_t untimed_of(const struct probity_report_function *functions, size_t count)
{
    uint64_t untimed = 0;

    for (size_t i = 0; i < count; i++)
        untimed += functions[i].sums.untimed;
    return untimed;
}

void probity_report_text(FILE *stream, const struct probity_report_layout *layout,
                         const struct probity_reader *reader,
                         const struct probity_report_function *functions, size_t count,
                         const struct probity_scopes_repairs *repairs)
{
    size_t shown = layout->limit > 0 && layout->limit < count ? layout->limit : count;
    int is_cpu_known = has_cpu(reader), has_pids = probity_reader_traces(reader) > 1;
    uint64_t untimed = untimed_of(functions, count);

    put_head(stream, layout);
    for (size_t i = 0; i < shown; i++) {
        put_sums(stream, &functions[i].sums, is_cpu_known);
        put_function(stream, layout, &functions[i]);
        fputc('\n', stream);
        for (size_t j = 0; j < functions[i].row_count; j++) {
            put_sums(stream, &functions[i].rows[j].sums, is_cpu_known);
            put_thread(stream, functions[i].rows[j].thread, has_pids);
            fputc('\n', stream);
        }
    }
    fputc('\n', stream);
    if (count == 0)
        fputs("no calls\n", stream);
    if (shown < count)
        fprintf(stream, "%zu more functions are not shown\n", count - shown);
    if (untimed > 0)
        fprintf(stream, "%" PRIu64 " calls have no times: profiling was off\n", untimed);
    put_repairs(stream, repairs);
    put_traces(stream, layout, reader);
}
