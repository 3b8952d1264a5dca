/* SPDX-License-Identifier: MIT
 *
 * model_json.c: a workload model as one JSON object, written piece by piece because distributions
 * may be long.
 */
#include "answers/model/model_print.h"

#include <inttypes.h>
#include <math.h>

#include "answers/report/report_json.h"
#include "probity.h"

struct json {
    FILE *stream;
    int error;
};

static void put_string(struct json *json, const char *key, const char *text)
{
    fprintf(json->stream, "\"%s\": ", key);
    if (json->error == 0)
        json->error = probity_report_json_string(json->stream, text);
    fputs(", ", json->stream);
}

static void put_number(struct json *json, const char *key, uint64_t number)
{
    fprintf(json->stream, "\"%s\": %" PRIu64 ", ", key, number);
}

/* Without a trailing comma. */
static void put_last_number(struct json *json, const char *key, uint64_t number)
{
    fprintf(json->stream, "\"%s\": %" PRIu64, key, number);
}

static void put_share(struct json *json, const char *key, double part, double whole)
{
    if (whole > 0)
        fprintf(json->stream, "\"%s\": %.9f, ", key, part / whole);
    else
        fprintf(json->stream, "\"%s\": null, ", key);
}

/* A number for a numbered probe, a string for a site, because a site may be named "1". */
static void put_probe(struct json *json, const char *key, const struct probity_probe *probe)
{
    if (probe->is_site)
        put_string(json, key, probe->text);
    else
        put_number(json, key, probe->number);
}

/* ---- Distributions -----------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    unsigned per_mille;
} quantiles[] = {{"p1_ns", 10},   {"p10_ns", 100}, {"p25_ns", 250}, {"p50_ns", 500},
                 {"p75_ns", 750}, {"p90_ns", 900}, {"p99_ns", 990}, {"p999_ns", 999}};

enum { QUANTILES = sizeof quantiles / sizeof *quantiles };

static void put_buckets(struct json *json, const struct probity_histogram *fine)
{
    struct probity_histogram_bucket bucket;
    size_t at = 0, count = 0;

    fputs("\"buckets\": [", json->stream);
    while (probity_histogram_next(fine, &at, &bucket))
        fprintf(json->stream, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", count++ > 0 ? ", " : "",
                bucket.least, bucket.width, bucket.count);
    fputc(']', json->stream);
}

/* after: text that follows the object. */
static void put_times(struct json *json, const char *key,
                      const struct probity_duration_stats *times, const char *after)
{
    fprintf(json->stream, "\n   \"%s\": {\"count\": %" PRIu64, key, times->count);
    if (times->count > 0) {
        double mean = probity_duration_stats_mean(times),
            variance = probity_duration_stats_variance(times);
        fprintf(json->stream, ", \"total_ns\": %" PRIu64 ", \"mean_ns\": %" PRIu64
                ", \"variance_ns2\": %.12g, ", times->total_ns, times->total_ns / times->count,
                variance);
        put_share(json, "cv", sqrt(variance), mean);
        put_number(json, "min_ns", times->min_ns);
        for (size_t i = 0; i < QUANTILES; i++)
            put_number(json, quantiles[i].name,
                       probity_duration_stats_quantile(times, quantiles[i].per_mille));
        put_number(json, "max_ns", times->max_ns);
        put_buckets(json, &times->fine);
    }
    fprintf(json->stream, "}%s", after);
}

/* ---- Groups ------------------------------------------------------------------------------------
 */

static void put_node(struct json *json, const struct probity_model_node *node)
{
    fputs("\n  {", json->stream);
    put_probe(json, "probe", node->probe);
    put_string(json, "name", node->probe->name);
    put_string(json, "role", node->role != 0 ? probity_role_name(node->role) : NULL);
    put_number(json, "hits", node->hits);
    put_number(json, "followed", node->followed);
    put_number(json, "starts", node->starts);
    put_last_number(json, "ends", node->ends);
    fputc('}', json->stream);
}

static void put_block(struct json *json, const struct probity_model_block *block)
{
    fputs("\n  {", json->stream);
    put_probe(json, "from", block->from->probe);
    put_probe(json, "to", block->to->probe);
    put_number(json, "count", block->wall.count);
    fprintf(json->stream, "\"probability\": %.9f,", probity_model_probability(block));
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
        put_string(json, "call", call->name);
        put_number(json, "count", call->wall.count);
        put_times(json, "wall", &call->wall, ",");
        put_times(json, "off_cpu", &call->off, call->next != NULL ? "}," : "}");
    }
    fputs("],", json->stream);
}

