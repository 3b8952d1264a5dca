/* SPDX-License-Identifier: MIT
 *
 * export_openmetrics.c: OpenMetrics text: functions as in `probity report`, blocks as in `probity
 * blocks`, and requests, locks and queues as in `probity model`. Memory: that of these three
 * answers, independent of the length of the trace.
 *
 * The collectors of node_exporter read the older text format of Prometheus, in which the lines with
 * units and the last line are comments. So only the types of that format are used, and no time
 * stamps.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answers/blocks/blocks.h"
#include "answers/model/model.h"
#include "answers/report/profiled.h"
#include "answers/report/report.h"
#include "answers/report/report_text.h"
#include "exports/export.h"
#include "exports/export_names.h"
#include "print/text.h"

enum { LABELS_MAX = 6 };

struct label {
    const char *name, *text;
    size_t bytes;
};

struct openmetrics {
    struct probity_report *report;
    struct probity_blocks *blocks;
    struct probity_model *model;
    FILE *stream;
    const char *family;          /* name of the metrics that are being written */
    struct export_names written; /* sets of labels written for it, by hash */
    char *labels;                /* the latest set of labels, as text; NULL: none yet */
};

/* ---- Labels ------------------------------------------------------------------------------------
 */

static struct label label_of(const char *name, const char *text)
{
    return (struct label){name, text, strlen(text)};
}

/* Writes text as `probity log` does (without line breaks), in quotes. */
static int put_label(FILE *stream, const struct label *label)
{
    size_t room = label->bytes * 4 + 4;
    char *safe = malloc(room);

    if (safe == NULL)
        return PROBITY_ERROR_MEMORY;
    const char *end = probity_text_put(safe, safe + room, label->text, label->bytes, '\0');
    fprintf(stream, "%s=\"", label->name);
    for (const char *at = safe; at < end; at++) {
        if (*at == '\\' || *at == '"')
            fputc('\\', stream);
        fputc(*at, stream);
    }
    fputc('"', stream);
    free(safe);
    return 0;
}

/* Counts the occurrences of a set of labels, since each may occur only once in a family. */
static int number_of(struct openmetrics *state, const char *text, uint64_t *ret_number)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    for (*ret_number = 1;; ++*ret_number) {
        uint64_t key = hash + *ret_number * UINT64_C(0x9e3779b97f4a7c15);
        key = key != 0 ? key : 1;
        if (export_names_find(&state->written, key) != NULL)
            continue;
        return export_names_add(&state->written, key) != NULL ? 0 : PROBITY_ERROR_MEMORY;
    }
}

/* Formats a set into `labels`. */
static int make_labels(struct openmetrics *state, const struct label *labels, size_t count)
{
    char *text = NULL;
    size_t bytes;
    uint64_t number = 1;
    FILE *stream = open_memstream(&text, &bytes);
    int error = stream != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (size_t i = 0; error == 0 && i < count; i++) {
        fputs(i > 0 ? "," : "", stream);
        error = put_label(stream, &labels[i]);
    }
    if (error == 0 && fflush(stream) != 0)
        error = PROBITY_ERROR_MEMORY;
    if (error == 0)
        error = number_of(state, text, &number);
    if (error == 0 && number > 1)
        fprintf(stream, ",same=\"%" PRIu64 "\"", number);
    /* glibc's fclose() succeeds even if there is no memory for the text. */
    if (stream != NULL && (fclose(stream) != 0 || text == NULL) && error == 0)
        error = PROBITY_ERROR_MEMORY;
    free(state->labels);
    state->labels = text;
    return error;
}

/* ---- Samples -----------------------------------------------------------------------------------
 */

struct family {
    const char *name, *type, *unit, *help; /* unit: NULL if none */
};

static void begin_family(struct openmetrics *state, const struct family *family)
{
    state->family = family->name;
    export_names_release(&state->written);
    state->written = (struct export_names){0};
    fprintf(state->stream, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->help,
            family->name, family->type);
    if (family->unit != NULL)
        fprintf(state->stream, "# UNIT %s %s\n", family->name, family->unit);
}

