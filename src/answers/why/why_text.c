/* SPDX-License-Identifier: MIT
 *
 * why_text.c: prints one screen for each slow call.
 */
#include "answers/why/why_print.h"

#include <inttypes.h>
#include <string.h>

#include "answers/path/path_print.h"
#include "answers/report/report_text.h"
#include "answers/waits/wait_text.h"
#include "answers/why/why_rows.h"
#include "print/text.h"
#include "print/time_text.h"

/* Parts of less than this fraction of the call are not shown. */
enum { SHOWN_LEAST_DIVISOR = 200 };

struct printing {
    FILE *stream;
    const struct probity_why_answer *answer;
    const struct probity_why_case *of;
    int has_color, has_pids;
};

static const char *const part_texts[PROBITY_WHY_PARTS] = {
    [PROBITY_WHY_RUNNING] = "running",
    [PROBITY_WHY_LOCK] = "waiting for locks",
    [PROBITY_WHY_CONDITION] = "waiting for other threads",
    [PROBITY_WHY_IO] = "in I/O, off the CPU",
    [PROBITY_WHY_SLEEP] = "asleep",
    [PROBITY_WHY_PROCESS] = "waiting for a process",
    [PROBITY_WHY_RUNNABLE] = "waiting for a CPU",
    [PROBITY_WHY_BLOCKED] = "blocked, in no recorded wait",
    [PROBITY_WHY_OFF] = "off the CPU, in no recorded wait",
    [PROBITY_WHY_UNKNOWN] = "running or off the CPU"};

static void put_time(const struct printing *printing, int columns, uint64_t ns)
{
    char text[PROBITY_TIME_TEXT_BYTES];

    fprintf(printing->stream, "%*s", columns, probity_time_text(ns, text));
}

static int is_shown(const struct printing *printing, uint64_t ns)
{
    return ns > 0 && ns >= (printing->of->to_ns - printing->of->from_ns) / SHOWN_LEAST_DIVISOR;
}

static void put_title(const struct printing *printing, const char *text)
{
    fprintf(printing->stream, "%s%s%s", printing->has_color ? "\033[1m" : "", text,
            printing->has_color ? "\033[0m" : "");
}

static void put_thread(const struct printing *printing, uint32_t slot)
{
    const struct probity_thread_label *thread =
        probity_path_thread(probity_why_paths(printing->answer->why), slot);

    if (thread != NULL)
        probity_wait_text_thread(printing->stream, thread, 0, printing->has_pids);
    else
        fputc('-', printing->stream);
}

/* Prints which call this is, and compares it with all others. */
static void put_head(const struct printing *printing)
{
    const struct probity_why_case *of = printing->of;
    const struct probity_why_group *group = of->group;
    uint64_t ns = of->to_ns - of->from_ns, count = group->durations.count;
    uint64_t median = probity_duration_stats_quantile(&group->durations, 500);
    uint64_t rank = probity_why_rank(group, ns);
    const char *name = probity_why_group_name(printing->answer, group);
    FILE *stream = printing->stream;

    probity_report_put_safe(stream, name, strlen(name));
    fputs(": ", stream);
    put_time(printing, 0, ns);
    fputs(", ", stream);
    probity_wait_text_when(stream, of->from_ns, probity_reader_start_ns(printing->answer->reader));
    fputs(", in ", stream);
    put_thread(printing, of->thread_slot);
    fputc('\n', stream);
    if (count < 2) {
        fputs("the only one in the trace: there is nothing to compare it with\n", stream);
        return;
    }
    if (rank <= 1)
        fprintf(stream, "the slowest of %" PRIu64, count);
    else
        fprintf(stream, "slower than %.2f %% of %" PRIu64,
                (double)((count - rank) * 10000 / count) / 100, count);
    fputs(printing->answer->span != NULL ? " spans; median " : " calls; median ", stream);
    put_time(printing, 0, median);
    fputs(", p99 ", stream);
    put_time(printing, 0, probity_duration_stats_quantile(&group->durations, 990));
    if (median > 0)
        fprintf(stream, "; %.1f times the median", (double)ns / (double)median);
    fputc('\n', stream);
}

static void put_parts(const struct printing *printing)
{
    const struct probity_why_case *of = printing->of;
    uint64_t ns = of->to_ns - of->from_ns;

    fprintf(printing->stream, "\n");
    put_title(printing, "     this                median  where its time went");
    fputc('\n', printing->stream);
    for (int part = 0; part < PROBITY_WHY_PARTS; part++) {
        uint64_t usual = probity_why_median(of->group, &of->group->parts[part]);
        if (!is_shown(printing, of->parts[part]) && !is_shown(printing, usual))
            continue;
        put_time(printing, 9, of->parts[part]);
        fprintf(printing->stream, "%7.1f%%", ns > 0 ? 100 * (double)of->parts[part] / (double)ns
                                                    : 0);
        put_time(printing, 10, usual);
        fprintf(printing->stream, "  %s\n", part_texts[part]);
    }
}

