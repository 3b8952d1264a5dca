/* SPDX-License-Identifier: MIT
 *
 * info_json.c: the facts of traces as JSON. Only in the tool, because it needs libjansson.
 */
#include <string.h>

#include "analysis/correction.h"
#include "answers/info/info.h"
#include "answers/report/report_json.h"
#include "print/json.h"

/* Returns a string from the traced program, or null. */
static json_t *string(const struct probity_text *text)
{
    return text->bytes != NULL ? probity_json_bytes(text->bytes, text->length) : json_null();
}

/* Returns the command line, one string per argument. */
static json_t *arguments(const struct probity_text *text)
{
    json_t *list = json_array();
    size_t start = 0;

    for (size_t i = 0; text->bytes != NULL && i < text->length; i++) {
        if (text->bytes[i] != '\0' && i + 1 < text->length)
            continue;
        size_t end = text->bytes[i] == '\0' ? i : i + 1;
        struct probity_text argument = {text->bytes + start, end - start};
        json_array_append_new(list, string(&argument));
        start = i + 1;
    }
    return list;
}

static void set_string(json_t *object, const struct probity_trace_facts *facts, int number)
{
    const struct probity_info_string *item = &probity_info_strings[number];

    json_object_set_new(object, item->name, string(&facts->info.text[item->tag]));
}

static json_t *program_of(const struct probity_trace_facts *facts)
{
    const struct probity_text *text = facts->info.text;
    json_t *object = json_object();

    set_string(object, facts, PROBITY_INFO_PROGRAM);
    json_object_set_new(object, probity_info_strings[PROBITY_INFO_COMMAND].name,
                        arguments(&text[PROBITY_TAG_COMMAND]));
    set_string(object, facts, PROBITY_INFO_DIRECTORY);
    probity_columns_set_json(object, probity_info_process, PROBITY_INFO_PROCESS_COLUMNS, facts);
    set_string(object, facts, PROBITY_INFO_HOST);
    set_string(object, facts, PROBITY_INFO_KERNEL);
    set_string(object, facts, PROBITY_INFO_CPU);
    set_string(object, facts, PROBITY_INFO_EXECUTABLE);
    set_string(object, facts, PROBITY_INFO_BUILD);
    probity_columns_set_json(object, &probity_info_processors, 1, facts);
    set_string(object, facts, PROBITY_INFO_LIBRARY);
    return object;
}

/* Returns an object with a fact for each column. */
static json_t *facts_of(const struct probity_trace_facts *facts,
                        const struct probity_column *columns, size_t count)
{
    json_t *object = json_object();

    probity_columns_set_json(object, columns, count, facts);
    return object;
}

static json_t *ns_of_units(uint64_t units)
{
    return json_real((double)units / PROBITY_COST_UNITS);
}

/* Returns one measurement, as stored in the trace. */
static json_t *measurement_of(const struct probity_cost *cost)
{
    static const char *const moments[PROBITY_COST_MOMENTS] = {"start", "end", "parent"};
    json_t *object = json_object(), *rows = json_array();

    for (uint32_t i = 0; i < cost->rows; i++) {
        const struct probity_cost_row *row = &cost->row[i];
        json_t *item = json_object();
        probity_json_put_integer(item, "kind", row->kind);
        json_object_set_new(item, "amid_work", json_boolean(row->context != 0));
        probity_json_put_integer(item, "windows", row->windows);
        probity_json_put_integer(item, "calls", row->calls);
        json_object_set_new(item, "least_ns", ns_of_units(row->least));
        json_object_set_new(item, "median_ns", ns_of_units(row->median));
        json_array_append_new(rows, item);
    }
    json_object_set_new(object, "moment", json_string(moments[cost->moment]));
    probity_json_put_integer(object, "took_ns", cost->took_ns);
    json_object_set_new(object, "rows", rows);
    return object;
}

/* Returns null if it was not measured. */
static json_t *overhead_of(const struct probity_trace_facts *facts)
{
    static const enum probity_cost_moment in_order[] = {PROBITY_COST_START, PROBITY_COST_PARENT,
                                                        PROBITY_COST_END};
    struct probity_costs costs;
    json_t *object = json_object(), *list = json_array();

    probity_costs_of(facts, &costs);
    for (int part = 0; part < PROBITY_PARTS; part++) {
        const struct probity_cost_range *range = &costs.part[part];
        if (range->most == 0)
            continue;
        json_t *item = json_object();
        json_object_set_new(item, "least_ns", ns_of_units(range->least));
        json_object_set_new(item, "most_ns", ns_of_units(range->most));
        json_object_set_new(object, probity_cost_part_name(part), item);
    }
    json_object_set_new(object, "early_ns", ns_of_units(costs.early));
    json_object_set_new(object, "early_slow_ns", ns_of_units(costs.early_slow));
    for (size_t i = 0; i < sizeof in_order / sizeof *in_order; i++) {
        if (facts->cost[in_order[i]].rows > 0)
            json_array_append_new(list, measurement_of(&facts->cost[in_order[i]]));
    }
    json_object_set_new(object, "measurements", list);
    if (costs.is_known)
        return object;
    json_decref(object);
    return json_null();
}