static void put_group(struct json *json, const struct probity_model_group *group, int has_states)
{
    fputs("\n {", json->stream);
    put_number(json, "group", group->number);
    put_string(json, "name", group->name);
    put_number(json, "threads", group->threads);
    put_number(json, "hits", group->hits);
    put_number(json, "lifetime_ns", group->lifetime_ns);
    put_number(json, "wall_ns", group->wall_ns);
    put_number(json, "cpu_clock_ns", group->cpu_known_ns);
    put_number(json, "cpu_ns", group->cpu_ns);
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

/* Field names for each kind of station. */
static const struct {
    const char *list, *number, *arrivals, *departures, *strays, *again, *gaps, *stays, *level;
} words[PROBITY_MODEL_KINDS] = {
    [PROBITY_MODEL_QUEUE] = {"queues", "queue", "puts", "gets", "gets_without_put", "puts_again",
                             "interarrival", "waiting", "length"},
    [PROBITY_MODEL_LOCK] = {"locks", "lock", "holds", "releases", "releases_without_hold",
                            "holds_again", "interarrival", "held", "holders"},
    [PROBITY_MODEL_REQUEST] = {"requests", "request", "begins", "ends", NULL, "begun_again",
                               "interarrival", "response", "concurrency"},
    [PROBITY_MODEL_CONDITION] = {"conditions", "condition", "waits", "wakings",
                                 "wakings_without_wait", "waits_again", "interarrival", "waiting",
                                 "waiters"}};

static void put_users(struct json *json, const struct probity_model_user *user)
{
    fputs("\n  \"users\": [", json->stream);
    for (; user != NULL; user = user->next) {
        fputc('{', json->stream);
        put_number(json, "group", user->node->group->number);
        put_probe(json, "probe", user->node->probe);
        put_string(json, "role", probity_role_name(user->role));
        put_last_number(json, "count", user->count);
        fputs(user->next != NULL ? "}, " : "}", json->stream);
    }
    fputs("]}", json->stream);
}

static void put_counts(struct json *json, const struct probity_model_station *station)
{
    put_number(json, words[station->kind].arrivals, station->arrivals);
    put_number(json, words[station->kind].departures, station->departures);
    if (station->kind != PROBITY_MODEL_REQUEST)
        put_number(json, words[station->kind].strays, station->strays);
    put_number(json, words[station->kind].again, station->again);
    if (station->kind == PROBITY_MODEL_CONDITION)
        put_number(json, "notifies", station->notifies);
    put_number(json, "forgotten", station->forgotten);
    put_number(json, "left", station->level.now);
    fprintf(json->stream, "\"rate_s\": %.9g,", station->little.rate_s);
}

static void put_station(struct json *json, const struct probity_model_station *station)
{
    const struct probity_model_little *little = &station->little;

    fputs("\n {", json->stream);
    put_number(json, words[station->kind].number, station->number);
    put_string(json, "name", station->name);
    if (station->kind == PROBITY_MODEL_REQUEST) {
        put_probe(json, "probe", station->begin);
    } else {
        put_number(json, "trace", station->trace);
        put_number(json, "object", station->object);
        if (station->mutex != 0)
            put_number(json, "mutex", station->mutex);
    }
    fputs("\n  ", json->stream);
    put_counts(json, station);
    put_times(json, words[station->kind].gaps, &station->gaps, ",");
    put_times(json, words[station->kind].stays, &station->stays, ",");
    if (station->kind == PROBITY_MODEL_LOCK) {
        put_times(json, "waiting", &station->waits, ",\n  ");
        put_share(json, "contention", (double)station->waits.count, (double)station->arrivals);
    }
    fprintf(json->stream, "\n  \"%s\": {\"mean\": %.9g, \"max\": %" PRIu64 "},",
            words[station->kind].level, little->length, station->level.max);
    fprintf(json->stream, "\n  \"little\": {\"length\": %.9g, \"rate_s\": %.9g, \"stay_ns\": %.9g, "
            "\"difference\": %.9g},", little->length, little->rate_s, little->wait_ns,
            little->difference);
    put_users(json, station->users);
}

/* ---- The object --------------------------------------------------------------------------------
 */

static void put_checks(struct json *json, const struct probity_model_result *result)
{
    double largest = 0;
    uint64_t ns = result->to_ns - result->from_ns;

    for (int kind = 0; kind < PROBITY_MODEL_KINDS; kind++) {
        for (size_t i = 0; i < result->station_counts[kind]; i++) {
            double difference = fabs(result->stations[kind][i]->little.difference);
            largest = difference > largest ? difference : largest;
        }
    }
    fputs("\n\"checks\": {", json->stream);
    put_share(json, "wall_explained", (double)result->wall_ns, (double)result->lifetime_ns);
    put_share(json, "cpu_explained", (double)result->cpu_ns, (double)result->cpu_known_ns);
    put_share(json, "cores_used", (double)result->cpu_ns, (double)ns);
    fprintf(json->stream, "\"row_error\": %.3g, \"little_difference\": %.9g, ", result->row_error,
            largest);
    put_number(json, "ends_without_begin", result->ends_without_begin);
    put_number(json, "ids_forgotten", result->forgotten);
    put_number(json, "hits_left_out", result->hits_left_out);
    put_last_number(json, "threads_left_out", result->threads_left_out);
    fputs("}}\n", json->stream);
}

int probity_model_json(FILE *stream, const struct probity_reader *reader,
                       const struct probity_model_result *result, size_t rows_max)
{
    struct json json = {stream, probity_report_json_traces(stream, reader)};

    fprintf(stream, ",\n\"version\": %d,\n", PROBITY_MODEL_VERSION);
    put_number(&json, "from_ns", result->from_ns);
    put_number(&json, "to_ns", result->to_ns);
    put_number(&json, "duration_ns", result->to_ns - result->from_ns);
    put_number(&json, "hits", result->hits);
    put_number(&json, "threads", result->threads);
    if (result->cores > 0)
        put_last_number(&json, "cores", result->cores);
    else
        fputs("\"cores\": null", stream);
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
    fputs("],", stream);
    put_checks(&json, result);
    return json.error == 0 && ferror(stream) ? PROBITY_ERROR_WRITE : json.error;
}
