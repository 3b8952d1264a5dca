/* SPDX-License-Identifier: MIT
 *
 * waits_text.c: the table of waits.
 */
#include "answers/waits/waits_print.h"

#include <inttypes.h>
#include <string.h>

#include "answers/report/report_text.h"
#include "answers/report/table.h"
#include "answers/waits/wait_text.h"
#include "print/text.h"
#include "print/time_text.h"

enum what { WAITS, TOTAL, MEAN, P50, P90, P99, MAX, WAITERS, COLUMNS };

static const struct probity_table_column columns[COLUMNS] = {
    [WAITS] = {.width = 10, .title = "waits"},
    [TOTAL] = {.width = 9, .title = "total"},
    [MEAN] = {.width = 9, .rank = 3, .title = "mean"},
    [P50] = {.width = 9, .rank = 4, .title = "p50"},
    [P90] = {.width = 9, .rank = 5, .title = "p90"},
    [P99] = {.width = 9, .rank = 2, .title = "p99"},
    [MAX] = {.width = 9, .title = "max"},
    [WAITERS] = {.width = 9, .rank = 1, .title = "waiters"}};

enum { STATES_SHOWN = 4 };

static const struct {
    enum probity_sched_state state;
    const char *name;
} states_shown[STATES_SHOWN] = {{PROBITY_STATE_RUNNING, "running"},
                                {PROBITY_STATE_RUNNABLE, "waiting for a CPU"},
                                {PROBITY_STATE_BLOCKED, "blocked"},
                                {PROBITY_STATE_UNKNOWN, "unknown"}};

struct table {
    FILE *stream;
    const struct probity_waits_answer *answer;
    uint64_t shown; /* one bit per column */
    int has_pids;
};

size_t probity_waits_shown(const struct probity_waits_answer *answer, size_t count)
{
    return answer->top > 0 && answer->top < count ? answer->top : count;
}

static void put_time(const struct table *table, enum what column, uint64_t ns)
{
    char text[PROBITY_TIME_TEXT_BYTES];

    if (table->shown >> column & 1)
        fprintf(table->stream, "%*s", columns[column].width, probity_time_text(ns, text));
}

static void put_who(const struct table *table, uint32_t slot, uint32_t tid,
                    const struct probity_past_doing *doing)
{
    probity_wait_text_thread(table->stream,
                             probity_waiting_thread(table->answer->waiting, slot), tid,
                             table->has_pids);
    if (doing->function == NULL && doing->call == NULL)
        return;
    fputs(" in ", table->stream);
    probity_wait_text_doing(table->stream, doing);
}

/* Wakers are the culprits of all waits except those for locks. Rows by function and thread have
 * both holders and wakers. */
static int is_woken(const struct probity_waiting_row *row)
{
    return row->what != PROBITY_WAIT_WHAT_LOCK && row->what != PROBITY_WAIT_WHATS;
}

/* Prints ", 12% running, 3% waiting for a CPU, 85% blocked": shares of all_ns, which is not 0. */
static void put_shares(const struct table *table, const struct probity_thread_split *split,
                       uint64_t all_ns)
{
    for (size_t i = 0; i < STATES_SHOWN; i++) {
        double share = 100 * (double)split->ns[states_shown[i].state] / (double)all_ns;
        if (share >= 0.5 || states_shown[i].state != PROBITY_STATE_UNKNOWN)
            fprintf(table->stream, ", %.0f%% %s", share, states_shown[i].name);
    }
}

/* Prints the waiting time that a holder accounts for, and what it did in that time. */
static void put_holder(const struct table *table, const struct probity_waiting_row *row,
                       const struct probity_waiting_holder *holder)
{
    uint64_t total_ns = row->durations.total_ns;
    char text[PROBITY_TIME_TEXT_BYTES];

    fprintf(table->stream, "  %-7s%9s%6.1f%%  ",
            is_woken(row) ? "woken" : "held",
            holder->ns > 0 ? probity_time_text(holder->ns, text) : "-",
            total_ns > 0 ? 100 * (double)holder->ns / (double)total_ns : 0);
    put_who(table, holder->thread_slot, holder->tid, &holder->doing);
    if (table->answer->has_states && holder->ns > 0)
        put_shares(table, &holder->split, holder->ns);
    else if (holder->known_ns > 0)
        fprintf(table->stream, ", %.0f%% on CPU",
                100 * (double)holder->cpu_ns / (double)holder->known_ns);
    fputc('\n', table->stream);
}

static void put_case(const struct table *table, const struct probity_waiting_row *row,
                     const struct probity_waiting_case *instance)
{
    FILE *stream = table->stream;
    char text[PROBITY_TIME_TEXT_BYTES];

    fprintf(stream, "  %-7s%9s  ", instance->is_open ? "open" : "worst",
            probity_time_text(instance->ns, text));
    probity_wait_text_when(stream, instance->from_ns,
                           probity_reader_start_ns(table->answer->reader));
    fputs("  ", stream);
    put_who(table, instance->thread_slot, 0, &instance->doing);
    if (instance->what != NULL) {
        fputs(", for ", stream);
        probity_report_put_safe(stream, instance->what, strlen(instance->what));
    }
    if (instance->culprit_slot != PROBITY_WAITS_NO_THREAD || instance->culprit_tid != 0) {
        fputs(is_woken(row) ? "; woken by " : "; because of ", stream);
        put_who(table, instance->culprit_slot, instance->culprit_tid, &instance->culprit_doing);
    }
    if (row->what != PROBITY_WAIT_WHAT_CPU && instance->split.ns[PROBITY_STATE_RUNNABLE] > 0)
        fprintf(stream, "; %s of it for a CPU",
                probity_time_text(instance->split.ns[PROBITY_STATE_RUNNABLE], text));
    fputc('\n', stream);
}