static void put_number(struct openmetrics *state, const char *suffix, uint64_t number)
{
    fprintf(state->stream, "%s%s{%s} %" PRIu64 "\n", state->family, suffix, state->labels, number);
}

static void put_seconds(struct openmetrics *state, const char *suffix, uint64_t ns)
{
    fprintf(state->stream, "%s%s{%s} %" PRIu64 ".%09" PRIu64 "\n", state->family, suffix,
            state->labels, ns / 1000000000, ns % 1000000000);
}

/* A sample of durations. */
struct durations {
    uint64_t count, sum_ns, min_ns, max_ns;
    const struct probity_histogram *histogram;
};

static struct durations durations_of(const struct probity_duration_stats *stats)
{
    return (struct durations){stats->count, stats->total_ns, stats->min_ns, stats->max_ns,
                              &stats->fine};
}

/* Quantiles 0 and 1 are the minimum and the maximum. */
static void put_summary(struct openmetrics *state, const struct durations *durations)
{
    static const struct {
        const char *text;
        unsigned per_mille;
    } quantiles[] = {{"0", 0}, {"0.5", 500}, {"0.9", 900}, {"0.99", 990}, {"1", 1000}};

    for (size_t i = 0; durations->count > 0 && i < sizeof quantiles / sizeof *quantiles; i++) {
        unsigned rank = quantiles[i].per_mille;
        uint64_t ns = rank == 0      ? durations->min_ns
                      : rank == 1000 ? durations->max_ns
                                     : probity_histogram_quantile(durations->histogram, rank,
                                                                  durations->min_ns,
                                                                  durations->max_ns);
        fprintf(state->stream, "%s{%s,quantile=\"%s\"} %" PRIu64 ".%09" PRIu64 "\n", state->family,
                state->labels, quantiles[i].text, ns / 1000000000, ns % 1000000000);
    }
    put_seconds(state, "_sum", durations->sum_ns);
    put_number(state, "_count", durations->count);
}

/* ---- Functions ---------------------------------------------------------------------------------
 */

static int label_function(struct openmetrics *state, const struct probity_report_function *entry)
{
    char lost[32], line[16];
    struct label labels[LABELS_MAX] = {{.name = "function"}};
    size_t count = 1;

    labels[0].text = probity_export_function_name(entry->function, entry->number, lost,
                                                  &labels[0].bytes);
    if (entry->function != NULL) {
        snprintf(line, sizeof line, "%" PRIu32, entry->function->line);
        labels[count++] = label_of("file", entry->function->file);
        labels[count++] = label_of("line", line);
    }
    return make_labels(state, labels, count);
}

static int put_function_counters(struct openmetrics *state, const struct probity_export *export,
                                 const struct probity_report_function *functions, size_t count)
{
    static const struct {
        struct family family;
        enum probity_report_key key;
    } counters[] = {
        {{"probity_function_calls", "counter", NULL, "Calls of the function."},
         PROBITY_REPORT_CALLS},
        {{"probity_function_wall_seconds", "counter", "seconds",
          "Wall time of the function; for recursive calls, that of the outermost one."},
         PROBITY_REPORT_TOTAL},
        {{"probity_function_self_wall_seconds", "counter", "seconds",
          "Wall time of the function, excluding callees."}, PROBITY_REPORT_SELF},
        {{"probity_function_cpu_seconds", "counter", "seconds",
          "CPU time of the function; for recursive calls, that of the outermost one."},
         PROBITY_REPORT_CPU_TOTAL},
        {{"probity_function_self_cpu_seconds", "counter", "seconds",
          "CPU time of the function, excluding callees."}, PROBITY_REPORT_CPU_SELF}};
    int is_cpu_known = probity_report_has_cpu(export->reader), error = 0;

    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        begin_family(state, &counters[i].family);
        for (size_t j = 0; error == 0 && j < count; j++) {
            const struct probity_report_sums *sums = &functions[j].sums;
            if (!probity_report_is_known(sums, counters[i].key, is_cpu_known))
                continue;
            error = label_function(state, &functions[j]);
            if (error == 0 && counters[i].key == PROBITY_REPORT_CALLS)
                put_number(state, "_total", sums->calls);
            else if (error == 0)
                put_seconds(state, "_total", probity_report_value(sums, counters[i].key));
        }
    }
    return error;
}

