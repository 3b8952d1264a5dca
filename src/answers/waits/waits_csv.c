/* SPDX-License-Identifier: MIT
 *
 * waits_csv.c: rows as CSV.
 */
#include "answers/waits/waits_print.h"

#include <inttypes.h>

#include "answers/report/report_csv.h"
#include "answers/report/states_print.h"
#include "answers/waits/wait_text.h"
#include "answers/waits/waits_columns.h"

static const char *kind_of(const struct probity_waiting_row *row)
{
    if (row->is_rest)
        return "others";
    if (row->what != PROBITY_WAIT_WHATS)
        return probity_wait_what_name(row->what);
    return row->thread_slot != PROBITY_WAITS_NO_THREAD ? "thread" : "function";
}

static void put_splits(FILE *stream, const struct probity_waiting_row *row)
{
    probity_columns_put_csv(stream, probity_split_columns, PROBITY_SPLIT_COLUMNS, &row->split);
    if (row->holder_count > 0)
        probity_columns_put_csv(stream, probity_split_columns, PROBITY_SPLIT_COLUMNS,
                                &row->holders[0].split);
    else
        fputs(",,,,", stream);
}

static void put_row(FILE *stream, const struct probity_waits_answer *answer,
                    const struct probity_waiting_row *row)
{
    const struct probity_thread_label *thread =
        probity_waiting_thread(answer->waiting, row->thread_slot);
    const struct probity_past_doing none = {NULL, NULL};

    fprintf(stream, "%s,", kind_of(row));
    probity_report_csv_field(stream, thread != NULL && thread->name != NULL ? thread->name
                                     : row->function != NULL ? row->function->name
                                                             : row->name);
    fputc(',', stream);
    if (row->object != 0)
        fprintf(stream, "0x%" PRIx64, row->object);
    fputc(',', stream);
    if (row->what != PROBITY_WAIT_WHATS)
        fprintf(stream, "%" PRIu32, probity_reader_facts(answer->reader, row->trace)->info.pid);
    else if (thread != NULL)
        fprintf(stream, "%" PRIu32, thread->tid);
    probity_columns_put_csv(stream, probity_waits_columns, PROBITY_WAITS_COLUMNS, row);
    if (row->holder_count == 0) {
        fputc(',', stream);
        probity_wait_csv_who(stream, NULL, 0, &none);
    } else {
        const struct probity_waiting_holder *holder = &row->holders[0];
        fprintf(stream, ",%" PRIu64, holder->ns);
        probity_wait_csv_who(stream, probity_waiting_thread(answer->waiting, holder->thread_slot),
                             holder->tid, &holder->doing);
    }
    if (answer->has_states)
        put_splits(stream, row);
    fputc('\n', stream);
}

void probity_waits_csv(FILE *stream, const struct probity_waits_answer *answer)
{
    size_t count;
    const struct probity_waiting_row *const *rows = probity_waiting_rows(answer->waiting, &count);
    size_t shown = probity_waits_shown(answer, count);

    fputs("kind,name,object,id", stream);
    probity_columns_put_names(stream, probity_waits_columns, PROBITY_WAITS_COLUMNS);
    fputs(",holder_ns,holder_tid,holder_thread,holder_function,holder_call", stream);
    if (answer->has_states) {
        probity_columns_put_names(stream, probity_split_columns, PROBITY_SPLIT_COLUMNS);
        fputs(",holder_running_ns,holder_waiting_ns,holder_blocked_ns,holder_unknown_ns", stream);
    }
    fputc('\n', stream);
    for (size_t i = 0; i < shown; i++)
        put_row(stream, answer, rows[i]);
}