/* Prints the waiters' time by state. */
static void put_states(const struct table *table, const struct probity_waiting_row *row)
{
    const char *between = "  states   ";
    char text[PROBITY_TIME_TEXT_BYTES];

    for (size_t i = 0; i < STATES_SHOWN; i++) {
        uint64_t ns = row->split.ns[states_shown[i].state];
        if (ns == 0)
            continue;
        fprintf(table->stream, "%s%s %s", between, probity_time_text(ns, text),
                states_shown[i].name);
        between = ", ";
    }
    fputc('\n', table->stream);
}

static void put_subject(const struct table *table, const struct probity_waiting_row *row)
{
    const struct probity_wait_name name = {row->what, row->name, row->object};

    if (row->is_rest)
        fputs("all others", table->stream);
    else if (row->what != PROBITY_WAIT_WHATS)
        probity_wait_text_name(table->stream, &name);
    else if (row->thread_slot != PROBITY_WAITS_NO_THREAD)
        probity_wait_text_thread(table->stream,
                                 probity_waiting_thread(table->answer->waiting, row->thread_slot),
                                 0, table->has_pids);
    else
        probity_wait_text_doing(table->stream,
                                &(struct probity_past_doing){row->function, NULL});
    if (row->given_up > 0)
        fprintf(table->stream, " [%" PRIu64 " given up]", row->given_up);
    fputc('\n', table->stream);
}

static void put_row(const struct table *table, const struct probity_waiting_row *row)
{
    const struct probity_duration_stats *durations = &row->durations;

    fprintf(table->stream, "%*" PRIu64, columns[WAITS].width, durations->count);
    put_time(table, TOTAL, durations->total_ns);
    put_time(table, MEAN, (uint64_t)probity_duration_stats_mean(durations));
    put_time(table, P50, probity_duration_stats_quantile(durations, 500));
    put_time(table, P90, probity_duration_stats_quantile(durations, 900));
    put_time(table, P99, probity_duration_stats_quantile(durations, 990));
    put_time(table, MAX, durations->max_ns);
    if (table->shown >> WAITERS & 1)
        fprintf(table->stream, "%*zu%s", columns[WAITERS].width - row->are_waiters_least,
                row->waiter_count, row->are_waiters_least ? "+" : "");
    fputs("  ", table->stream);
    put_subject(table, row);
    if (table->answer->has_states && row->what != PROBITY_WAIT_WHAT_CPU)
        put_states(table, row);
    for (size_t i = 0; i < row->holder_count && i < table->answer->holders_max; i++)
        put_holder(table, row, &row->holders[i]);
    if (row->holder_count > table->answer->holders_max)
        fprintf(table->stream, "  %zu more\n", row->holder_count - table->answer->holders_max);
    for (size_t i = 0; i < row->worst_count; i++)
        put_case(table, row, &row->worst[i]);
}

static const char *subject_title(enum probity_waiting_by by)
{
    static const char *const titles[] = {
        [PROBITY_WAITING_BY_OBJECT] = "waited for", [PROBITY_WAITING_BY_LOCK] = "waited for",
        [PROBITY_WAITING_BY_FILE] = "waited for", [PROBITY_WAITING_BY_PEER] = "waited for",
        [PROBITY_WAITING_BY_FUNCTION] = "waiting function",
        [PROBITY_WAITING_BY_THREAD] = "waiting thread"};

    return titles[by];
}

void probity_waits_text(FILE *stream, int has_color, size_t line_columns,
                        const struct probity_waits_answer *answer)
{
    const struct table table = {stream, answer, probity_table_fit(columns, COLUMNS, line_columns),
                                probity_reader_traces(answer->reader) > 1};
    size_t count;
    const struct probity_waiting_row *const *rows = probity_waiting_rows(answer->waiting, &count);
    size_t shown = probity_waits_shown(answer, count);
    struct probity_waits_facts facts = probity_waiting_facts(answer->waiting);

    fputs(has_color ? "\033[1m" : "", stream);
    probity_table_put_head(stream, columns, COLUMNS, table.shown);
    fprintf(stream, "  %s%s\n", subject_title(answer->by), has_color ? "\033[0m" : "");
    for (size_t i = 0; i < shown; i++)
        put_row(&table, rows[i]);
    fputc('\n', stream);
    if (count == 0)
        fputs("no waits\n", stream);
    if (shown < count)
        fprintf(stream, "%zu more row%s %s not shown\n", count - shown,
                probity_text_s(count - shown), probity_text_are(count - shown));
    probity_wait_text_facts(stream, &facts);
    if (answer->counted > 0)
        fprintf(stream, "%" PRIu64 " call%s to libc %s only counted (budget, or switched off): of "
                "several waits in a row, the first eight may be among them\n", answer->counted,
                probity_text_s(answer->counted), probity_text_were(answer->counted));
    probity_table_put_left(stream, columns, COLUMNS, table.shown, "");
    probity_report_foot(stream, has_color, answer->reader,
                        probity_waiting_repairs(answer->waiting));
}