static int put_functions(struct openmetrics *state, const struct probity_export *export)
{
    static const struct family family = {
        "probity_function_duration_seconds", "summary", "seconds",
        "Wall time of each call whose end was recorded, without pauses."};
    size_t count;
    struct probity_report_function *functions = probity_report_functions(state->report, &count);

    if (count == 0)
        return 0;
    int error = probity_report_sort(functions, count, PROBITY_REPORT_NAME);
    if (error == 0)
        error = put_function_counters(state, export, functions, count);
    begin_family(state, &family);
    for (size_t i = 0; error == 0 && i < count; i++) {
        const struct probity_report_sums *sums = &functions[i].sums;
        const struct durations durations = {sums->durations.count, sums->sum_ns, sums->min_ns,
                                            sums->max_ns, &sums->durations};
        error = label_function(state, &functions[i]);
        if (error == 0)
            put_summary(state, &durations);
    }
    return error;
}

/* ---- Blocks ------------------------------------------------------------------------------------
 */

/* Adds the number of the probe or the name of the site, and the name. Returns the number of
 * labels. */
static size_t label_probe(struct label *labels, size_t count, const struct probity_probe *probe,
                          const char *name, const char *name_of_name)
{
    labels[count++] = label_of(name, probe->text);
    if (probe->name != NULL)
        labels[count++] = label_of(name_of_name, probe->name);
    return count;
}

static int label_pair(struct openmetrics *state, const struct probity_blocks_pair *pair)
{
    struct label labels[LABELS_MAX];
    size_t count = label_probe(labels, 0, pair->from, "from", "from_name");

    count = label_probe(labels, count, pair->to, "to", "to_name");
    return make_labels(state, labels, count);
}

static int put_blocks(struct openmetrics *state)
{
    static const struct family times = {"probity_block_duration_seconds", "summary", "seconds",
                                        "Wall time from a hit to the thread's next hit."};
    static const struct family cpu = {"probity_block_cpu_seconds", "counter", "seconds",
                                      "CPU time of blocks, if known."};
    size_t count;
    const struct probity_blocks_pair *const *pairs =
        probity_blocks_sort(state->blocks, PROBITY_BLOCKS_NAME, &count);
    int error = pairs != NULL ? 0 : PROBITY_ERROR_MEMORY;

    if (error == 0 && count > 0)
        begin_family(state, &times);
    for (size_t i = 0; error == 0 && i < count; i++) {
        const struct durations durations = {pairs[i]->durations.count, pairs[i]->sum_ns,
                                            pairs[i]->min_ns, pairs[i]->max_ns,
                                            &pairs[i]->durations};
        error = label_pair(state, pairs[i]);
        if (error == 0)
            put_summary(state, &durations);
    }
    if (error == 0 && count > 0)
        begin_family(state, &cpu);
    for (size_t i = 0; error == 0 && i < count; i++) {
        error = pairs[i]->cpu_calls > 0 ? label_pair(state, pairs[i]) : 0;
        if (error == 0 && pairs[i]->cpu_calls > 0)
            put_seconds(state, "_total", pairs[i]->cpu_ns);
    }
    return error;
}

/* ---- Hits, requests, locks and queues ----------------------------------------------------------
 */

