/* SPDX-License-Identifier: MIT
 *
 * overhead_columns.c: columns of a run. The CSV has one line per run; the JSON has medians and
 * slowdowns, followed by the runs.
 */
#include <inttypes.h>

#include "answers/overhead/overhead_print.h"
#include "print/columns.h"
#include "print/json.h"

/* A line of the CSV. */
struct line {
    size_t pair;
    int recording; /* 0: off, 1: on, 2: started but idle */
    const struct probity_overhead_run *run;
};

#define COLUMN(NAME, FROM) PROBITY_COLUMN(NAME, count, struct line, FROM)

COLUMN(pair, row->pair)
COLUMN(recording, (uint64_t)row->recording)
COLUMN(wall, row->run->wall_ns)
COLUMN(user, row->run->user_ns)
COLUMN(system_time, row->run->system_ns)
COLUMN(traces, row->run->traces)
COLUMN(records, row->run->records)
COLUMN(calls, row->run->calls)
COLUMN(lost, row->run->lost)
COLUMN(incomplete, row->run->incomplete)

static const struct probity_column columns[] = {
    {"pair", pair},           {"recording", recording}, {"wall_ns", wall},
    {"user_ns", user},        {"system_ns", system_time}, {"traces", traces},
    {"records", records},     {"calls", calls},         {"lost", lost},
    {"incomplete", incomplete}};

enum { COLUMNS = sizeof columns / sizeof *columns, RUN = 2 /* the first column in the JSON */ };

/* ---- CSV ---------------------------------------------------------------------------------------
 */

static void put_line(FILE *stream, size_t number, int recording,
                     const struct probity_overhead_run *run)
{
    const struct line line = {number, recording, run};

    probity_columns_put_line(stream, columns, COLUMNS, &line);
}

void probity_overhead_csv(FILE *stream, const struct probity_overhead_answer *answer)
{
    probity_columns_put_head(stream, columns, COLUMNS);
    for (size_t i = 0; i < answer->count; i++) {
        const struct probity_overhead_pair *runs = &answer->pairs[i];
        int first = runs->on_came_first != 0;
        put_line(stream, i + 1, first, first ? &runs->on : &runs->off);
        put_line(stream, i + 1, !first, first ? &runs->off : &runs->on);
        put_line(stream, i + 1, 2, &runs->idle);
    }
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

static void put_shift(FILE *stream, const char *name, const struct probity_shift *shift,
                      int is_known)
{
    if (!is_known) {
        fprintf(stream, ", \"%s\": null", name);
        return;
    }
    fprintf(stream, ", \"%s\": {\"estimate\": %.10g, ", name, shift->estimate);
    if (shift->has_interval)
        fprintf(stream, "\"low\": %.10g, \"high\": %.10g}", shift->low, shift->high);
    else
        fputs("\"low\": null, \"high\": null}", stream);
}

static void put_times(FILE *stream, const struct probity_overhead_answer *answer,
                      enum probity_overhead_time which)
{
    const struct probity_overhead_times *times = &answer->overhead.times[which];

    fprintf(stream, ",\n\"%s\": {\"off_ns\": %.10g, \"on_ns\": %.10g",
            probity_overhead_time_name(which), times->off_ns, times->on_ns);
    put_shift(stream, "slowdown", &times->ratio, times->has_ratio);
    put_shift(stream, "added_ns", &times->added, 1);
    fputc('}', stream);
}

static void put_start(FILE *stream, const struct probity_overhead *overhead)
{
    const struct probity_overhead_start *start = &overhead->start;

    fputs(",\n\"start\": {", stream);
    if (start->is_known)
        fprintf(stream, "\"processes\": %.10g", start->processes);
    else
        fputs("\"processes\": null", stream);
    put_shift(stream, "wall_ns", &start->added[PROBITY_OVERHEAD_WALL], start->is_known);
    put_shift(stream, "cpu_ns", &start->added[PROBITY_OVERHEAD_CPU], start->is_known);
    fprintf(stream, "},\n\"record\": {\"records_min\": %d", PROBITY_OVERHEAD_RECORDS_MIN);
    put_shift(stream, "cpu_ns", &overhead->record, overhead->has_record);
    fputc('}', stream);
}

static int put_run(FILE *stream, const char *name, const struct probity_overhead_run *run)
{
    const struct line line = {.run = run};

    fprintf(stream, ", \"%s\": {", name);
    int error = probity_columns_put_json(stream, columns + RUN, COLUMNS - RUN, &line);
    fputc('}', stream);
    return error;
}

static int put_pair(FILE *stream, const struct probity_overhead_pair *runs)
{
    fprintf(stream, "{\"on_came_first\": %s", runs->on_came_first ? "true" : "false");
    int error = put_run(stream, "off", &runs->off);
    if (error == 0)
        error = put_run(stream, "on", &runs->on);
    if (error == 0)
        error = put_run(stream, "idle", &runs->idle);
    fputc('}', stream);
    return error;
}

int probity_overhead_json(FILE *stream, const struct probity_overhead_answer *answer)
{
    const struct probity_overhead *overhead = &answer->overhead;
    int error = 0;

    fputs("{\"program\": [", stream);
    for (char **argument = answer->program; error == 0 && *argument != NULL; argument++) {
        fputs(argument > answer->program ? ", " : "", stream);
        error = probity_json_put_text(stream, *argument);
    }
    fputs("],\n\"base\": ", stream);
    if (error == 0)
        error = probity_json_put_text(stream, answer->base);
    fprintf(stream, ",\n\"profile\": %s,\n\"confidence\": %.10g",
            answer->is_profile ? "true" : "false", PROBITY_OVERHEAD_CONFIDENCE);
    put_times(stream, answer, PROBITY_OVERHEAD_WALL);
    put_times(stream, answer, PROBITY_OVERHEAD_CPU);
    put_start(stream, overhead);
    fprintf(stream, ",\n\"records\": {\"median\": %.10g, \"least\": %" PRIu64 ", \"most\": %" PRIu64
            ", \"lost\": %" PRIu64 ", \"traces\": %" PRIu64 ", \"incomplete\": %" PRIu64
            "},\n\"pairs\": [", overhead->records, overhead->records_least, overhead->records_most,
            overhead->lost, overhead->traces, overhead->incomplete);
    for (size_t i = 0; error == 0 && i < answer->count; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        error = put_pair(stream, &answer->pairs[i]);
    }
    fputs("]}\n", stream);
    return error;
}
