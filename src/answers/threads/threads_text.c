/* SPDX-License-Identifier: MIT
 *
 * threads_text.c: the table of threads. First and last records are shown relative to the start of
 * the earliest trace.
 */
#include "answers/threads/threads_print.h"

#include <inttypes.h>
#include <string.h>

#include "answers/report/report_text.h"
#include "answers/report/states_print.h"
#include "answers/report/table.h"
#include "answers/threads/threads_columns.h"
#include "print/time_text.h"

uint64_t probity_threads_cpu_ns(const struct probity_threads_answer *answer)
{
    uint64_t cpu_ns = 0;

    for (size_t i = 0; i < answer->count; i++)
        cpu_ns += answer->processes[i].sums.cpu_ns;
    return cpu_ns;
}

int probity_threads_has_states(const struct probity_threads_answer *answer)
{
    return probity_states_are_known(answer->reader);
}

/* Columns from RUN on are shown only if states were read. Shares are of the time between first and
 * last record. */
enum what {
    ID, FIRST, LAST, LIFE, CPU, OFF, SHARE, RUN, RUN_SHARE, WAIT, WAIT_SHARE, BLOCK, BLOCK_SHARE,
    UNKNOWN, RECORDS, HITS, SCOPES, COLUMNS
};

static const struct probity_table_column all_columns[COLUMNS] = {
    [ID] = {.width = 9, .title = "pid/tid"},
    [FIRST] = {.width = 8, .rank = 6, .title = "first"},
    [LAST] = {.width = 8, .rank = 7, .title = "last"},
    [LIFE] = {.width = 8, .rank = 2, .title = "life"},
    [CPU] = {.width = 8, .title = "CPU"},
    [OFF] = {.width = 8, .rank = 1, .title = "off CPU"},
    [SHARE] = {.width = 7, .rank = 5, .title = "share"},
    [RUN] = {.width = 8, .title = "running"},
    [RUN_SHARE] = {.width = 7, .rank = 3, .title = "share"},
    [WAIT] = {.width = 8, .title = "waiting"},
    [WAIT_SHARE] = {.width = 7, .rank = 3, .title = "share"},
    [BLOCK] = {.width = 8, .title = "blocked"},
    [BLOCK_SHARE] = {.width = 7, .rank = 3, .title = "share"},
    [UNKNOWN] = {.width = 8, .rank = 9, .title = "unknown"},
    [RECORDS] = {.width = 10, .rank = 8, .title = "records"},
    [HITS] = {.width = 10, .rank = 3, .title = "hits"},
    [SCOPES] = {.width = 10, .rank = 4, .title = "scopes"}};

struct table {
    FILE *stream;
    uint64_t start_ns, cpu_ns; /* over all threads */
    int is_cpu_known;
    uint64_t shown; /* one bit per column */
    struct probity_table_column columns[COLUMNS];
};

static void put_time(const struct table *table, enum what column, uint64_t ns, int is_known)
{
    char text[PROBITY_TIME_TEXT_BYTES];

    if (table->shown >> column & 1)
        fprintf(table->stream, "%*s", table->columns[column].width,
                is_known ? probity_time_text(ns, text) : "-");
}

static void put_count(const struct table *table, enum what column, uint64_t count, int is_known)
{
    if (!(table->shown >> column & 1))
        return;
    if (is_known)
        fprintf(table->stream, "%*" PRIu64, table->columns[column].width, count);
    else
        fprintf(table->stream, "%*s", table->columns[column].width, "-");
}

static void put_share(const struct table *table, uint64_t cpu_ns)
{
    if (!(table->shown >> SHARE & 1))
        return;
    if (table->cpu_ns > 0)
        fprintf(table->stream, "%*.1f%%", table->columns[SHARE].width - 1,
                100 * (double)cpu_ns / (double)table->cpu_ns);
    else
        fprintf(table->stream, "%*s", table->columns[SHARE].width, "-");
}

static void put_state(const struct table *table, const struct probity_threads_sums *sums,
                      enum what column, uint32_t state)
{
    double share = probity_threads_state_share(sums, state);

    put_time(table, column, sums->states.ns[state], sums->has_states);
    if (state == PROBITY_STATE_UNKNOWN || !(table->shown >> (column + 1) & 1))
        return;
    if (share >= 0)
        fprintf(table->stream, "%*.1f%%", table->columns[column + 1].width - 1, 100 * share);
    else
        fprintf(table->stream, "%*s", table->columns[column + 1].width, "-");
}