static json_t *text_of(const struct probity_text *text)
{
    json_t *value = json_stringn(text->bytes, text->length);

    return value != NULL ? value : json_null(); /* not UTF-8 */
}

static json_t *reason_of(const struct probity_trace_facts *facts,
                         const struct probity_dump_reason *reason)
{
    static const char *const kinds[] = {"other", "command", "program", "signal", "function",
                                        "block", "wait", "request", "gap", "rate", "value"};
    const uint32_t known = sizeof kinds / sizeof kinds[0];
    int is_number = reason->kind == PROBITY_DUMP_RATE || reason->kind == PROBITY_DUMP_VALUE;
    json_t *object = json_object();

    json_object_set_new(object, "kind",
                        json_string(kinds[reason->kind < known ? reason->kind : 0]));
    json_object_set_new(object, "condition", text_of(&reason->condition));
    json_object_set_new(object, "text", text_of(&reason->text));
    probity_json_put_integer(object, "tid", reason->tid);
    probity_json_put_integer(object, "start_ticks", reason->start);
    probity_json_put_integer(object, "end_ticks", reason->end);
    probity_json_put_integer(object, "took_ns",
                             probity_trace_ns_of_ticks(facts, reason->end - reason->start));
    probity_json_put_integer(object, "limit_ns",
                             is_number ? 0 : probity_trace_ns_of_ticks(facts, reason->limit));
    json_object_set_new(object, "limit",
                        is_number ? json_integer((json_int_t)reason->limit) : json_null());
    if (is_number)
        json_object_set_new(object, "amount", json_integer((json_int_t)reason->id));
    else
        probity_json_put_integer(object, "id", reason->id);
    return object;
}

/* Returns null if the trace is not a dump. */
static json_t *dump_of(const struct probity_trace_facts *facts)
{
    struct probity_dump dump;
    struct probity_dump_reason reason;
    size_t at;

    if (facts->dump == NULL || probity_dump_get(facts->dump, facts->dump_bytes, &dump, &at) != 0)
        return json_null();
    json_t *object = json_object(), *reasons = json_array();
    for (uint32_t i = 0; i < dump.reasons; i++) {
        if (probity_dump_reason_get(facts->dump, facts->dump_bytes, &at, &reason) != 0)
            break;
        json_array_append_new(reasons, reason_of(facts, &reason));
    }
    probity_json_put_integer(object, "number", dump.number);
    json_object_set_new(object, "whole", json_boolean((dump.flags & PROBITY_DUMP_WHOLE) != 0));
    probity_json_put_integer(object, "wanted_ticks", dump.wanted);
    probity_json_put_integer(object, "had_ticks", dump.had);
    probity_json_put_integer(object, "end_ticks", dump.end);
    json_object_set_new(object, "reasons", reasons);
    probity_json_put_integer(object, "more_reasons", dump.more);
    probity_json_put_integer(object, "left_out", dump.left_out);
    probity_json_put_integer(object, "lost", dump.lost);
    return object;
}

