/* SPDX-License-Identifier: MIT
 *
 * threads_csv.c: threads as CSV.
 */
#include "answers/threads/threads_print.h"

#include <inttypes.h>

#include "answers/report/report_csv.h"
#include "answers/report/report_text.h"
#include "answers/threads/threads_columns.h"

static void put_thread(FILE *stream, const struct probity_threads_thread *thread,
                       const struct probity_threads_row *row, int has_states)
{
    fprintf(stream, "%" PRIu32 ",%" PRIu32 ",", thread->pid, thread->tid);
    probity_report_csv_field(stream, thread->name != NULL ? thread->name : "");
    probity_columns_put_csv(stream, probity_threads_columns, PROBITY_THREADS_COLUMNS, row);
    if (has_states)
        probity_columns_put_csv(stream, probity_threads_states, PROBITY_THREADS_STATES, row);
    fputc('\n', stream);
}

void probity_threads_csv(FILE *stream, const struct probity_threads_answer *answer)
{
    struct probity_threads_row row = {.all_cpu_ns = probity_threads_cpu_ns(answer),
                                      .is_cpu_known = probity_report_has_cpu(answer->reader)};

    int has_states = probity_threads_has_states(answer);

    fputs("pid,tid,thread", stream);
    probity_columns_put_names(stream, probity_threads_columns, PROBITY_THREADS_COLUMNS);
    if (has_states)
        probity_columns_put_names(stream, probity_threads_states, PROBITY_THREADS_STATES);
    fputc('\n', stream);
    for (size_t i = 0; i < answer->count; i++) {
        for (size_t j = 0; j < probity_threads_shown(answer, &answer->processes[i]); j++) {
            row.sums = &answer->processes[i].threads[j]->sums;
            put_thread(stream, answer->processes[i].threads[j], &row, has_states);
        }
    }
}
