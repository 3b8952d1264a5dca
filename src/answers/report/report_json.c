/* SPDX-License-Identifier: MIT
 *
 * report_json.c: prints a report as one JSON object. Functions are written one at a time, so that a
 * large report is not in memory twice.
 */
#include "answers/report/report_json.h"

#include "answers/report/hosts_print.h"
#include "answers/report/report_csv.h"
#include "answers/report/report_text.h"
#include "print/json.h"
#include "probity.h"

/* Number of members before cpu_paused_ns. */
enum { MEMBERS_BEFORE = 5 };

static json_t *value_of(enum probity_report_key key, uint64_t value)
{
    return key == PROBITY_REPORT_PARALLELISM ? json_real((double)value / 1000)
                                             : probity_json_integer(value);
}

/* Times are null if unknown. */
static void put_times(json_t *object, const struct probity_report_sums *sums,
                      const struct probity_report_member *members, size_t count, int is_cpu_known)
{
    for (size_t i = 0; i < count; i++) {
        int is_known = probity_report_is_known(sums, members[i].key, is_cpu_known);
        uint64_t value = probity_report_value(sums, members[i].key);
        json_object_set_new(object, members[i].name,
                            is_known ? value_of(members[i].key, value) : json_null());
    }
}

static void put_sums(json_t *object, const struct probity_report_sums *sums, int is_cpu_known)
{
    int has_cpu = is_cpu_known && sums->calls > sums->untimed;

    probity_json_put_integer(object, "calls", sums->calls);
    probity_json_put_integer(object, "calls_untimed", sums->untimed);
    probity_json_put_integer(object, "calls_counted", sums->counted);
    probity_json_put_integer(object, "calls_entries", sums->entries);
    json_object_set_new(object, "calls_are_least", json_boolean(sums->is_least));
    probity_json_put_integer(object, "calls_repaired", sums->repaired);
    probity_json_put_integer(object, "calls_open", sums->open);
    put_times(object, sums, probity_report_members, MEMBERS_BEFORE, is_cpu_known);
    json_object_set_new(object, "cpu_paused_ns",
                        has_cpu ? probity_json_integer(sums->paused.cpu_ns) : json_null());
    put_times(object, sums, probity_report_members + MEMBERS_BEFORE,
              PROBITY_REPORT_MEMBERS - MEMBERS_BEFORE, is_cpu_known);
    json_object_set_new(object, "percentile_error",
                        json_real(probity_report_quantile_error(sums)));
    put_times(object, sums, probity_report_corrected_members, PROBITY_REPORT_CORRECTED_MEMBERS,
              is_cpu_known);
}

/* Returns the lower bound and the count of each non-empty bucket. */
static json_t *histogram_of(const struct probity_histogram *durations)
{
    struct probity_histogram_bucket bucket;
    json_t *list = json_array();
    size_t at = 0;

    while (probity_histogram_next(durations, &at, &bucket)) {
        json_t *pair = json_array();
        json_array_append_new(pair, probity_json_integer(bucket.least));
        json_array_append_new(pair, probity_json_integer(bucket.count));
        json_array_append_new(list, pair);
    }
    return list;
}

static json_t *thread_of(const struct probity_report_row *row, int is_cpu_known)
{
    const struct probity_thread_label *thread = row->thread;
    json_t *object = json_object();

    probity_json_put_integer(object, "pid", thread->pid);
    probity_json_put_integer(object, "tid", thread->tid);
    probity_json_put_integer(object, "thread", thread->thread);
    json_object_set_new(object, "name",
                        thread->name != NULL ? probity_json_string(thread->name) : json_null());
    put_sums(object, &row->sums, is_cpu_known);
    return object;
}

static json_t *function_of(const struct probity_report_function *entry, int is_cpu_known)
{
    const struct probity_function *function = entry->function;
    json_t *object = json_object();
    char lost[32];

    snprintf(lost, sizeof lost, "site-%u", (unsigned)entry->number);
    json_object_set_new(object, "name",
                        probity_json_string(function != NULL ? function->name : lost));
    json_object_set_new(object, "declared", json_boolean(function != NULL));
    if (function != NULL) {
        json_object_set_new(object, "signature", probity_json_string(entry->signature));
        json_object_set_new(object, "returns", probity_json_string(function->returns));
        json_object_set_new(object, "file", probity_json_string(function->file));
        probity_json_put_integer(object, "line", function->line);
        json_object_set_new(object, "object", probity_json_string(function->object));
        probity_json_put_integer(object, "level", function->level);
    }
    put_sums(object, &entry->sums, is_cpu_known);
    json_object_set_new(object, "histogram", histogram_of(&entry->sums.durations));
    if (entry->row_count > 0) {
        json_t *threads = json_array();
        for (size_t i = 0; i < entry->row_count; i++)
            json_array_append_new(threads, thread_of(&entry->rows[i], is_cpu_known));
        json_object_set_new(object, "threads", threads);
    }
    return object;
}

