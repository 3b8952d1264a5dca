/* SPDX-License-Identifier: MIT
 *
 * model_json.c: a workload model as one JSON object, written piece by piece because distributions
 * may be long.
 */
#include "answers/model/model_print.h"

#include <inttypes.h>

#include "answers/model/model_columns.h"
#include "answers/report/report_json.h"
#include "probity.h"

struct json {
    FILE *stream;
    int error;
};

/* Writes the members of an object, without its braces. */
static void put_members(struct json *json, const struct probity_column *columns, size_t count,
                        const void *row)
{
    if (json->error == 0)
        json->error = probity_columns_put_json(json->stream, columns, count, row);
}

/* ---- Distributions -----------------------------------------------------------------------------
 */

static void put_buckets(struct json *json, const struct probity_histogram *fine)
{
    struct probity_histogram_bucket bucket;
    size_t at = 0, count = 0;

    fputs(", \"buckets\": [", json->stream);
    while (probity_histogram_next(fine, &at, &bucket))
        fprintf(json->stream, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", count++ > 0 ? ", " : "",
                bucket.least, bucket.width, bucket.count);
    fputc(']', json->stream);
}

/* after: text to write after the object. */
static void put_times(struct json *json, const char *key,
                      const struct probity_duration_stats *times, const char *after)
{
    fprintf(json->stream, "\n   \"%s\": {", key);
    put_members(json, probity_model_times_columns, MODEL_TIMES_COLUMNS, times);
    if (times->count > 0)
        put_buckets(json, &times->fine);
    fprintf(json->stream, "}%s", after);
}

/* ---- Groups ------------------------------------------------------------------------------------
 */

static void put_node(struct json *json, const struct probity_model_node *node)
{
    fputs("\n  {", json->stream);
    put_members(json, probity_model_node_columns, MODEL_NODE_COLUMNS, node);
    fputc('}', json->stream);
}

static void put_block(struct json *json, const struct probity_model_block *block)
{
    fputs("\n  {", json->stream);
    put_members(json, probity_model_block_columns, MODEL_BLOCK_COLUMNS, block);
    fputc(',', json->stream);
    put_times(json, "wall", &block->wall, ",");
    put_times(json, "cpu", &block->cpu, ",");
    put_times(json, "off_cpu", &block->off, "}");
}

static void put_demands(struct json *json, const struct probity_model_group *group, int has_states)
{
    if (has_states)
        put_times(json, "run_queue", &group->run_queue, ",");
    fputs("\n \"calls\": [", json->stream);
    for (const struct probity_model_call *call = group->calls; call != NULL; call = call->next) {
        fputs("\n  {", json->stream);
        put_members(json, probity_model_call_columns, MODEL_CALL_COLUMNS, call);
        fputs(", ", json->stream);
        put_times(json, "wall", &call->wall, ",");
        put_times(json, "off_cpu", &call->off, call->next != NULL ? "}," : "}");
    }
    fputs("],", json->stream);
}

static void put_group(struct json *json, const struct probity_model_group *group, int has_states)
{
    fputs("\n {", json->stream);
    put_members(json, probity_model_group_columns, MODEL_GROUP_JSON_COLUMNS, group);
    fputs(", ", json->stream);
    put_demands(json, group, has_states);
    fputs("\n \"probes\": [", json->stream);
    for (size_t i = 0; i < group->node_count; i++) {
        fputs(i > 0 ? "," : "", json->stream);
        put_node(json, group->nodes[i]);
    }
    fputs("],\n \"blocks\": [", json->stream);
    for (size_t i = 0; i < group->block_count; i++) {
        fputs(i > 0 ? "," : "", json->stream);
        put_block(json, group->blocks[i]);
    }
    fputs("]}", json->stream);
}

/* ---- Stations ----------------------------------------------------------------------------------
 */

/* Names of the lists and objects of each kind of station. */
static const struct {
    const char *list, *stays, *level;
} words[PROBITY_MODEL_KINDS] = {[PROBITY_MODEL_QUEUE] = {"queues", "waiting", "length"},
                                [PROBITY_MODEL_LOCK] = {"locks", "held", "holders"},
                                [PROBITY_MODEL_REQUEST] = {"requests", "response", "concurrency"},
                                [PROBITY_MODEL_CONDITION] = {"conditions", "waiting", "waiters"}};

static void put_users(struct json *json, const struct probity_model_user *user)
{
    fputs("\n  \"users\": [", json->stream);
    for (; user != NULL; user = user->next) {
        fputc('{', json->stream);
        put_members(json, probity_model_user_columns, MODEL_USER_COLUMNS, user);
        fputs(user->next != NULL ? "}, " : "}", json->stream);
    }
    fputs("]}", json->stream);
}

static void put_station(struct json *json, const struct probity_model_station *station)
{
    const struct probity_column *columns = probity_model_station_columns[station->kind];

    fputs("\n {", json->stream);
    put_members(json, columns, MODEL_STATION_IDENTITY, station);
    fputs(", \n  ", json->stream);
    put_members(json, columns + MODEL_STATION_IDENTITY,
                MODEL_STATION_COLUMNS - MODEL_STATION_IDENTITY, station);
    fputc(',', json->stream);
    put_times(json, "interarrival", &station->gaps, ",");
    put_times(json, words[station->kind].stays, &station->stays, ",");
    if (station->kind == PROBITY_MODEL_LOCK) {
        put_times(json, "waiting", &station->waits, ",\n  ");
        put_members(json, &probity_model_contention_column, 1, station);
        fputs(", ", json->stream);
    }
    fprintf(json->stream, "\n  \"%s\": {", words[station->kind].level);
    put_members(json, probity_model_level_columns, MODEL_LEVEL_COLUMNS, station);
    fputs("},\n  \"little\": {", json->stream);
    put_members(json, probity_model_little_columns, MODEL_LITTLE_COLUMNS, &station->little);
    fputs("},", json->stream);
    put_users(json, station->users);
}

int probity_model_json(FILE *stream, const struct probity_reader *reader,
                       const struct probity_model_result *result, size_t rows_max)
{
    struct json json = {stream, probity_report_json_traces(stream, reader)};

    fprintf(stream, ",\n\"version\": %d,\n", PROBITY_MODEL_VERSION);
    put_members(&json, probity_model_columns, MODEL_COLUMNS, result);
    fputs(",\n\"groups\": [", stream);
    for (size_t i = 0; i < probity_model_shown(result->group_count, rows_max); i++) {
        fputs(i > 0 ? "," : "", stream);
        put_group(&json, result->groups[i], result->has_states);
    }
    for (int kind = 0; kind < PROBITY_MODEL_KINDS; kind++) {
        fprintf(stream, "],\n\"%s\": [", words[kind].list);
        size_t count = probity_model_shown(result->station_counts[kind], rows_max);
        for (size_t i = 0; i < count; i++) {
            fputs(i > 0 ? "," : "", stream);
            put_station(&json, result->stations[kind][i]);
        }
    }
    fputs("],\n\"checks\": {", stream);
    put_members(&json, probity_model_check_columns, MODEL_CHECK_COLUMNS, result);
    fputs("}}\n", stream);
    return json.error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : json.error;
}
