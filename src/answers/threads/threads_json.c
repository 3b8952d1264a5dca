/* SPDX-License-Identifier: MIT
 *
 * threads_json.c: processes and threads as one JSON object.
 */
#include "answers/threads/threads_json.h"

#include <inttypes.h>

#include "answers/report/report_json.h"
#include "answers/report/report_text.h"
#include "probity.h"

static void put_sums(FILE *stream, const struct probity_threads_sums *sums, uint64_t all_cpu_ns,
                     int is_cpu_known)
{
    fprintf(stream, "\"first_ns\": %" PRIu64 ", \"last_ns\": %" PRIu64 ", \"lifetime_ns\": %" PRIu64
            ", \"inside_ns\": %" PRIu64, sums->first_ns, sums->last_ns,
            sums->last_ns - sums->first_ns, sums->inside_ns);
    if (is_cpu_known)
        fprintf(stream, ", \"cpu_ns\": %" PRIu64 ", \"off_cpu_ns\": %" PRIu64, sums->cpu_ns,
                sums->off_ns);
    else
        fputs(", \"cpu_ns\": null, \"off_cpu_ns\": null", stream);
    if (all_cpu_ns > 0)
        fprintf(stream, ", \"cpu_share\": %.6f", (double)sums->cpu_ns / (double)all_cpu_ns);
    else
        fputs(", \"cpu_share\": null", stream);
    fprintf(stream, ", \"records\": %" PRIu64 ", \"hits\": %" PRIu64 ", \"scopes\": %" PRIu64,
            sums->records, sums->hits, sums->scopes);
}

int probity_threads_json(FILE *stream, const struct probity_threads_answer *answer)
{
    uint64_t cpu_ns = probity_threads_cpu_ns(answer);
    int is_cpu_known = probity_report_has_cpu(answer->reader);
    int error = probity_report_json_head(stream, answer->reader, answer->repairs);

    fprintf(stream, ",\n\"start_ns\": %" PRIu64 ",\n\"processes\": [",
            probity_reader_start_ns(answer->reader));
    for (size_t i = 0; i < answer->count; i++) {
        const struct probity_threads_process *process = &answer->processes[i];
        fprintf(stream, "%s\n{\"pid\": %" PRIu32 ", ", i > 0 ? "," : "", process->pid);
        put_sums(stream, &process->sums, cpu_ns, is_cpu_known);
        fputs(", \"threads\": [", stream);
        for (size_t j = 0; error == 0 && j < process->thread_count; j++) {
            const struct probity_threads_thread *thread = process->threads[j];
            fprintf(stream, "%s\n {\"tid\": %" PRIu32 ", \"thread\": %" PRIu32 ", \"name\": ",
                    j > 0 ? "," : "", thread->tid, thread->thread);
            error = probity_report_json_string(stream, thread->name);
            fputs(", ", stream);
            put_sums(stream, &thread->sums, cpu_ns, is_cpu_known);
            fputc('}', stream);
        }
        fputs("]}", stream);
    }
    fputs("]}\n", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