static int put_group(struct openmetrics *state, const struct probity_model_group *group)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < group->node_count; i++) {
        struct label labels[LABELS_MAX];
        size_t count = label_probe(labels, 0, group->nodes[i]->probe, "probe", "name");
        if (group->name != NULL)
            labels[count++] = label_of("threads", group->name);
        error = make_labels(state, labels, count);
        if (error == 0)
            put_number(state, "_total", group->nodes[i]->hits);
    }
    return error;
}

static int label_station(struct openmetrics *state, const struct probity_model_station *station)
{
    char object[24];
    struct label labels[LABELS_MAX];
    size_t count = 0;

    labels[count++] = label_of("name", station->name);
    if (station->kind != PROBITY_MODEL_REQUEST) {
        snprintf(object, sizeof object, "%#" PRIx64, station->object);
        labels[count++] = label_of("object", object);
    }
    return make_labels(state, labels, count);
}

static int put_stations(struct openmetrics *state, const struct probity_model_result *result)
{
    static const struct {
        struct family family;
        enum probity_model_kind kind;
        int is_wait;
    } times[] = {
        {{"probity_request_duration_seconds", "summary", "seconds",
          "Wall time from the beginning of a request to its end."}, PROBITY_MODEL_REQUEST, 0},
        {{"probity_lock_wait_seconds", "summary", "seconds",
          "Wall time from waiting for a lock to holding it."}, PROBITY_MODEL_LOCK, 1},
        {{"probity_lock_hold_seconds", "summary", "seconds",
          "Wall time from holding a lock to its release."}, PROBITY_MODEL_LOCK, 0},
        {{"probity_queue_stay_seconds", "summary", "seconds",
          "Wall time that an item was in the queue."}, PROBITY_MODEL_QUEUE, 0}};
    int error = 0;

    for (size_t i = 0; error == 0 && i < sizeof times / sizeof *times; i++) {
        enum probity_model_kind kind = times[i].kind;
        if (result->station_counts[kind] > 0)
            begin_family(state, &times[i].family);
        for (size_t j = 0; error == 0 && j < result->station_counts[kind]; j++) {
            const struct probity_model_station *station = result->stations[kind][j];
            const struct durations durations =
                durations_of(times[i].is_wait ? &station->waits : &station->stays);
            error = label_station(state, station);
            if (error == 0)
                put_summary(state, &durations);
        }
    }
    return error;
}

static int put_queues(struct openmetrics *state, const struct probity_model_result *result)
{
    static const struct family families[] = {
        {"probity_queue_length", "gauge", NULL, "Items in the queue after the last hit."},
        {"probity_queue_length_max", "gauge", NULL, "Largest number of items in the queue."}};
    size_t count = result->station_counts[PROBITY_MODEL_QUEUE];
    int error = 0;

    for (size_t i = 0; count > 0 && i < sizeof families / sizeof *families; i++) {
        begin_family(state, &families[i]);
        for (size_t j = 0; error == 0 && j < count; j++) {
            const struct probity_model_station *queue = result->stations[PROBITY_MODEL_QUEUE][j];
            error = label_station(state, queue);
            if (error == 0)
                put_number(state, "", i == 0 ? queue->level.now : queue->level.max);
        }
    }
    return error;
}

static int put_hits(struct openmetrics *state, struct probity_export *export)
{
    static const struct family family = {"probity_probe_hits", "counter", NULL,
                                         "Hits of the probe by threads of these names."};
    const struct probity_model_result *result;
    int error = probity_model_finish(state->model, export->reader, &result);

    if (error != 0)
        return error;
    if (result->hits > 0)
        begin_family(state, &family);
    for (size_t i = 0; error == 0 && i < result->group_count; i++)
        error = put_group(state, result->groups[i]);
    export->counts.station_hits = result->hits_left_out;
    if (error == 0)
        error = put_stations(state, result);
    return error == 0 ? put_queues(state, result) : error;
}

/* ---- The traces --------------------------------------------------------------------------------
 */