static void put_sums(const struct table *table, const struct probity_threads_sums *sums)
{
    uint64_t start_ns = table->start_ns;
    int is_all_known = !sums->has_calls_only;
    int is_cpu_known = table->is_cpu_known && is_all_known;

    put_time(table, FIRST, sums->first_ns > start_ns ? sums->first_ns - start_ns : 0, 1);
    put_time(table, LAST, sums->last_ns > start_ns ? sums->last_ns - start_ns : 0, 1);
    put_time(table, LIFE, sums->last_ns - sums->first_ns, 1);
    put_time(table, CPU, sums->cpu_ns, is_cpu_known);
    put_time(table, OFF, sums->off_ns, is_cpu_known);
    put_share(table, sums->cpu_ns);
    put_state(table, sums, RUN, PROBITY_STATE_RUNNING);
    put_state(table, sums, WAIT, PROBITY_STATE_RUNNABLE);
    put_state(table, sums, BLOCK, PROBITY_STATE_BLOCKED);
    put_state(table, sums, UNKNOWN, PROBITY_STATE_UNKNOWN);
    put_count(table, RECORDS, sums->records, is_all_known);
    put_count(table, HITS, sums->hits, is_all_known);
    put_count(table, SCOPES, sums->scopes, 1);
    fputs("  ", table->stream);
}

static void put_process(const struct table *table, const struct probity_reader *reader,
                        const struct probity_threads_process *process)
{
    const struct probity_text *program =
        &probity_reader_facts(reader, process->trace)->info.text[PROBITY_TAG_PROGRAM];
    char name[256];
    size_t start = program->length;

    while (start > 0 && program->bytes[start - 1] != '/')
        start--;
    snprintf(name, sizeof name, "%.*s", (int)(program->length - start),
             program->length > 0 ? (const char *)program->bytes + start : "");
    fprintf(table->stream, "%7" PRIu32 "  ", process->pid);
    put_sums(table, &process->sums);
    probity_report_put_safe(table->stream, name, strlen(name));
    fprintf(table->stream, " (%zu thread%s)\n", process->thread_count,
            process->thread_count == 1 ? "" : "s");
}

static void put_thread(const struct table *table, const struct probity_threads_thread *thread)
{
    fprintf(table->stream, "%9" PRIu32, thread->tid);
    put_sums(table, &thread->sums);
    if (thread->name != NULL)
        probity_report_put_safe(table->stream, thread->name, strlen(thread->name));
    else
        fputc('-', table->stream);
    fputc('\n', table->stream);
}

/* Shows states only if they were read, and unknown ones only if there are any. */
static void choose_columns(struct table *table, const struct probity_threads_answer *answer,
                           size_t line_columns)
{
    int has_states = probity_threads_has_states(answer);
    uint64_t unknown_ns = 0;

    for (size_t i = 0; i < answer->count; i++)
        unknown_ns += answer->processes[i].sums.states.ns[PROBITY_STATE_UNKNOWN];
    memcpy(table->columns, all_columns, sizeof all_columns);
    for (int i = RUN; i <= UNKNOWN; i++) {
        if (!has_states || (i == UNKNOWN && unknown_ns == 0))
            table->columns[i].width = 0;
    }
    table->shown = probity_table_fit(table->columns, COLUMNS, line_columns);
}

void probity_threads_text(FILE *stream, int has_color, size_t line_columns,
                          const struct probity_threads_answer *answer)
{
    struct table table = {.stream = stream, .start_ns = probity_reader_start_ns(answer->reader),
                          .cpu_ns = probity_threads_cpu_ns(answer),
                          .is_cpu_known = probity_report_has_cpu(answer->reader)};

    choose_columns(&table, answer, line_columns);
    fputs(has_color ? "\033[1m" : "", stream);
    probity_table_put_head(stream, table.columns, COLUMNS, table.shown);
    fprintf(stream, "  name%s\n", has_color ? "\033[0m" : "");
    for (size_t i = 0; i < answer->count; i++) {
        put_process(&table, answer->reader, &answer->processes[i]);
        for (size_t j = 0; j < probity_threads_shown(answer, &answer->processes[i]); j++)
            put_thread(&table, answer->processes[i].threads[j]);
    }
    fputc('\n', stream);
    if (answer->count == 0)
        fputs("no records\n", stream);
    probity_table_put_left(stream, table.columns, COLUMNS, table.shown, "");
    probity_report_foot(stream, has_color, answer->reader, answer->repairs);
}
