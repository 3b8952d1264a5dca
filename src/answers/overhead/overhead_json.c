/* SPDX-License-Identifier: MIT
 *
 * overhead_json.c: medians and slowdowns, followed by the runs.
 */
#include "answers/overhead/overhead_json.h"

#include <inttypes.h>

#include "answers/report/report_json.h"

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

static void put_run(FILE *stream, const char *name, const struct probity_overhead_run *run)
{
    fprintf(stream, ", \"%s\": {\"wall_ns\": %" PRIu64 ", \"user_ns\": %" PRIu64
            ", \"system_ns\": %" PRIu64, name, run->wall_ns, run->user_ns, run->system_ns);
    fprintf(stream, ", \"traces\": %" PRIu64 ", \"records\": %" PRIu64 ", \"calls\": %" PRIu64
            ", \"lost\": %" PRIu64 ", \"incomplete\": %" PRIu64 "}", run->traces, run->records,
            run->calls, run->lost, run->incomplete);
}

int probity_overhead_json(FILE *stream, const struct probity_overhead_answer *answer)
{
    const struct probity_overhead *overhead = &answer->overhead;
    int error = 0;

    fputs("{\"program\": [", stream);
    for (char **argument = answer->program; error == 0 && *argument != NULL; argument++) {
        fputs(argument > answer->program ? ", " : "", stream);
        error = probity_report_json_string(stream, *argument);
    }
    fputs("],\n\"base\": ", stream);
    if (error == 0)
        error = probity_report_json_string(stream, answer->base);
    fprintf(stream, ",\n\"profile\": %s,\n\"confidence\": %.10g",
            answer->is_profile ? "true" : "false", PROBITY_OVERHEAD_CONFIDENCE);
    put_times(stream, answer, PROBITY_OVERHEAD_WALL);
    put_times(stream, answer, PROBITY_OVERHEAD_CPU);
    put_start(stream, overhead);
    fprintf(stream, ",\n\"records\": {\"median\": %.10g, \"least\": %" PRIu64 ", \"most\": %" PRIu64
            ", \"lost\": %" PRIu64 ", \"traces\": %" PRIu64 ", \"incomplete\": %" PRIu64
            "},\n\"pairs\": [", overhead->records, overhead->records_least, overhead->records_most,
            overhead->lost, overhead->traces, overhead->incomplete);
    for (size_t i = 0; i < answer->count; i++) {
        const struct probity_overhead_pair *pair = &answer->pairs[i];
        fprintf(stream, "%s\n{\"on_came_first\": %s", i > 0 ? "," : "",
                pair->on_came_first ? "true" : "false");
        put_run(stream, "off", &pair->off);
        put_run(stream, "on", &pair->on);
        put_run(stream, "idle", &pair->idle);
        fputc('}', stream);
    }
    fputs("]}\n", stream);
    return error;
}
