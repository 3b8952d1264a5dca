/* SPDX-License-Identifier: MIT
 *
 * ps_columns.c: prints the programs that are recording as JSON and CSV. The numbers come from one
 * table of columns; texts are written around them.
 */
#include <inttypes.h>

#include "answers/ps/ps.h"
#include "answers/report/report_csv.h"
#include "print/columns.h"
#include "print/json.h"
#include "probity.h"

static const struct probity_activity_facts *facts_of(const void *row)
{
    return ((const struct probity_ps_row *)row)->facts;
}

static struct probity_cell uid(const void *row)
{
    return probity_cell_count(((const struct probity_ps_row *)row)->owner);
}

static struct probity_cell begin(const void *row)
{
    uint64_t begin_ns = facts_of(row)->begin_ns;

    return begin_ns != 0 ? probity_cell_count(begin_ns) : probity_cell_unknown();
}

static struct probity_cell rate(const void *row)
{
    double rate = ((const struct probity_ps_row *)row)->rate;

    return rate >= 0 ? probity_cell_fraction(rate) : probity_cell_unknown();
}

static struct probity_cell bytes(const void *row)
{
    return probity_cell_count(((const struct probity_ps_row *)row)->bytes);
}

static struct probity_cell chunks(const void *row)
{
    return probity_cell_count(facts_of(row)->chunks);
}

static struct probity_cell chunks_used(const void *row)
{
    return probity_cell_count(facts_of(row)->chunks_used);
}

static struct probity_cell threads(const void *row)
{
    return probity_cell_count(facts_of(row)->threads);
}

static struct probity_cell dropped(const void *row)
{
    return probity_cell_count(facts_of(row)->dropped);
}

static struct probity_cell stalls(const void *row)
{
    return probity_cell_count(facts_of(row)->stalls);
}

static struct probity_cell failed(const void *row)
{
    return probity_cell_count((uint64_t)facts_of(row)->has_failed);
}

static const struct probity_column columns[] = {
    {"uid", uid},         {"begin_ns", begin},  {"records_per_s", rate},
    {"spool_bytes", bytes}, {"chunks", chunks}, {"chunks_used", chunks_used},
    {"threads", threads}, {"dropped", dropped}, {"stalls", stalls},
    {"failed", failed}};

enum { COLUMNS = sizeof columns / sizeof *columns };

void probity_ps_csv(FILE *stream, const struct probity_ps_answer *answer)
{
    fputs("pid,program,mode,label,trace", stream);
    probity_columns_put_names(stream, columns, COLUMNS);
    fputc('\n', stream);
    for (size_t i = 0; i < answer->count; i++) {
        const struct probity_ps_row *row = &answer->rows[i];
        fprintf(stream, "%" PRIu32 ",", row->pid);
        probity_report_csv_field(stream, row->program);
        fprintf(stream, ",%s,", probity_ps_mode(row->facts));
        probity_report_csv_field(stream, row->facts->label != NULL ? row->facts->label : "");
        fputc(',', stream);
        probity_report_csv_field(stream, row->facts->trace_path != NULL ? row->facts->trace_path
                                                                        : "");
        probity_columns_put_csv(stream, columns, COLUMNS, row);
        fputc('\n', stream);
    }
}

static int put_object(FILE *stream, const struct probity_ps_row *row)
{
    const char *program = row->program;

    fprintf(stream, "{\"pid\": %" PRIu32 ", \"program\": ", row->pid);
    int error = probity_json_put_text(stream, program[0] != 0 ? program : NULL);
    fprintf(stream, ", \"mode\": \"%s\", \"label\": ", probity_ps_mode(row->facts));
    if (error == 0)
        error = probity_json_put_text(stream, row->facts->label);
    fputs(", \"trace\": ", stream);
    if (error == 0)
        error = probity_json_put_text(stream, row->facts->trace_path);
    fputs(", ", stream);
    probity_columns_put_json(stream, columns, COLUMNS, row);
    fputc('}', stream);
    return error;
}

int probity_ps_json(FILE *stream, const struct probity_ps_answer *answer)
{
    int error = 0;

    fputs("{\"processes\": [", stream);
    for (size_t i = 0; error == 0 && i < answer->count; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        error = put_object(stream, &answer->rows[i]);
    }
    fputs("]}\n", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
