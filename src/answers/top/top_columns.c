/* SPDX-License-Identifier: MIT
 *
 * top_columns.c: columns of a row; prints one view as a JSON object on one line.
 */
#include <inttypes.h>

#include "answers/top/top_print.h"
#include "probity.h"

#define COLUMN(NAME, KIND, FROM) PROBITY_COLUMN(NAME, KIND, struct probity_top_line, FROM)

COLUMN(name, text, row->row->name)
COLUMN(place, text, row->row->place)

static struct probity_cell pid(const void *any)
{
    const struct probity_top_line *line = any;

    return line->row->pid != 0 ? probity_cell_count(line->row->pid) : probity_cell_none();
}

static struct probity_cell rate(const void *any)
{
    const struct probity_top_line *line = any;
    double seconds = (double)line->answer->interval_ns / 1e9;

    return probity_cell_decimal(
        seconds > 0 ? (double)line->row->interval.calls / seconds : 0, 3);
}

static struct probity_cell figure(const struct probity_top_row *row,
                                  const struct probity_top_sums *sums, enum probity_top_key key)
{
    uint64_t value = probity_top_value(sums, key);

    if (key == PROBITY_TOP_CALLS)
        return probity_cell_count(value);
    /* A call without a record of its end has no duration. */
    uint64_t count = key >= PROBITY_TOP_P50 ? sums->durations.count : sums->calls;

    return count > 0 && probity_top_is_known(row, key) ? probity_cell_ns(value)
                                                       : probity_cell_unknown();
}

/* The same column for the last interval and for all. */
#define FIGURE(NAME, KEY)                                                                          \
    static struct probity_cell interval_##NAME(const void *any)                                    \
    {                                                                                              \
        const struct probity_top_row *row = ((const struct probity_top_line *)any)->row;           \
        return figure(row, &row->interval, KEY);                                                   \
    }                                                                                              \
    static struct probity_cell all_##NAME(const void *any)                                         \
    {                                                                                              \
        const struct probity_top_row *row = ((const struct probity_top_line *)any)->row;           \
        return figure(row, &row->all, KEY);                                                        \
    }

FIGURE(calls, PROBITY_TOP_CALLS)
FIGURE(wall, PROBITY_TOP_WALL)
FIGURE(cpu, PROBITY_TOP_CPU)
FIGURE(off, PROBITY_TOP_OFF)
FIGURE(p50, PROBITY_TOP_P50)
FIGURE(p99, PROBITY_TOP_P99)
FIGURE(max, PROBITY_TOP_MAX)

const struct probity_column probity_top_columns[PROBITY_TOP_COLUMNS] = {
    [PROBITY_TOP_ROW_NAME] = {"name", name},
    [PROBITY_TOP_ROW_PLACE] = {"place", place},
    [PROBITY_TOP_ROW_PID] = {"pid", pid},
    [PROBITY_TOP_RATE] = {"calls_per_s", rate},
    [PROBITY_TOP_INTERVAL + PROBITY_TOP_CALLS] = {"calls", interval_calls},
    [PROBITY_TOP_INTERVAL + PROBITY_TOP_WALL] = {"wall_ns", interval_wall},
    [PROBITY_TOP_INTERVAL + PROBITY_TOP_CPU] = {"cpu_ns", interval_cpu},
    [PROBITY_TOP_INTERVAL + PROBITY_TOP_OFF] = {"off_cpu_ns", interval_off},
    [PROBITY_TOP_INTERVAL + PROBITY_TOP_P50] = {"p50_ns", interval_p50},
    [PROBITY_TOP_INTERVAL + PROBITY_TOP_P99] = {"p99_ns", interval_p99},
    [PROBITY_TOP_INTERVAL + PROBITY_TOP_MAX] = {"max_ns", interval_max},
    [PROBITY_TOP_ALL + PROBITY_TOP_CALLS] = {"calls", all_calls},
    [PROBITY_TOP_ALL + PROBITY_TOP_WALL] = {"wall_ns", all_wall},
    [PROBITY_TOP_ALL + PROBITY_TOP_CPU] = {"cpu_ns", all_cpu},
    [PROBITY_TOP_ALL + PROBITY_TOP_OFF] = {"off_cpu_ns", all_off},
    [PROBITY_TOP_ALL + PROBITY_TOP_P50] = {"p50_ns", all_p50},
    [PROBITY_TOP_ALL + PROBITY_TOP_P99] = {"p99_ns", all_p99},
    [PROBITY_TOP_ALL + PROBITY_TOP_MAX] = {"max_ns", all_max}};

/* ---- JSON --------------------------------------------------------------------------------------
 */

static int put_figures(FILE *stream, int first, const struct probity_top_line *line)
{
    fputc('{', stream);
    int error = probity_columns_put_json(stream, probity_top_columns + first, PROBITY_TOP_FIGURES,
                                         line);
    fputc('}', stream);
    return error;
}

static int put_row(FILE *stream, const struct probity_top_line *line)
{
    fputc('{', stream);
    int error =
        probity_columns_put_json(stream, probity_top_columns, PROBITY_TOP_INTERVAL, line);
    fputs(", \"interval\": ", stream);
    if (error == 0)
        error = put_figures(stream, PROBITY_TOP_INTERVAL, line);
    fputs(", \"all\": ", stream);
    if (error == 0)
        error = put_figures(stream, PROBITY_TOP_ALL, line);
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
        error = put_row(stream, &(const struct probity_top_line){answer, rows[i]});
    }
    fputs("]}\n", stream);
    return error;
}
