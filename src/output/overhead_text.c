/* SPDX-License-Identifier: MIT
 *
 * overhead_text.c: a line for each kind of time, then what was recorded.
 */
#include "output/overhead_text.h"

#include <inttypes.h>
#include <string.h>

#include "output/report_text.h"

const char *probity_overhead_time_name(enum probity_overhead_time which)
{
    return which == PROBITY_OVERHEAD_WALL ? "wall" : "cpu";
}

static void put_time(FILE *stream, double ns)
{
    char text[PROBITY_REPORT_TIME_BYTES];

    fprintf(stream, "  %10s", probity_report_real_time_text(ns, text));
}

/* Two digits behind the point where the figure is small. */
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

static void put_records(FILE *stream, const struct probity_overhead_answer *answer)
{
    const struct probity_overhead *overhead = &answer->overhead;
    const struct probity_shift *added = &overhead->times[PROBITY_OVERHEAD_CPU].added;
    const char *what = answer->is_profile ? "counted call" : "record";

    fprintf(stream, "%ss of a run: %" PRIu64, what, overhead->records_least);
    if (overhead->records_most != overhead->records_least)
        fprintf(stream, " to %" PRIu64, overhead->records_most);
    fputc('\n', stream);
    fprintf(stream, "records lost: %" PRIu64 "; traces: %" PRIu64 ", not complete: %" PRIu64 "\n",
            overhead->lost, overhead->traces, overhead->incomplete);
    if (overhead->records <= 0)
        return;
    fprintf(stream, "a %s adds %.1f ns of CPU time", what,
            probity_overhead_per_record(overhead, added->estimate));
    if (added->has_interval)
        fprintf(stream, " (%.1f to %.1f)", probity_overhead_per_record(overhead, added->low),
                probity_overhead_per_record(overhead, added->high));
    fputs(", start and end of the recording shared among all\n", stream);
}

void probity_overhead_text(FILE *stream, int has_colour,
                           const struct probity_overhead_answer *answer)
{
    const struct probity_overhead *overhead = &answer->overhead;

    probity_report_put_safe(stream, answer->program[0], strlen(answer->program[0]));
    fprintf(stream, ": %zu pair%s of runs, without recording and with it\n", answer->count,
            answer->count == 1 ? "" : "s");
    if (answer->base != NULL) {
        fputs("without recording: ", stream);
        probity_report_put_safe(stream, answer->base, strlen(answer->base));
        fputc('\n', stream);
    }
    fprintf(stream, "\n%s%-6s  %10s  %10s  slowdown (95 %% interval)%s\n",
            has_colour ? "\033[1m" : "", "", "without", "with", has_colour ? "\033[0m" : "");
    put_times(stream, "wall", &overhead->times[PROBITY_OVERHEAD_WALL]);
    put_times(stream, "CPU", &overhead->times[PROBITY_OVERHEAD_CPU]);
    fputc('\n', stream);
    put_records(stream, answer);
}
