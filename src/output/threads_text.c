/* SPDX-License-Identifier: MIT
 *
 * threads_text.c: the table of threads. First and last record are told from the beginning of the
 * earliest trace.
 */
#include "output/threads_text.h"

#include <inttypes.h>
#include <string.h>

#include "output/report_text.h"

uint64_t probity_threads_cpu_ns(const struct probity_threads_answer *answer)
{
    uint64_t cpu_ns = 0;

    for (size_t i = 0; i < answer->count; i++)
        cpu_ns += answer->processes[i].sums.cpu_ns;
    return cpu_ns;
}

struct table {
    FILE *stream;
    uint64_t start_ns, cpu_ns; /* of all */
    int is_cpu_known;
};

static void put_time(const struct table *table, uint64_t ns)
{
    char text[PROBITY_REPORT_TIME_BYTES];

    fprintf(table->stream, "%8s", probity_report_time_text(ns, text));
}

static void put_sums(const struct table *table, const struct probity_threads_sums *sums)
{
    uint64_t start_ns = table->start_ns;

    put_time(table, sums->first_ns > start_ns ? sums->first_ns - start_ns : 0);
    put_time(table, sums->last_ns > start_ns ? sums->last_ns - start_ns : 0);
    put_time(table, sums->last_ns - sums->first_ns);
    if (table->is_cpu_known) {
        put_time(table, sums->cpu_ns);
        put_time(table, sums->off_ns);
    } else {
        fprintf(table->stream, "%8s%8s", "-", "-");
    }
    if (table->cpu_ns > 0)
        fprintf(table->stream, "%6.1f%%", 100 * (double)sums->cpu_ns / (double)table->cpu_ns);
    else
        fprintf(table->stream, "%7s", "-");
    fprintf(table->stream, "%10" PRIu64 "%10" PRIu64 "%10" PRIu64 "  ", sums->records, sums->hits,
            sums->scopes);
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

void probity_threads_text(FILE *stream, int has_colour,
                          const struct probity_threads_answer *answer)
{
    const struct table table = {stream, probity_reader_start_ns(answer->reader),
                                probity_threads_cpu_ns(answer),
                                probity_report_has_cpu(answer->reader)};

    fprintf(stream, "%s%9s%8s%8s%8s%8s%8s%7s%10s%10s%10s  name%s\n", has_colour ? "\033[1m" : "",
            "pid/tid", "first", "last", "life", "CPU", "off CPU", "share", "records", "hits",
            "scopes", has_colour ? "\033[0m" : "");
    for (size_t i = 0; i < answer->count; i++) {
        put_process(&table, answer->reader, &answer->processes[i]);
        for (size_t j = 0; j < answer->processes[i].thread_count; j++)
            put_thread(&table, answer->processes[i].threads[j]);
    }
    fputc('\n', stream);
    if (answer->count == 0)
        fputs("no records\n", stream);
    probity_report_foot(stream, has_colour, answer->reader, answer->repairs);
}