static json_t *threads_of(const struct probity_trace_facts *facts)
{
    json_t *list = json_array();

    for (size_t i = 0; i < facts->thread_list_count; i++) {
        const struct probity_thread_facts *thread = &facts->thread_list[i];
        struct probity_text name = {thread->name, thread->name != NULL ? strlen(thread->name) : 0};
        json_t *object = json_object();
        probity_json_put_integer(object, "thread", thread->thread);
        probity_json_put_integer(object, "tid", thread->tid);
        json_object_set_new(object, "name", string(&name));
        probity_json_put_integer(object, "hits", thread->hits);
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *error_of(uint64_t error_ns)
{
    return error_ns != UINT64_MAX ? probity_json_integer(error_ns) : json_null();
}

static json_t *pair_of(const struct probity_host_pair *pair)
{
    static const char *const states[] = {"", "bounded", "one-sided", "contradictory"};
    json_t *object = json_object();

    json_object_set_new(object, "from", json_integer(pair->left));
    json_object_set_new(object, "to", json_integer(pair->right));
    json_object_set_new(object, "state", json_string(states[pair->state]));
    json_object_set_new(object, "by", json_string(pair->is_by_requests ? "requests" : "messages"));
    probity_json_put_integer(object, "forward", pair->forward);
    probity_json_put_integer(object, "backward", pair->backward);
    json_object_set_new(object, "offset_ns", json_integer(pair->offset_ns));
    json_object_set_new(object, "drift_ppm", json_real(pair->drift_ppm));
    json_object_set_new(object, "error_ns", error_of(pair->error_ns));
    if (pair->state == PROBITY_PAIR_CONTRADICTORY)
        probity_json_put_integer(object, "agree_until_ns", pair->agree_until_ns);
    return object;
}

/* Returns the clock of a trace's host and its links to others, or null if it was not compared. */
static json_t *alignment_of(const struct probity_hosts *hosts, size_t trace)
{
    if (hosts == NULL)
        return json_null();
    uint32_t number = hosts->of_traces[trace];
    const struct probity_host *host = &hosts->hosts[number];
    json_t *object = json_object(), *pairs = json_array();

    json_object_set_new(object, "host", json_integer(number));
    json_object_set_new(object, "reference", json_integer(host->reference));
    json_object_set_new(object, "linked", json_boolean(host->is_linked));
    json_object_set_new(object, "offset_ns", json_integer(host->offset_ns));
    json_object_set_new(object, "drift_ppm", json_real(host->drift_ppm));
    json_object_set_new(object, "error_ns", error_of(host->error_ns));
    for (size_t i = 0; i < hosts->pair_count; i++) {
        if (hosts->pairs[i].left == number || hosts->pairs[i].right == number)
            json_array_append_new(pairs, pair_of(&hosts->pairs[i]));
    }
    json_object_set_new(object, "pairs", pairs);
    return object;
}

static json_t *mode_changes_of(const struct probity_trace_facts *facts)
{
    json_t *object = json_object();
    uint64_t ticks = facts->modes.last_tick - facts->info.anchor.ticks;

    json_object_set_new(object, "count", json_integer((json_int_t)facts->modes.count));
    json_object_set_new(object, "mode", json_string(probity_info_mode_name(facts->modes.mode)));
    json_object_set_new(object, "since_ns",
                        json_integer((json_int_t)probity_trace_ns_of_ticks(facts, ticks)));
    return object;
}

static json_t *trace_of(const struct probity_trace_facts *facts,
                        const struct probity_hosts *hosts, size_t number)
{
    json_t *object = json_object();
    char why[256];
    int complete = probity_trace_is_complete(facts, why, sizeof why);
    struct probity_text path = {facts->path, 0};

    while (path.bytes[path.length] != '\0')
        path.length++;
    json_object_set_new(object, "trace", string(&path));
    json_object_set_new(object, "state", json_string(probity_info_state_name(facts)));
    json_object_set_new(object, "complete", json_boolean(complete));
    json_object_set_new(object, "why", json_string(why));
    json_object_set_new(object, "mode", json_string(probity_info_mode_name(facts->info.mode)));
    if (facts->modes.count > 0)
        json_object_set_new(object, "mode_changes", mode_changes_of(facts));
    json_object_set_new(object, "profile",
                        json_boolean((facts->info.flags & PROBITY_INFO_PROFILE) != 0));
    set_string(object, facts, PROBITY_INFO_LABEL);
    json_object_set_new(object, "program", program_of(facts));
    json_object_set_new(object, "dump", dump_of(facts));
    json_object_set_new(object, "counts",
                        facts_of(facts, probity_info_counts, PROBITY_INFO_COUNTS));
    json_object_set_new(object, "times",
                        facts_of(facts, probity_info_times, PROBITY_INFO_TIMES));
    json_object_set_new(object, "overhead", overhead_of(facts));
    json_object_set_new(object, "budget",
                        facts_of(facts, probity_info_budget, PROBITY_INFO_BUDGET_COLUMNS));
    if (facts->sched != NULL)
        json_object_set_new(object, "states", probity_report_states_json(facts));
    json_object_set_new(object, "threads", threads_of(facts));
    json_object_set_new(object, "alignment", alignment_of(hosts, number));
    return object;
}

int probity_info_json(FILE *stream, const struct probity_reader *reader)
{
    const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(PROBITY_INFO_DIGITS);
    json_t *list = json_array();
    int error = list != NULL ? 0 : PROBITY_ERROR_MEMORY;

    for (size_t i = 0; error == 0 && i < probity_reader_traces(reader); i++) {
        if (json_array_append_new(list, trace_of(probity_reader_facts(reader, i),
                                                 probity_reader_hosts(reader), i)) != 0)
            error = PROBITY_ERROR_MEMORY;
    }
    if (error == 0 &&
        (probity_json_dump(list, stream, flags) != 0 || fputc('\n', stream) == EOF))
        error = PROBITY_ERROR_WRITE;
    json_decref(list);
    return error;
}