static int put_traces(struct openmetrics *state, const struct probity_export *export)
{
    static const struct family complete = {"probity_trace_complete", "gauge", NULL,
                                           "1 if the trace has everything that its program "
                                               "recorded."};
    static const struct family dropped = {"probity_trace_dropped_records", "counter", NULL,
                                          "Records that the program dropped."};
    int error = 0;

    for (int is_second = 0; is_second < 2; is_second++) {
        begin_family(state, is_second ? &dropped : &complete);
        for (size_t i = 0; error == 0 && i < probity_reader_traces(export->reader); i++) {
            const struct probity_trace_facts *facts = probity_reader_facts(export->reader, i);
            const struct label label = label_of("trace", facts->path);
            char why[256];
            error = make_labels(state, &label, 1);
            if (error == 0 && is_second)
                put_number(state, "_total", probity_totals_dropped(&facts->totals));
            else if (error == 0)
                put_number(state, "", probity_trace_is_complete(facts, why, sizeof why) != 0);
        }
    }
    return error;
}

/* ---- Events ------------------------------------------------------------------------------------
 */

static int openmetrics_begin(struct probity_export *export)
{
    struct openmetrics *state = export->state;
    uint64_t from_ns = export->options->from_ns, to_ns = export->options->to_ns;
    const struct probity_report_options of_report = {.from_ns = from_ns, .to_ns = to_ns};
    const struct probity_blocks_options of_blocks = {.from_ns = from_ns, .to_ns = to_ns};
    int error = probity_report_open(&of_report, &state->report);

    if (error == 0)
        error = probity_blocks_open(&of_blocks, &state->blocks);
    return error == 0 ? probity_model_open(from_ns, to_ns, &state->model) : error;
}

static void openmetrics_event(struct probity_export *export, struct probity_export_thread *thread,
                              const struct probity_event *event)
{
    struct openmetrics *state = export->state;
    int error = probity_report_put(state->report, event);

    (void)thread;
    if (error == 0)
        error = probity_blocks_put(state->blocks, event);
    if (error == 0)
        error = probity_model_put(state->model, event);
    if (__builtin_expect(error != 0, 0))
        probity_export_fail(export, error);
}

static void openmetrics_profiled(struct probity_export *export,
                                 const struct probity_profiled *profiled)
{
    struct openmetrics *state = export->state;
    int error = probity_report_add_profiled(state->report, profiled);

    if (error != 0)
        probity_export_fail(export, error);
}

static int openmetrics_end(struct probity_export *export)
{
    struct openmetrics *state = export->state;
    int error = probity_report_finish(state->report);

    if (error != 0)
        return error;
    export->repairs = probity_report_repairs(state->report);
    state->stream = probity_export_stream_open(export);
    if (state->stream == NULL)
        return PROBITY_ERROR_MEMORY;
    error = put_functions(state, export);
    if (error == 0)
        error = put_blocks(state);
    if (error == 0)
        error = put_hits(state, export);
    if (error == 0)
        error = put_traces(state, export);
    fputs("# EOF\n", state->stream);
    int closed = probity_export_stream_close(state->stream);
    return error != 0 ? error : closed;
}

static void openmetrics_release(struct probity_export *export)
{
    struct openmetrics *state = export->state;

    if (state->report != NULL)
        probity_report_close(state->report);
    if (state->blocks != NULL)
        probity_blocks_close(state->blocks);
    if (state->model != NULL)
        probity_model_close(state->model);
    export_names_release(&state->written);
    free(state->labels);
}

const struct probity_exporter probity_exporter_openmetrics = {
    .name = "openmetrics",
    .target = PROBITY_EXPORT_STREAM,
    .carries = PROBITY_EXPORT_SCOPES | PROBITY_EXPORT_HITS | PROBITY_EXPORT_PROFILE,
    .has_all = 1,
    .state_bytes = sizeof(struct openmetrics),
    .begin = openmetrics_begin,
    .event = openmetrics_event,
    .profiled = openmetrics_profiled,
    .end = openmetrics_end,
    .release = openmetrics_release};
