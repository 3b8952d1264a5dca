/* SPDX-License-Identifier: MIT
 *
 * waits_json.c: rows as one JSON object.
 */
#include "answers/waits/waits_print.h"

#include <inttypes.h>

#include "answers/report/report_json.h"
#include "answers/report/states_print.h"
#include "answers/waits/wait_text.h"
#include "answers/waits/waits_columns.h"
#include "print/json.h"
#include "probity.h"

/* Writes a split by states, if there is one. */
static void put_split(FILE *stream, const struct probity_waits_answer *answer,
                      const struct probity_thread_split *split)
{
    if (!answer->has_states)
        return;
    fputs(", ", stream);
    probity_columns_put_json(stream, probity_split_columns, PROBITY_SPLIT_COLUMNS, split);
}

static int put_holder(FILE *stream, const struct probity_waits_answer *answer,
                      const struct probity_waiting_row *row,
                      const struct probity_waiting_holder *holder)
{
    uint64_t total_ns = row->durations.total_ns;

    fprintf(stream, "{\"ns\": %" PRIu64 ", \"share\": %.6f, \"culprit_of\": %" PRIu64, holder->ns,
            total_ns > 0 ? (double)holder->ns / (double)total_ns : 0, holder->waits);
    if (holder->known_ns > 0)
        fprintf(stream, ", \"cpu_ns\": %" PRIu64 ", \"off_cpu_ns\": %" PRIu64, holder->cpu_ns,
                holder->known_ns - holder->cpu_ns);
    else
        fputs(", \"cpu_ns\": null, \"off_cpu_ns\": null", stream);
    put_split(stream, answer, &holder->split);
    int error = probity_wait_json_who(
        stream, "", probity_waiting_thread(answer->waiting, holder->thread_slot), holder->tid,
        &holder->doing);
    fputc('}', stream);
    return error;
}

static int put_case(FILE *stream, const struct probity_waits_answer *answer,
                    const struct probity_waiting_case *instance)
{
    fprintf(stream, "{\"at_ns\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"open\": %s",
            instance->from_ns, instance->ns, instance->is_open ? "true" : "false");
    put_split(stream, answer, &instance->split);
    int error = probity_wait_json_who(
        stream, "", probity_waiting_thread(answer->waiting, instance->thread_slot), 0,
        &instance->doing);
    if (error == 0)
        error = probity_wait_json_who(
            stream, "culprit_", probity_waiting_thread(answer->waiting, instance->culprit_slot),
            instance->culprit_tid, &instance->culprit_doing);
    if (error == 0 && instance->what != NULL) {
        fputs(", \"waited_for\": ", stream);
        error = probity_json_put_text(stream, instance->what);
    }
    fputc('}', stream);
    return error;
}

/* Writes the subject of the row. */
static int put_subject(FILE *stream, const struct probity_waits_answer *answer,
                       const struct probity_waiting_row *row)
{
    const struct probity_past_doing doing = {row->function, NULL};

    fprintf(stream, "{\"kind\": \"%s\"",
            row->is_rest                            ? "others"
            : row->what != PROBITY_WAIT_WHATS       ? probity_wait_what_name(row->what)
            : row->thread_slot != PROBITY_WAITS_NO_THREAD ? "thread"
                                                          : "function");
    if (row->is_rest)
        return 0;
    if (row->what == PROBITY_WAIT_WHATS)
        return probity_wait_json_who(
            stream, "", probity_waiting_thread(answer->waiting, row->thread_slot), 0, &doing);
    fputs(", \"name\": ", stream);
    int error = probity_json_put_text(stream, row->name);
    if (row->object != 0)
        fprintf(stream, ", \"object\": \"0x%" PRIx64 "\"", row->object);
    fprintf(stream, ", \"pid\": %" PRIu32,
            probity_reader_facts(answer->reader, row->trace)->info.pid);
    return error;
}

static int put_row(FILE *stream, const struct probity_waits_answer *answer,
                   const struct probity_waiting_row *row)
{
    int error = put_subject(stream, answer, row);

    fputs(", ", stream);
    probity_columns_put_json(stream, probity_waits_columns, PROBITY_WAITS_COLUMNS, row);
    put_split(stream, answer, &row->split);
    fprintf(stream, ", \"waiters_are_least\": %s, \"held_by\": [",
            row->are_waiters_least ? "true" : "false");
    for (size_t i = 0; error == 0 && i < row->holder_count; i++) {
        fputs(i > 0 ? ",\n  " : "\n  ", stream);
        error = put_holder(stream, answer, row, &row->holders[i]);
    }
    fputs("], \"worst\": [", stream);
    for (size_t i = 0; error == 0 && i < row->worst_count; i++) {
        fputs(i > 0 ? ",\n  " : "\n  ", stream);
        error = put_case(stream, answer, &row->worst[i]);
    }
    fputs("]}", stream);
    return error;
}

int probity_waits_json(FILE *stream, const struct probity_waits_answer *answer)
{
    size_t count;
    const struct probity_waiting_row *const *rows = probity_waiting_rows(answer->waiting, &count);
    size_t shown = probity_waits_shown(answer, count);
    struct probity_waits_facts facts = probity_waiting_facts(answer->waiting);
    int error = probity_report_json_head(stream, answer->reader,
                                         probity_waiting_repairs(answer->waiting));

    fprintf(stream, ",\n\"start_ns\": %" PRIu64, probity_reader_start_ns(answer->reader));
    probity_wait_json_facts(stream, &facts);
    fprintf(stream, ",\n\"calls_counted\": %" PRIu64, answer->counted);
    fprintf(stream, ",\n\"rows_left_out\": %zu,\n\"rows\": [", count - shown);
    for (size_t i = 0; error == 0 && i < shown; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        error = put_row(stream, answer, rows[i]);
    }
    fputs("]}\n", stream);
    return error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : error;
}
