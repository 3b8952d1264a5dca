/* SPDX-License-Identifier: MIT
 *
 * path_json.c: paths as one JSON object.
 */
#include "answers/path/path_print.h"

#include <inttypes.h>

#include "answers/path/path_columns.h"
#include "answers/report/report_json.h"
#include "answers/report/states_print.h"
#include "answers/waits/wait_text.h"
#include "print/json.h"
#include "probity.h"

/* Writes the waits that led to a part, innermost first. */
static int put_links(FILE *stream, const struct probity_path_answer *answer,
                     const struct probity_path_link *link)
{
    int error = 0;

    fputs(", \"waits\": [", stream);
    for (int i = 0; error == 0 && link != NULL; link = link->outer, i++) {
        const struct probity_thread_label *thread =
            probity_path_thread(answer->path, link->thread_slot);
        fprintf(stream, "%s{\"kind\": \"%s\", \"name\": ", i > 0 ? ", " : "",
                probity_wait_what_name(link->what));
        error = probity_json_put_text(stream, link->name);
        if (link->object != 0)
            fprintf(stream, ", \"object\": \"0x%" PRIx64 "\"", link->object);
        fprintf(stream, ", \"waiter_tid\": %" PRIu32 "}", thread != NULL ? thread->tid : 0);
    }
    fputc(']', stream);
    return error;
}

/* Writes the members of a part between two traces. */
static void put_wire(FILE *stream, const struct probity_path_answer *answer,
                     const struct probity_path_part *part)
{
    const struct probity_thread_label *from = probity_path_thread(answer->path, part->from_slot);
    const struct probity_thread_label *to = probity_path_thread(answer->path, part->thread_slot);
    uint64_t error_ns = probity_path_wire_error(answer, part);

    if (from != NULL && to != NULL)
        fprintf(stream, ", \"from_tid\": %" PRIu32 ", \"from_trace\": %" PRIu32
                ", \"to_trace\": %" PRIu32, from->tid, from->trace, to->trace);
    if (error_ns == UINT64_MAX)
        fputs(", \"error_ns\": null", stream);
    else
        fprintf(stream, ", \"error_ns\": %" PRIu64, error_ns);
}

static int put_part(FILE *stream, const struct probity_path_answer *answer,
                    const struct probity_path_row *row)
{
    const struct probity_path_part *part = row->part;

    fprintf(stream, "{\"state\": \"%s\", ", probity_path_state_name(part->state));
    probity_columns_put_json(stream, probity_path_columns, PROBITY_PATH_COLUMNS, row);
    int error = probity_wait_json_who(
        stream, "", probity_path_thread(answer->path, part->thread_slot), 0, &part->doing);
    if (part->state == PROBITY_PATH_WIRE)
        put_wire(stream, answer, part);
    if (error == 0)
        error = put_links(stream, answer, part->link);
    fputc('}', stream);
    return error;
}

static int put_span(FILE *stream, const struct probity_path_answer *answer,
                    const struct probity_path_span *span)
{
    const struct probity_thread_label *thread =
        probity_path_thread(answer->path, span->thread_slot);
    int error = 0;

    fprintf(stream, "{\"at_ns\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"tid\": %" PRIu32 ", \"id\": ",
            span->from_ns, span->to_ns - span->from_ns, thread != NULL ? thread->tid : 0);
    if (span->has_id)
        fprintf(stream, "%" PRIu64, span->id);
    else
        fputs("null", stream);
    if (span->has_states) {
        fputs(", ", stream);
        probity_columns_put_json(stream, probity_split_columns, PROBITY_SPLIT_COLUMNS,
                                 &span->split);
    }
    fputs(", \"parts\": [", stream);
    for (size_t i = 0; error == 0 && i < span->part_count; i++) {
        const struct probity_path_row row = {span, &span->parts[i]};
        fputs(i > 0 ? ",\n  " : "\n  ", stream);
        error = put_part(stream, answer, &row);
    }
    fputs("]}", stream);
    return error;
}

int probity_path_json(FILE *stream, const struct probity_path_answer *answer)
{
    struct probity_waits_facts facts = probity_path_facts(answer->path);
    size_t count;
    const struct probity_path_span *const *spans = probity_path_spans(answer->path, &count);
    int error = probity_report_json_head(stream, answer->reader,
                                         probity_path_repairs(answer->path));

    fprintf(stream, ",\n\"start_ns\": %" PRIu64 ",\n\"what\": \"%s\"",
            probity_reader_start_ns(answer->reader), answer->what);
    probity_wait_json_facts(stream, &facts);
    fputs(",\n\"spans\": [", stream);
    for (size_t i = 0; error == 0 && i < count; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        error = put_span(stream, answer, spans[i]);
    }
    fputs("]}\n", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
