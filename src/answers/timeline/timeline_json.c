/* SPDX-License-Identifier: MIT
 *
 * timeline_json.c: a timeline, divided into columns, as JSON.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "answers/report/report_json.h"
#include "answers/timeline/timeline_grid.h"
#include "answers/timeline/timeline_text.h"
#include "probity.h"

static int put_name(FILE *stream, const struct probity_timeline_answer *answer, const char *what,
                    uint32_t number)
{
    size_t count;
    const struct probity_timeline_name *const *names =
        probity_timeline_names(answer->timeline, &count);
    char text[32];

    fprintf(stream, ", \"%s\": ", what);
    if (number < count)
        return probity_report_json_string(stream, probity_timeline_label(names[number], text));
    fputs("null", stream);
    return 0;
}

static int put_cell(FILE *stream, const struct probity_timeline_answer *answer,
                    const struct probity_timeline_thread *thread,
                    const struct probity_timeline_cell *cell)
{
    fprintf(stream, "{\"there_ns\": %.0f, \"inside_ns\": %.0f, \"marks\": %.3f, \"off_cpu_ns\": ",
            cell->there_ns, cell->inside_ns, cell->marks);
    if (thread->is_cpu_known)
        fprintf(stream, "%.0f", cell->off_ns);
    else
        fputs("null", stream);
    int error = put_name(stream, answer, "function", cell->function);
    if (error == 0)
        error = put_name(stream, answer, "mark", cell->mark);
    fputc('}', stream);
    return error;
}

static int put_thread(FILE *stream, const struct probity_timeline_answer *answer,
                      const struct probity_timeline_thread *thread,
                      struct probity_timeline_cell *cells)
{
    int error = probity_timeline_grid(answer->timeline, thread, answer->columns, cells);

    fprintf(stream, "{\"pid\": %" PRIu32 ", \"tid\": %" PRIu32 ", \"name\": ", thread->pid,
            thread->tid);
    if (error == 0)
        error = probity_report_json_string(stream, thread->name);
    fputs(", \"columns\": [", stream);
    for (size_t i = 0; error == 0 && i < answer->columns; i++) {
        fputs(i > 0 ? ",\n  " : "\n  ", stream);
        error = put_cell(stream, answer, thread, &cells[i]);
    }
    fputs("]}", stream);
    return error;
}

static void put_drops(FILE *stream, const struct probity_reader *reader)
{
    const char *between = "";

    fputs("\"drops\": [", stream);
    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        for (size_t j = 0; j < facts->drop_count; j++) {
            fprintf(stream, "%s\n{\"pid\": %" PRIu32 ", \"from_ns\": %" PRIu64 ", \"to_ns\": %"
                    PRIu64 ", \"records\": %" PRIu64 "}", between, facts->info.pid,
                    facts->drops[j].from_ns, facts->drops[j].to_ns, facts->drops[j].records);
            between = ",";
        }
    }
    fputs("],\n", stream);
}

int probity_timeline_json(FILE *stream, const struct probity_timeline_answer *answer)
{
    const struct probity_timeline_facts facts = probity_timeline_facts(answer->timeline);
    size_t count;
    const struct probity_timeline_thread *const *threads =
        probity_timeline_threads(answer->timeline, &count);
    size_t left_out, shown = probity_timeline_shown(answer, &left_out);
    struct probity_timeline_cell *cells = calloc(answer->columns, sizeof *cells);
    const char *between = "\n";

    if (cells == NULL)
        return PROBITY_ERROR_MEMORY;
    int error = probity_report_json_head(stream, answer->reader,
                                         probity_timeline_repairs(answer->timeline));
    fprintf(stream, ",\n\"first_ns\": %" PRIu64 ", \"last_ns\": %" PRIu64
            ", \"calls_profiled\": %" PRIu64 ",\n", facts.first_ns, facts.last_ns,
            answer->profiled);
    put_drops(stream, answer->reader);
    fputs("\"threads\": [", stream);
    for (size_t i = 0; error == 0 && i < shown; i++) {
        if (threads[i]->first_ns == 0)
            continue;
        fputs(between, stream);
        error = put_thread(stream, answer, threads[i], cells);
        between = ",\n";
    }
    fputs("]}\n", stream);
    free(cells);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
