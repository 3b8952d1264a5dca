/* SPDX-License-Identifier: MIT
 *
 * report_csv.c: prints a report as CSV, always with the same columns.
 */
#include "answers/report/report_csv.h"

#include <inttypes.h>

#include "answers/report/report_text.h"

const struct probity_report_member probity_report_members[PROBITY_REPORT_MEMBERS] = {
    {"total_ns", PROBITY_REPORT_TOTAL},
    {"self_ns", PROBITY_REPORT_SELF},
    {"paused_ns", PROBITY_REPORT_PAUSED},
    {"cpu_total_ns", PROBITY_REPORT_CPU_TOTAL},
    {"cpu_self_ns", PROBITY_REPORT_CPU_SELF},
    {"off_cpu_total_ns", PROBITY_REPORT_OFF_TOTAL},
    {"off_cpu_self_ns", PROBITY_REPORT_OFF_SELF},
    {"elapsed_ns", PROBITY_REPORT_ELAPSED},
    {"parallelism", PROBITY_REPORT_PARALLELISM},
    {"min_ns", PROBITY_REPORT_MIN},
    {"mean_ns", PROBITY_REPORT_MEAN},
    {"p50_ns", PROBITY_REPORT_P50},
    {"p90_ns", PROBITY_REPORT_P90},
    {"p99_ns", PROBITY_REPORT_P99},
    {"max_ns", PROBITY_REPORT_MAX}};

const struct probity_report_member
    probity_report_corrected_members[PROBITY_REPORT_CORRECTED_MEMBERS] = {
        {"total_corrected_ns", PROBITY_REPORT_TOTAL_CORRECTED},
        {"total_error_ns", PROBITY_REPORT_TOTAL_ERROR},
        {"self_corrected_ns", PROBITY_REPORT_SELF_CORRECTED},
        {"self_error_ns", PROBITY_REPORT_SELF_ERROR}};

static void put_function(FILE *stream, const struct probity_report_function *entry)
{
    const struct probity_function *function = entry->function;

    if (function == NULL) {
        fprintf(stream, "site-%" PRIu32 ",,,,", entry->number);
        return;
    }
    probity_report_csv_field(stream, function->name);
    fputc(',', stream);
    probity_report_csv_field(stream, entry->signature);
    fputc(',', stream);
    probity_report_csv_field(stream, function->file);
    fprintf(stream, ",%" PRIu32 ",", function->line);
}

void probity_report_csv_thread(FILE *stream, const struct probity_thread_label *thread)
{
    if (thread == NULL) {
        fputs(",,", stream);
        return;
    }
    fprintf(stream, "%" PRIu32 ",%" PRIu32 ",", thread->pid, thread->tid);
    probity_report_csv_field(stream, thread->name != NULL ? thread->name : "");
}

static void put_times(FILE *stream, const struct probity_report_sums *sums,
                      const struct probity_report_member *members, size_t count, int is_cpu_known)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = probity_report_value(sums, members[i].key);
        if (!probity_report_is_known(sums, members[i].key, is_cpu_known))
            fputc(',', stream);
        else if (members[i].key == PROBITY_REPORT_PARALLELISM)
            fprintf(stream, ",%" PRIu64 ".%03u", value / 1000, (unsigned)(value % 1000));
        else
            fprintf(stream, ",%" PRIu64, value);
    }
}

static void put_sums(FILE *stream, const struct probity_report_sums *sums, int is_cpu_known)
{
    fprintf(stream, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, sums->calls, sums->untimed,
            sums->repaired);
    put_times(stream, sums, probity_report_members, PROBITY_REPORT_MEMBERS, is_cpu_known);
    fprintf(stream, ",%.4f", probity_report_quantile_error(sums));
    put_times(stream, sums, probity_report_corrected_members, PROBITY_REPORT_CORRECTED_MEMBERS,
              is_cpu_known);
    fprintf(stream, ",%" PRIu64 ",%d,%" PRIu64 "\n", sums->counted, sums->is_least,
            sums->entries);
}

void probity_report_csv(FILE *stream, const struct probity_reader *reader,
                        const struct probity_report_function *functions, size_t count)
{
    int is_cpu_known = probity_report_has_cpu(reader);

    fputs("function,signature,file,line,pid,tid,thread,calls,calls_untimed,calls_repaired",
          stream);
    for (size_t i = 0; i < PROBITY_REPORT_MEMBERS; i++)
        fprintf(stream, ",%s", probity_report_members[i].name);
    fputs(",percentile_error", stream);
    for (size_t i = 0; i < PROBITY_REPORT_CORRECTED_MEMBERS; i++)
        fprintf(stream, ",%s", probity_report_corrected_members[i].name);
    fputs(",calls_counted,calls_are_least,calls_entries\n", stream);
    for (size_t i = 0; i < count; i++) {
        put_function(stream, &functions[i]);
        probity_report_csv_thread(stream, NULL);
        put_sums(stream, &functions[i].sums, is_cpu_known);
        for (size_t j = 0; j < functions[i].row_count; j++) {
            put_function(stream, &functions[i]);
            probity_report_csv_thread(stream, functions[i].rows[j].thread);
            put_sums(stream, &functions[i].rows[j].sums, is_cpu_known);
        }
    }
}