static void put_waits(const struct printing *printing)
{
    const struct probity_why_case *of = printing->of;

    for (size_t i = 0; i < of->wait_count && i < PROBITY_WHY_WAITS_SHOWN; i++) {
        const struct probity_why_wait *wait = &of->waits[i];
        if (!is_shown(printing, wait->ns))
            return;
        put_time(printing, 9, wait->ns);
        fprintf(printing->stream, "%7" PRIu64 "x            for ", wait->count);
        if (wait->target != NULL) {
            const struct probity_wait_name name = {wait->target->what, wait->target->name,
                                                   wait->target->object};
            probity_wait_text_name(printing->stream, &name);
        } else {
            fputs("others", printing->stream);
        }
        fputs(" in ", printing->stream);
        probity_wait_text_doing(printing->stream, &wait->doing);
        fputc('\n', printing->stream);
    }
}

static void put_paths(const struct printing *printing)
{
    struct probity_why_row rows[PROBITY_WHY_ROWS];
    size_t count = probity_why_rows(printing->of, rows);

    while (count > 0 && !is_shown(printing, probity_why_row_distance(&rows[count - 1])))
        count--;
    if (count == 0)
        return;
    fputc('\n', printing->stream);
    put_title(printing, "     this    median   calls  median  what differed below it");
    fputc('\n', printing->stream);
    for (size_t i = 0; i < count; i++) {
        char text[PROBITY_WHY_PATH_BYTES];
        put_time(printing, 9, rows[i].value.wall_ns);
        put_time(printing, 10, rows[i].usual.wall_ns);
        fprintf(printing->stream, "%8" PRIu64 "%8" PRIu64 "  ", rows[i].value.calls,
                rows[i].usual.calls);
        probity_why_path_text(printing->of->group, rows[i].node, text);
        probity_report_put_safe(printing->stream, text, strlen(text));
        fputc('\n', printing->stream);
    }
}

/* Prints the longest parts of the critical path in other threads. */
static void put_others(const struct printing *printing)
{
    struct probity_why_other others[PROBITY_WHY_OTHERS];
    size_t count = probity_why_others(printing->answer->why, printing->of, others);

    while (count > 0 && !is_shown(printing, others[count - 1].ns))
        count--;
    if (count == 0)
        return;
    fputc('\n', printing->stream);
    put_title(printing, "     this  what other threads did meanwhile, on its critical path");
    fputc('\n', printing->stream);
    for (size_t i = 0; i < count; i++) {
        put_time(printing, 9, others[i].ns);
        fputs("  ", printing->stream);
        put_thread(printing, others[i].thread_slot);
        fprintf(printing->stream, ", %s in ", probity_path_state_name(others[i].state));
        probity_wait_text_doing(printing->stream, &others[i].doing);
        fputc('\n', printing->stream);
    }
}

static void put_cause(const struct printing *printing)
{
    const struct probity_why_cause cause =
        probity_why_cause_of(printing->answer->why, printing->of);

    fputc('\n', printing->stream);
    put_title(printing, "cause: ");
    probity_why_sentence(printing->stream, printing->answer, printing->of, &cause);
    if (cause.kind != PROBITY_WHY_CAUSE_NONE && printing->of->group->durations.count > 1)
        fprintf(printing->stream, " (%.0f %% of the difference)", 100 * cause.share);
    fputs("\n\n", printing->stream);
}

static void put_dump(FILE *stream, const struct probity_why_dump *dump)
{
    char text[PROBITY_TIME_TEXT_BYTES];

    fputs("dump reason: ", stream);
    probity_report_put_safe(stream, dump->reason.condition.bytes, dump->reason.condition.length);
    if (dump->reason.flags & PROBITY_DUMP_IS_PERCENTILE)
        fprintf(stream, ", which was %s", probity_time_text(dump->limit_ns, text));
    fputs("\n", stream);
}

void probity_why_text(FILE *stream, int has_color, const struct probity_why_answer *answer)
{
    struct probity_waits_facts facts = probity_why_facts(answer->why);
    size_t count;
    const struct probity_why_case *const *cases = probity_why_cases(answer->why, &count);

    if (answer->dump != NULL)
        put_dump(stream, answer->dump);
    for (size_t i = 0; i < count; i++) {
        const struct printing printing = {stream, answer, cases[i], has_color,
                                          probity_reader_traces(answer->reader) > 1};
        put_head(&printing);
        put_parts(&printing);
        put_waits(&printing);
        put_paths(&printing);
        put_others(&printing);
        put_cause(&printing);
    }
    if (count == 0)
        fprintf(stream, "no such %s begins and ends in the trace\n",
                answer->span != NULL ? "span" : "call");
    probity_wait_text_facts(stream, &facts);
    probity_report_foot(stream, has_color, answer->reader, probity_why_repairs(answer->why));
}
