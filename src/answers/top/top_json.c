/* SPDX-License-Identifier: MIT
 *
 * top_json.c: one view as a JSON object on one line.
 */
#include <inttypes.h>

#include "answers/report/report_json.h"
#include "answers/top/top_print.h"
#include "probity.h"

static void put_sums(FILE *stream, const struct probity_top_row *row,
                     const struct probity_top_sums *sums)
{
    static const struct {
        const char *name;
        enum probity_top_key key;
    } members[] = {{"wall_ns", PROBITY_TOP_WALL}, {"cpu_ns", PROBITY_TOP_CPU},
                   {"off_cpu_ns", PROBITY_TOP_OFF}, {"p50_ns", PROBITY_TOP_P50},
                   {"p99_ns", PROBITY_TOP_P99}, {"max_ns", PROBITY_TOP_MAX}};

    fprintf(stream, "{\"calls\": %" PRIu64, sums->calls);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        fprintf(stream, ", \"%s\": ", members[i].name);
        if (sums->calls > 0 && probity_top_is_known(row, members[i].key))
            fprintf(stream, "%" PRIu64, probity_top_value(sums, members[i].key));
        else
            fputs("null", stream);
    }
    fputc('}', stream);
}

static int put_row(FILE *stream, const struct probity_top_answer *answer,
                   const struct probity_top_row *row)
{
    double seconds = (double)answer->interval_ns / 1e9;

    fputs("{\"name\": ", stream);
    int error = probity_report_json_string(stream, row->name);
    fputs(", \"place\": ", stream);
    if (error == 0)
        error = probity_report_json_string(stream, row->place);
    if (row->pid != 0)
        fprintf(stream, ", \"pid\": %" PRIu32, row->pid);
    fprintf(stream, ", \"calls_per_s\": %.3f, \"interval\": ",
            seconds > 0 ? (double)row->interval.calls / seconds : 0);
    put_sums(stream, row, &row->interval);
    fputs(", \"all\": ", stream);
    put_sums(stream, row, &row->all);
    fputc('}', stream);
    return error;
}

int probity_top_json(FILE *stream, const struct probity_top_answer *answer)
{
    size_t count;
    struct probity_top_row *const *rows =
        probity_top_rows(answer->top, answer->view, answer->key, &count);
    int error = rows != NULL ? 0 : PROBITY_ERROR_MEMORY;

    fprintf(stream, "{\"at_ns\": %" PRIu64 ", \"interval_ns\": %" PRIu64 ", \"programs\": %zu"
            ", \"view\": \"%s\", \"sort\": \"%s\", \"rows\": [", answer->at_ns,
            answer->interval_ns, answer->programs, probity_top_view_name(answer->view),
            probity_top_key_name(answer->key));
    for (size_t i = 0; error == 0 && i < count && (answer->limit == 0 || i < answer->limit); i++) {
        fputs(i > 0 ? ", " : "", stream);
        error = put_row(stream, answer, rows[i]);
    }
    fputs("]}\n", stream);
    return error;
}
