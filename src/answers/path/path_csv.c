/* SPDX-License-Identifier: MIT
 *
 * path_csv.c: parts as CSV.
 */
#include "answers/path/path_print.h"

#include <inttypes.h>

#include "answers/path/path_columns.h"
#include "answers/report/report_csv.h"
#include "answers/waits/wait_text.h"

static void put_part(FILE *stream, const struct probity_path_answer *answer,
                     const struct probity_path_row *row, size_t number)
{
    const struct probity_path_part *part = row->part;
    const struct probity_path_link *link = part->link;

    fprintf(stream, "%zu,", number);
    if (row->span->has_id)
        fprintf(stream, "%" PRIu64, row->span->id);
    fprintf(stream, ",%s", probity_path_state_name(part->state));
    probity_columns_put_csv(stream, probity_path_columns, PROBITY_PATH_COLUMNS, row);
    probity_wait_csv_who(stream, probity_path_thread(answer->path, part->thread_slot), 0,
                         &part->doing);
    fprintf(stream, ",%s,", link != NULL ? probity_wait_what_name(link->what) : "");
    probity_report_csv_field(stream, link != NULL ? link->name : "");
    fputc(',', stream);
    if (link != NULL && link->object != 0)
        fprintf(stream, "0x%" PRIx64, link->object);
    fputc('\n', stream);
}

void probity_path_csv(FILE *stream, const struct probity_path_answer *answer)
{
    size_t count;
    const struct probity_path_span *const *spans = probity_path_spans(answer->path, &count);

    fputs("span,id,state", stream);
    probity_columns_put_names(stream, probity_path_columns, PROBITY_PATH_COLUMNS);
    fputs(",tid,thread,function,call,wait,wait_name,wait_object\n", stream);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < spans[i]->part_count; j++) {
            const struct probity_path_row row = {spans[i], &spans[i]->parts[j]};
            put_part(stream, answer, &row, i + 1);
        }
    }
}
