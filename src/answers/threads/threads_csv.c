/* SPDX-License-Identifier: MIT
 *
 * threads_csv.c: threads as CSV.
 */
#include "answers/threads/threads_csv.h"

#include <inttypes.h>

#include "answers/report/report_csv.h"
#include "answers/report/report_text.h"

static void put_thread(FILE *stream, const struct probity_threads_thread *thread,
                       uint64_t all_cpu_ns, int is_cpu_known)
{
    const struct probity_threads_sums *sums = &thread->sums;

    fprintf(stream, "%" PRIu32 ",%" PRIu32 ",", thread->pid, thread->tid);
    probity_report_csv_field(stream, thread->name != NULL ? thread->name : "");
    fprintf(stream, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", sums->first_ns,
            sums->last_ns, sums->last_ns - sums->first_ns, sums->inside_ns);
    if (is_cpu_known)
        fprintf(stream, "%" PRIu64 ",%" PRIu64 ",", sums->cpu_ns, sums->off_ns);
    else
        fputs(",,", stream);
    if (all_cpu_ns > 0)
        fprintf(stream, "%.6f", (double)sums->cpu_ns / (double)all_cpu_ns);
    fprintf(stream, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", sums->records, sums->hits,
            sums->scopes);
}

void probity_threads_csv(FILE *stream, const struct probity_threads_answer *answer)
{
    uint64_t cpu_ns = probity_threads_cpu_ns(answer);
    int is_cpu_known = probity_report_has_cpu(answer->reader);

    fputs("pid,tid,thread,first_ns,last_ns,lifetime_ns,inside_ns,cpu_ns,off_cpu_ns,cpu_share,"
          "records,hits,scopes\n", stream);
    for (size_t i = 0; i < answer->count; i++) {
        for (size_t j = 0; j < answer->processes[i].thread_count; j++)
            put_thread(stream, answer->processes[i].threads[j], cpu_ns, is_cpu_known);
    }
}