json_t *probity_report_states_json(const struct probity_trace_facts *facts)
{
    const struct probity_sched_info *states = facts->sched;
    json_t *object = json_object();

    json_object_set_new(object, "wakings",
                        json_boolean((states->flags & PROBITY_SCHED_WAKINGS) != 0));
    json_object_set_new(object, "cut", json_boolean((states->flags & PROBITY_SCHED_CUT) != 0));
    probity_json_put_integer(object, "error_ns", states->error_ns);
    probity_json_put_integer(object, "lost", states->lost);
    if (states->flags & PROBITY_SCHED_WAKINGS_STOPPED &&
        states->wakings_until >= states->first_tick)
        probity_json_put_integer(object, "wakings_ns",
                                 probity_trace_ns_of_ticks(facts, states->wakings_until -
                                                                      states->first_tick));
    probity_json_put_integer(object, "pauses", states->pauses);
    probity_json_put_integer(object, "paused_ns", states->paused_ns);
    return object;
}

static json_t *traces_of(const struct probity_reader *reader)
{
    static const char *const states[] = {"", "closed", "live", "killed", "unfinished"};
    json_t *list = json_array();
    char why[256];

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        int complete = probity_trace_is_complete(facts, why, sizeof why);
        json_t *object = json_object();
        json_object_set_new(object, "trace", probity_json_string(facts->path));
        probity_json_put_integer(object, "pid", facts->info.pid);
        json_object_set_new(object, "state", json_string(states[facts->state]));
        json_object_set_new(object, "complete", json_boolean(complete));
        json_object_set_new(object, "why", probity_json_string(why));
        probity_json_put_integer(object, "wall_steps", facts->clock_steps);
        probity_json_put_integer(object, "stalls", facts->totals.stalls);
        probity_json_put_integer(object, "stall_ns",
                                 probity_trace_ns_of_ticks(facts, facts->totals.stall_ticks));
        if (facts->sched != NULL)
            json_object_set_new(object, "states", probity_report_states_json(facts));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *repairs_of(const struct probity_scopes_repairs *repairs)
{
    json_t *object = json_object();

    probity_json_put_integer(object, "unwound", repairs->unwound);
    probity_json_put_integer(object, "open", repairs->open);
    probity_json_put_integer(object, "orphans", repairs->orphans);
    probity_json_put_integer(object, "pauses_unmatched", repairs->pauses_unmatched);
    probity_json_put_integer(object, "resumes_unmatched", repairs->resumes_unmatched);
    return object;
}

static int write_value(FILE *stream, const char *before, json_t *value)
{
    return probity_json_write(stream, before, value, 15);
}

int probity_report_json_traces(FILE *stream, const struct probity_reader *reader)
{
    return write_value(stream, "{\"traces\": ", traces_of(reader));
}

int probity_report_json_head(FILE *stream, const struct probity_reader *reader,
                             const struct probity_scopes_repairs *repairs)
{
    const struct probity_hosts *hosts = probity_reader_hosts(reader);
    int error = probity_report_json_traces(stream, reader);

    if (error == 0 && hosts != NULL) {
        fputs(",\n", stream);
        error = probity_hosts_json(stream, hosts);
    }
    return error == 0 ? write_value(stream, ",\n\"repairs\": ", repairs_of(repairs)) : error;
}

int probity_report_json(FILE *stream, const struct probity_reader *reader,
                        const struct probity_report_function *functions, size_t count,
                        const struct probity_scopes_repairs *repairs)
{
    int is_cpu_known = probity_report_has_cpu(reader);
    int error = probity_report_json_head(stream, reader, repairs);

    if (error == 0 && fputs(",\n\"functions\": [", stream) == EOF)
        error = PROBITY_ERROR_WRITE;
    for (size_t i = 0; error == 0 && i < count; i++)
        error = write_value(stream, i > 0 ? ",\n" : "\n", function_of(&functions[i], is_cpu_known));
    if (error == 0 && fputs("]}\n", stream) == EOF)
        error = PROBITY_ERROR_WRITE;
    return error;
}
