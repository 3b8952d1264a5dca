/* SPDX-License-Identifier: MIT
 *
 * timeline_json.c: prints a timeline, divided into columns, as JSON.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "answers/report/report_json.h"
#include "answers/timeline/timeline_grid.h"
#include "answers/timeline/timeline_text.h"
#include "print/columns.h"
#include "print/json.h"
#include "probity.h"

struct row {
    const struct probity_timeline_thread *thread;
    const struct probity_timeline_cell *cell;
    const char *function, *mark; /* NULL: none */
};

#define COLUMN(NAME, KIND, FROM) PROBITY_COLUMN(NAME, KIND, struct row, FROM)
#define DECIMAL(NAME, FROM, DIGITS)                                                                \
    static struct probity_cell NAME(const void *row)                                               \
    {                                                                                              \
        return probity_cell_decimal(((const struct row *)row)->cell->FROM, DIGITS);                \
    }

DECIMAL(there, there_ns, 0)
DECIMAL(inside, inside_ns, 0)
DECIMAL(marks, marks, 3)
COLUMN(function, text, row->function)
COLUMN(mark, text, row->mark)

static struct probity_cell off_cpu(const void *any)
{
    const struct row *row = any;

    return row->thread->is_cpu_known ? probity_cell_decimal(row->cell->off_ns, 0)
                                     : probity_cell_unknown();
}

static const struct probity_column columns[] = {
    {"there_ns", there},     {"inside_ns", inside},   {"marks", marks},
    {"off_cpu_ns", off_cpu}, {"function", function}, {"mark", mark}};

enum { COLUMNS = sizeof columns / sizeof *columns };

enum { LABEL_BYTES = 32 };

/* Returns NULL if there is none. */
static const char *label_of(const struct probity_timeline_answer *answer, uint32_t number,
                            char ret_text[LABEL_BYTES])
{
    size_t count;
    const struct probity_timeline_name *const *names =
        probity_timeline_names(answer->timeline, &count);

    return number < count ? probity_timeline_label(names[number], ret_text) : NULL;
}

static int put_cell(FILE *stream, const struct probity_timeline_answer *answer,
                    const struct probity_timeline_thread *thread,
                    const struct probity_timeline_cell *cell)
{
    char function_text[LABEL_BYTES], mark_text[LABEL_BYTES];
    const struct row row = {thread, cell, label_of(answer, cell->function, function_text),
                            label_of(answer, cell->mark, mark_text)};

    fputc('{', stream);
    int error = probity_columns_put_json(stream, columns, COLUMNS, &row);
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
        error = probity_json_put_text(stream, thread->name);
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
