/* SPDX-License-Identifier: MIT
 *
 * overhead_text.c: prints a line for each kind of time, then the number of records.
 */
#include "answers/overhead/overhead_print.h"

#include <inttypes.h>
#include <string.h>

#include "answers/report/report_text.h"
#include "print/time_text.h"

const char *probity_overhead_time_name(enum probity_overhead_time which)
{
    return which == PROBITY_OVERHEAD_WALL ? "wall" : "cpu";
}

static void put_time(FILE *stream, double ns)
{
    char text[PROBITY_TIME_TEXT_BYTES];

    fprintf(stream, "  %10s", probity_real_time_text(ns, text));
}

/* Prints small values with two decimals. */
static void put_percent(FILE *stream, const char *before, double share)
{
    double percent = 100 * share;

    fprintf(stream, "%s%+.*f %%", before, percent > -10 && percent < 10 ? 2 : 1, percent);
}

static void put_times(FILE *stream, const char *name, const struct probity_overhead_times *times)
{
    const struct probity_shift *ratio = &times->ratio;

    fprintf(stream, "%-6s", name);
    put_time(stream, times->off_ns);
    put_time(stream, times->on_ns);
    if (!times->has_ratio) {
        fputs("  -\n", stream);
        return;
    }
    put_percent(stream, "  ", ratio->estimate);
    if (ratio->has_interval) {
        put_percent(stream, " (", ratio->low);
        put_percent(stream, " to ", ratio->high);
        fputs(")\n", stream);
    } else {
        fputs(" (too few pairs for an interval)\n", stream);
    }
}

static void put_added(FILE *stream, const char *before, const struct probity_shift *added)
{
    char text[3][PROBITY_TIME_TEXT_BYTES];

    fprintf(stream, "%s%s", before, probity_real_time_text(added->estimate, text[0]));
    if (added->has_interval)
        fprintf(stream, " (%s to %s)", probity_real_time_text(added->low, text[1]),
                probity_real_time_text(added->high, text[2]));
}

static void put_start(FILE *stream, const struct probity_overhead_start *start)
{
    if (!start->is_known) {
        fputs("start and exit: unknown, as the program writes no trace when nothing is "
              "recorded\n", stream);
        return;
    }
    put_added(stream, "start and exit add to each process: CPU time ",
              &start->added[PROBITY_OVERHEAD_CPU]);
    put_added(stream, ", wall time ", &start->added[PROBITY_OVERHEAD_WALL]);
    fputc('\n', stream);
}

static void put_records(FILE *stream, const struct probity_overhead_answer *answer)
{
    const struct probity_overhead *overhead = &answer->overhead;
    const char *what = answer->is_profile ? "counted call" : "record";

    fprintf(stream, "%ss per run: %" PRIu64, what, overhead->records_least);
    if (overhead->records_most != overhead->records_least)
        fprintf(stream, " to %" PRIu64, overhead->records_most);
    fputc('\n', stream);
    fprintf(stream, "records lost: %" PRIu64 "; traces: %" PRIu64 ", incomplete: %" PRIu64 "\n",
            overhead->lost, overhead->traces, overhead->incomplete);
    put_start(stream, &overhead->start);
    if (!overhead->has_record) {
        fprintf(stream, "cost per %s: unknown (fewer than %d per process)\n", what,
                PROBITY_OVERHEAD_RECORDS_MIN);
        return;
    }
    fprintf(stream, "a %s adds %.1f ns of CPU time", what, overhead->record.estimate);
    if (overhead->record.has_interval)
        fprintf(stream, " (%.1f to %.1f)", overhead->record.low, overhead->record.high);
    fputc('\n', stream);
}

void probity_overhead_text(FILE *stream, int has_color,
                           const struct probity_overhead_answer *answer)
{
    const struct probity_overhead *overhead = &answer->overhead;

    probity_report_put_safe(stream, answer->program[0], strlen(answer->program[0]));
    fprintf(stream, ": %zu pair%s of runs, without and with recording\n", answer->count,
            answer->count == 1 ? "" : "s");
    if (answer->base != NULL) {
        fputs("without recording: ", stream);
        probity_report_put_safe(stream, answer->base, strlen(answer->base));
        fputc('\n', stream);
    }
    fprintf(stream, "\n%s%-6s  %10s  %10s  slowdown (95 %% interval)%s\n",
            has_color ? "\033[1m" : "", "", "without", "with", has_color ? "\033[0m" : "");
    put_times(stream, "wall", &overhead->times[PROBITY_OVERHEAD_WALL]);
    put_times(stream, "CPU", &overhead->times[PROBITY_OVERHEAD_CPU]);
    fputc('\n', stream);
    put_records(stream, answer);
}
