/* SPDX-License-Identifier: MIT
 *
 * threads_json.c: processes and threads as one JSON object.
 */
#include "answers/threads/threads_print.h"

#include <inttypes.h>

#include "answers/report/report_json.h"
#include "answers/report/report_text.h"
#include "answers/threads/threads_columns.h"
#include "print/json.h"
#include "probity.h"

static void put_sums(FILE *stream, const struct probity_threads_sums *sums,
                     struct probity_threads_row row, int has_states)
{
    row.sums = sums;
    probity_columns_put_json(stream, probity_threads_columns, PROBITY_THREADS_COLUMNS, &row);
    if (!has_states)
        return;
    fputs(", ", stream);
    probity_columns_put_json(stream, probity_threads_states, PROBITY_THREADS_STATES, &row);
}

int probity_threads_json(FILE *stream, const struct probity_threads_answer *answer)
{
    const struct probity_threads_row row = {
        .all_cpu_ns = probity_threads_cpu_ns(answer),
        .is_cpu_known = probity_report_has_cpu(answer->reader)};
    int has_states = probity_threads_has_states(answer);
    int error = probity_report_json_head(stream, answer->reader, answer->repairs);

    fprintf(stream, ",\n\"start_ns\": %" PRIu64 ",\n\"processes\": [",
            probity_reader_start_ns(answer->reader));
    for (size_t i = 0; i < answer->count; i++) {
        const struct probity_threads_process *process = &answer->processes[i];
        fprintf(stream, "%s\n{\"pid\": %" PRIu32 ", ", i > 0 ? "," : "", process->pid);
        put_sums(stream, &process->sums, row, has_states);
        fputs(", \"threads\": [", stream);
        for (size_t j = 0; error == 0 && j < probity_threads_shown(answer, process); j++) {
            const struct probity_threads_thread *thread = process->threads[j];
            fprintf(stream, "%s\n {\"tid\": %" PRIu32 ", \"thread\": %" PRIu32 ", \"name\": ",
                    j > 0 ? "," : "", thread->tid, thread->thread);
            error = probity_json_put_text(stream, thread->name);
            fputs(", ", stream);
            put_sums(stream, &thread->sums, row, has_states);
            fputc('}', stream);
        }
        fputs("]}", stream);
    }
    fputs("]}\n", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
