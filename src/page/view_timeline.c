/* SPDX-License-Identifier: MIT
 *
 * view_timeline.c: writes a timeline for the page. Small parts are JSON; spans are numbers, lane by
 * lane and within a lane column by column, because similar values compress well together:
 *
 *     gaps, from the end of the previous span (or the beginning of all) to the start, zigzag-coded;
 *     lengths; counts; names; rests, lengths minus busy times, zigzag-coded; times off the CPU;
 *     flags; 1 for a span with values, which are in the object in the same order
 *
 * A column begins with the lowest 7 bits of each number, one byte each, with the high bit set if
 * more follow. Then come the next 7 bits of the numbers that have more, and so on, because high
 * bits are mostly similar and low bits are not.
 *
 * The rest is 0 if a span is not merged: such a span is all busy, or, for a queue, busy for its
 * length times its duration. Calls that began before the range, and time off the CPU, always have a
 * rest. In rows of tracks, the times off the CPU are replaced with the rows' numbers, each minus
 * the previous one, zigzag-coded. Thread states have both times only if they are merged, since the
 * name determines them; their times off the CPU are replaced with their CPU or waker.
 *
 * Times are ns since the first record: JavaScript integers are exact only up to 2^53.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "page/view.h"
#include "print/json.h"
#include "print/text.h"
#include "print/values.h"
#include "probity.h"

/* Longer texts of values are truncated. */
enum { VALUE_TEXT_MAX = 2000 };

/* Lanes in order: off CPU, marks, blocks, states, calls by depth; lanes without spans are left
 * out. */
enum { LANES_BEFORE_CALLS = 4 };

static uint32_t lanes_of(const struct probity_timeline_thread *thread)
{
    return LANES_BEFORE_CALLS + thread->depth;
}

static const struct probity_timeline_lane *lane_at(const struct probity_timeline_thread *thread,
                                                   uint32_t index)
{
    const struct probity_timeline_lane *first[] = {&thread->stretches, &thread->marks,
                                                   &thread->blocks, &thread->states};

    return index < LANES_BEFORE_CALLS ? first[index] : &thread->calls[index - LANES_BEFORE_CALLS];
}

/* Calls, marks and blocks. */
static int may_have_values(uint32_t index)
{
    return index > 0 && index != LANES_BEFORE_CALLS - 1;
}

static int lane_kind(uint32_t index)
{
    static const int first[] = {PROBITY_TIMELINE_STRETCHES, PROBITY_TIMELINE_MARKS,
                                PROBITY_TIMELINE_BLOCKS, PROBITY_TIMELINE_STATES};

    return index < LANES_BEFORE_CALLS ? first[index] : PROBITY_TIMELINE_CALLS;
}

/* ---- Texts -------------------------------------------------------------------------------------
 */

/* Describes a hit with ids: "lock-wait correlation 7 object 9". */
static char *put_hit_ids(char *at, const char *end, const struct probity_timeline_values *values)
{
    struct probity_hit_with hit = {0};
    char text[128];

    if (!probity_hit_with_parse(values->values, values->bytes, &hit))
        return at;
    int bytes = snprintf(text, sizeof text, "%s", probity_role_name(hit.role));
    if (hit.has_correlation)
        bytes += snprintf(text + bytes, sizeof text - (size_t)bytes, " correlation %" PRIu64,
                          hit.correlation);
    if (hit.has_object)
        bytes += snprintf(text + bytes, sizeof text - (size_t)bytes, " object %" PRIu64,
                          hit.object);
    if (hit.has_place)
        bytes += snprintf(text + bytes, sizeof text - (size_t)bytes, " place %#" PRIx64, hit.place);
    return probity_text_copy(at, end, text, (size_t)bytes);
}

/* Writes "name = value" for each; only the value for messages and results of one value. */
static char *put_values(char *at, const char *end, const struct probity_timeline_values *values)
{
    const struct probity_event event = {.kind = values->kind, .format = values->format,
                                        .values = values->values, .value_bytes = values->bytes};
    struct probity_value_walk walk = probity_value_walk_of(&event);
    struct probity_value_view view;
    int is_raw = values->kind == PROBITY_EVENT_MESSAGE || values->kind == PROBITY_EVENT_CHECKPOINT;
    int is_named = !is_raw && (values->kind != PROBITY_EVENT_LEAVE ||
                                (values->format != NULL && values->format->count > 1));

    for (int i = 0; probity_value_walk_next(&walk, &view); i++) {
        if (i > 0 && is_named)
            at = probity_text_copy(at, end, ", ", 2);
        if (is_named && view.text != NULL) {
            at = probity_text_put(at, end, view.text, strlen(view.text), 0);
            at = probity_text_copy(at, end, " = ", 3);
        }
        at = probity_value_put(at, end, &view,
                               is_raw ? PROBITY_VALUE_RAW : PROBITY_VALUE_QUOTED);
    }
    return at;
}

/* Writes a call's parameters, or its result. */
static int put_side(FILE *stream, const struct probity_timeline *timeline, uint32_t number,
                    int is_result)
{
    char text[VALUE_TEXT_MAX + PROBITY_VALUE_TEXT_MAX];
    struct probity_timeline_values values;
    size_t at = 0;
    char *end = text;

    while (probity_timeline_values_next(timeline, number, &at, &values)) {
        if ((values.kind == PROBITY_EVENT_LEAVE) != is_result || end >= text + VALUE_TEXT_MAX)
            continue;
        if (end > text)
            end = probity_text_copy(end, text + sizeof text - 1, ", ", 2);
        end = values.kind == PROBITY_EVENT_HIT ? put_hit_ids(end, text + sizeof text - 1, &values)
                                               : put_values(end, text + sizeof text - 1, &values);
    }
    if (end == text)
        return fputs("null", stream) == EOF ? PROBITY_ERROR_WRITE : 0;
    size_t bytes = (size_t)(end - text);
    if (bytes > VALUE_TEXT_MAX)
        bytes = probity_text_whole(text, VALUE_TEXT_MAX);
    text[bytes] = '\0';
    return probity_json_put_text(stream, text);
}

static int put_pair(FILE *stream, const struct probity_timeline *timeline, uint32_t number,
                    uint64_t *count)
{
    fputs((*count)++ > 0 ? ",\n[" : "\n[", stream);
    int error = put_side(stream, timeline, number, 0);
    fputs(", ", stream);
    if (error == 0)
        error = put_side(stream, timeline, number, 1);
    fputc(']', stream);
    return error;
}

static int put_lane_values(FILE *stream, const struct probity_timeline *timeline,
                           const struct probity_timeline_lane *lane, uint64_t *count)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < lane->count; i++) {
        if (lane->spans[i].values != 0)
            error = put_pair(stream, timeline, lane->spans[i].values, count);
    }
    return error;
}

/* Writes the values of all spans that have any, in order of the spans, then those of slow calls. */
static int put_all_values(FILE *stream, const struct probity_timeline *timeline)
{
    size_t thread_count, name_count;
    const struct probity_timeline_thread *const *threads =
        probity_timeline_threads(timeline, &thread_count);
    const struct probity_timeline_name *const *names =
        probity_timeline_names(timeline, &name_count);
    uint64_t count = 0;
    int error = 0;

    for (size_t i = 0; i < thread_count; i++) {
        for (uint32_t index = 0; error == 0 && index < lanes_of(threads[i]); index++) {
            if (may_have_values(index))
                error = put_lane_values(stream, timeline, lane_at(threads[i], index), &count);
        }
    }
    for (size_t i = 0; i < name_count; i++) {
        for (unsigned j = 0; error == 0 && j < names[i]->slow_count; j++) {
            if (names[i]->slow[j].span.values != 0)
                error = put_pair(stream, timeline, names[i]->slow[j].span.values, &count);
        }
    }
    return error;
}

/* ---- Names -------------------------------------------------------------------------------------
 */

static int put_function(FILE *stream, const struct probity_function_key *key)
{
    const struct probity_function *function = key->function;

    if (function == NULL)
        return fprintf(stream, "\"site-%" PRIu32 "\"", key->number) < 0 ? PROBITY_ERROR_WRITE : 0;
    int error = probity_json_put_text(stream, function->name);
    fputs(", \"file\": ", stream);
    if (error == 0)
        error = probity_json_put_text(stream, function->file);
    fprintf(stream, ", \"line\": %" PRIu32 ", \"signature\": ", function->line);
    return error == 0 ? probity_json_put_text(stream, function->signature) : error;
}

static int put_text(FILE *stream, const struct probity_timeline_name *name)
{
    char number[16];

    switch (name->kind) {
    case PROBITY_TIMELINE_FUNCTION: return put_function(stream, &name->key);
    case PROBITY_TIMELINE_MESSAGE: return probity_json_put_text(stream, "message");
    case PROBITY_TIMELINE_CHECKPOINT: return probity_json_put_text(stream, "checkpoint");
    case PROBITY_TIMELINE_BLOCK: /* the page makes the text, from the names of both ends */
        return fprintf(stream, "\"\", \"to\": %" PRId64,
                       name->to != PROBITY_TIMELINE_NO_NAME ? (int64_t)name->to : -1) < 0
                   ? PROBITY_ERROR_WRITE : 0;
    case PROBITY_TIMELINE_HOLDER:
    case PROBITY_TIMELINE_WAITER:
    case PROBITY_TIMELINE_LENGTH: return probity_json_put_text(stream, "");
    default: break;
    }
    snprintf(number, sizeof number, "%" PRIu32, name->number);
    if (name->text != NULL)
        return probity_json_put_text(stream, name->text);
    return probity_json_put_text(stream, number);
}

static void put_slow(FILE *stream, const struct probity_timeline_name *name, uint64_t first_ns,
                     uint64_t *value_count)
{
    fputs(", \"slow\": [", stream);
    for (unsigned i = 0; i < name->slow_count; i++) {
        const struct probity_timeline_slow *slow = &name->slow[i];
        fprintf(stream, "%s[%" PRIu32 ", %" PRIu32 ", %" PRId64 ", %" PRIu64 ", %" PRIu64
                ", %" PRIu64 "]", i > 0 ? ", " : "", slow->thread, slow->depth,
                (int64_t)(slow->span.start_ns - first_ns), slow->span.length_ns, slow->span.off_ns,
                slow->span.values != 0 ? ++*value_count : 0);
    }
    fputc(']', stream);
}

/* value_count: number of values that belong to spans, which come first. */
static int put_names(FILE *stream, const struct probity_timeline *timeline, uint64_t value_count)
{
    size_t count;
    const struct probity_timeline_name *const *names = probity_timeline_names(timeline, &count);
    uint64_t first_ns = probity_timeline_facts(timeline).first_ns;
    int error = 0;

    fputs(",\n\"names\": [", stream);
    for (size_t i = 0; error == 0 && i < count; i++) {
        fprintf(stream, "%s\n{\"kind\": %d, \"number\": %" PRIu32 ", \"name\": ", i > 0 ? "," : "",
                (int)names[i]->kind, names[i]->number);
        error = put_text(stream, names[i]);
        put_slow(stream, names[i], first_ns, &value_count);
        fputc('}', stream);
    }
    fputc(']', stream);
    return error;
}

static int compare_names(const void *left, const void *right)
{
    const struct probity_timeline_name *const *a = left, *const *b = right;

    return probity_function_compare(&(*a)->key, &(*b)->key);
}

struct numbered {
    const struct probity_timeline_name *name; /* must be first, for the comparison */
    size_t number;
};

/* For each function of the report, writes the number of its name in the timeline; -1: none, because
 * it was only counted. */
static int put_numbers(FILE *stream, const struct probity_view_answer *answer)
{
    size_t count, sorted_count = 0;
    const struct probity_timeline_name *const *names =
        probity_timeline_names(answer->timeline, &count);
    struct numbered *sorted = calloc(count + 1, sizeof *sorted);

    if (sorted == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (names[i]->kind == PROBITY_TIMELINE_FUNCTION)
            sorted[sorted_count++] = (struct numbered){names[i], i};
    }
    qsort(sorted, sorted_count, sizeof *sorted, compare_names);
    fputs(",\n\"report_names\": [", stream);
    for (size_t i = 0; i < answer->function_count; i++) {
        const struct probity_report_function *function = &answer->functions[i];
        const struct probity_timeline_name wanted = {
            .key = {function->function, function->trace, function->number}};
        const struct numbered key = {&wanted, 0};
        const struct numbered *found =
            bsearch(&key, sorted, sorted_count, sizeof *sorted, compare_names);
        fprintf(stream, "%s%lld", i > 0 ? ", " : "",
                found != NULL ? (long long)found->number : -1);
    }
    fputc(']', stream);
    free(sorted);
    return 0;
}

/* ---- Threads -----------------------------------------------------------------------------------
 */

void probity_view_lanes_json(FILE *stream, const struct probity_timeline_thread *thread)
{
    const char *between = "";

    fputs("\"lanes\": [", stream);
    for (uint32_t index = 0; index < lanes_of(thread); index++) {
        const struct probity_timeline_lane *lane = lane_at(thread, index);
        if (lane->count == 0)
            continue;
        fprintf(stream, "%s[%d, %" PRIu32 ", %zu]", between, lane_kind(index),
                index < LANES_BEFORE_CALLS ? 0 : index - LANES_BEFORE_CALLS, lane->count);
        between = ", ";
    }
    fputc(']', stream);
}

static int put_thread(FILE *stream, const struct probity_timeline_thread *thread, uint64_t first_ns)
{
    fprintf(stream, "{\"trace\": %" PRIu32 ", \"thread\": %" PRIu32 ", \"pid\": %" PRIu32
            ", \"tid\": %" PRIu32 ", \"cpu_known\": %s, \"first_ns\": %" PRIu64
            ", \"last_ns\": %" PRIu64 ", \"name\": ",
            thread->trace, thread->thread, thread->pid, thread->tid,
            thread->is_cpu_known ? "true" : "false",
            thread->first_ns > 0 ? thread->first_ns - first_ns : 0,
            thread->first_ns > 0 ? thread->last_ns - first_ns : 0);
    int error = probity_json_put_text(stream, thread->name);
    if (thread->track != PROBITY_TIMELINE_THREAD)
        fprintf(stream, ", \"track\": %d, \"object\": \"0x%" PRIx64 "\"", (int)thread->track,
                thread->object);
    fputs(", ", stream);
    probity_view_lanes_json(stream, thread);
    fputc('}', stream);
    return error;
}

/* Intervals in which spans are not merged, although spans elsewhere are. */
static void put_stretches(FILE *stream, const struct probity_timeline *timeline, uint64_t first_ns)
{
    size_t count;
    const struct probity_timeline_stretch *stretches =
        probity_timeline_stretches(timeline, &count);

    fputs(",\n\"stretches\": [", stream);
    for (size_t i = 0; i < count; i++) {
        uint64_t from_ns = stretches[i].from_ns > first_ns ? stretches[i].from_ns : first_ns;
        fprintf(stream, "%s[%" PRIu64 ", %" PRIu64 "]", i > 0 ? ", " : "", from_ns - first_ns,
                stretches[i].to_ns - first_ns);
    }
    fputc(']', stream);
}

/* Writes the sums of the blocks of each thread: indices of thread and name, calls, wall time, CPU
 * time and time off the CPU. */
static void put_sums(FILE *stream, const struct probity_timeline *timeline)
{
    size_t count;
    const struct probity_timeline_sum *sums = probity_timeline_sums(timeline, &count);

    fputs(",\n\"sums\": [", stream);
    for (size_t i = 0; i < count; i++)
        fprintf(stream, "%s[%" PRIu32 ", %" PRIu32 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %"
                PRIu64 "]", i > 0 ? ",\n" : "\n", sums[i].thread, sums[i].name, sums[i].calls,
                sums[i].wall_ns, sums[i].cpu_ns, sums[i].off_ns);
    fputc(']', stream);
}

/* Number of spans with values. */
static uint64_t count_values(const struct probity_timeline_thread *const *threads, size_t count)
{
    uint64_t found = 0;

    for (size_t i = 0; i < count; i++) {
        for (uint32_t index = 0; index < lanes_of(threads[i]); index++) {
            const struct probity_timeline_lane *lane = lane_at(threads[i], index);
            for (size_t j = 0; may_have_values(index) && j < lane->count; j++)
                found += lane->spans[j].values != 0;
        }
    }
    return found;
}

int probity_view_timeline_json(FILE *stream, const struct probity_view_answer *answer)
{
    const struct probity_timeline *timeline = answer->timeline;
    const struct probity_timeline_facts facts = probity_timeline_facts(timeline);
    size_t count;
    const struct probity_timeline_thread *const *threads =
        probity_timeline_threads(timeline, &count);
    uint64_t start_ns = probity_reader_start_ns(answer->reader);

    /* Writes the start as text, because it has more digits than JavaScript keeps. */
    fprintf(stream, "{\"first_ns\": \"%" PRIu64 "\", \"since_start_ns\": %" PRId64
            ", \"length_ns\": %" PRIu64 ", \"unit_ns\": %" PRIu64 ", \"calls\": %" PRIu64
            ", \"marks\": %" PRIu64 ", \"blocks\": %" PRIu64 ", \"objects_beyond\": %" PRIu64
            ", \"requests_beyond\": %" PRIu64 ", \"together\": %" PRIu64 ", \"too_deep\": %" PRIu64
            ", \"threads_beyond\": %" PRIu64 ", \"values_min_ns\": %" PRIu64 ", \"spans\": %zu",
            facts.first_ns, facts.first_ns > 0 ? (int64_t)(facts.first_ns - start_ns) : 0,
            facts.last_ns - facts.first_ns, facts.unit_ns, facts.calls, facts.marks,
            facts.blocks, facts.objects_beyond, facts.requests_beyond, facts.together,
            facts.calls_too_deep, facts.threads_beyond, facts.values_min_ns, facts.spans);
    fputs(", \"tids\": ", stream);
    int error = probity_json_put_text(stream, answer->tids);
    if (error == 0)
        error = put_names(stream, timeline, count_values(threads, count));
    if (error == 0)
        error = put_numbers(stream, answer);
    put_stretches(stream, timeline, facts.first_ns);
    put_sums(stream, timeline);
    fputs(",\n\"threads\": [", stream);
    for (size_t i = 0; error == 0 && i < count; i++) {
        fputs(i > 0 ? ",\n" : "\n", stream);
        error = put_thread(stream, threads[i], facts.first_ns);
    }
    fputs("],\n\"values\": [", stream);
    if (error == 0)
        error = put_all_values(stream, timeline);
    fputs("]}", stream);
    return error;
}

/* ---- Spans -------------------------------------------------------------------------------------
 */

/* A lane, and a column of it that is being written. */
struct column {
    const struct probity_timeline_lane *lane;
    uint64_t *values;
    uint64_t first_ns;
    int is_stretches, are_states, is_track, may_have_values;
    int has_clipped; /* spans that began before the range keep their times */
};

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)-(value < 0);
}

/* Writes the column, and destroys its contents. */
static void put_column(FILE *stream, const struct column *column)
{
    enum { FLUSHED_MIN = 512 };

    for (size_t count = column->lane->count, kept = 0; count > 0; count = kept, kept = 0) {
        if (count >= FLUSHED_MIN)
            fflush(stream); /* these bytes are not like the ones before */
        for (size_t i = 0; i < count; i++) {
            uint64_t value = column->values[i];
            putc_unlocked((int)(value & 0x7f) | (value > 0x7f ? 0x80 : 0), stream);
            if (value > 0x7f)
                column->values[kept++] = value >> 7;
        }
    }
}

/* Returns the visible part of a span that began before the first record. */
static uint64_t length_of(const struct column *column, const struct probity_timeline_span *span)
{
    uint64_t first_ns = column->first_ns;
    uint64_t before_ns = span->start_ns < first_ns ? first_ns - span->start_ns : 0;

    if (column->is_stretches)
        return span->length_ns;
    return span->length_ns > before_ns ? span->length_ns - before_ns : 0;
}

/* Clips spans that began before the first record. */
static void fill_gaps(const struct column *column)
{
    uint64_t start_ns = column->first_ns, end_ns = start_ns;

    for (size_t i = 0; i < column->lane->count; i++) {
        const struct probity_timeline_span *span = &column->lane->spans[i];
        start_ns = span->start_ns > start_ns ? span->start_ns : start_ns;
        column->values[i] = zigzag((int64_t)(start_ns - end_ns));
        end_ns = start_ns + length_of(column, span);
    }
}

static void fill_lengths(const struct column *column)
{
    for (size_t i = 0; i < column->lane->count; i++)
        column->values[i] = length_of(column, &column->lane->spans[i]);
}

/* The busy time of an unmerged span is its length, unless the span is clipped. */
static void fill_rests(const struct column *column)
{
    for (size_t i = 0; i < column->lane->count; i++) {
        const struct probity_timeline_span *span = &column->lane->spans[i];
        int has_rest = column->is_stretches || span->count > 1 ||
                       (column->has_clipped && (span->flags & PROBITY_TIMELINE_BEFORE) != 0);
        column->values[i] =
            has_rest ? zigzag((int64_t)(length_of(column, span) - span->busy_ns)) : 0;
    }
}

/* Numbers of requests, or lengths of queues, which are meaningless for merged spans. For an
 * unmerged state, the name shows whether the thread was waiting for a CPU. */
static void fill_off(const struct column *column)
{
    uint64_t previous = 0;

    for (size_t i = 0; i < column->lane->count; i++) {
        const struct probity_timeline_span *span = &column->lane->spans[i];
        if (column->is_track) {
            uint64_t id = span->count > 1 ? previous : span->off_ns;
            column->values[i] = zigzag((int64_t)(id - previous));
            previous = id;
        } else {
            column->values[i] = column->are_states && span->count == 1 ? 0 : span->off_ns;
        }
    }
}

static void fill_last(const struct column *column)
{
    for (size_t i = 0; i < column->lane->count; i++) {
        uint32_t values = column->is_stretches ? 0 : column->lane->spans[i].values;
        column->values[i] = column->may_have_values ? values != 0 : values;
    }
}

static int put_lane(FILE *stream, const struct probity_timeline_thread *thread, uint32_t index,
                    uint64_t first_ns)
{
    const struct probity_timeline_lane *lane = lane_at(thread, index);
    int is_track = thread->track != PROBITY_TIMELINE_THREAD, are_states = lane == &thread->states;
    struct column column = {
        .lane = lane, .first_ns = first_ns, .is_stretches = index == 0, .are_states = are_states,
        .is_track = is_track, .may_have_values = may_have_values(index),
        .has_clipped = !is_track && !are_states && lane != &thread->blocks};

    if (lane->count == 0)
        return 0;
    column.values = malloc(lane->count * sizeof *column.values);
    if (column.values == NULL)
        return PROBITY_ERROR_MEMORY;
    fill_gaps(&column);
    put_column(stream, &column);
    fill_lengths(&column);
    put_column(stream, &column);
    for (size_t i = 0; i < lane->count; i++)
        column.values[i] = lane->spans[i].count;
    put_column(stream, &column);
    for (size_t i = 0; i < lane->count; i++)
        column.values[i] = lane->spans[i].name;
    put_column(stream, &column);
    fill_rests(&column);
    put_column(stream, &column);
    fill_off(&column);
    put_column(stream, &column);
    for (size_t i = 0; i < lane->count; i++)
        column.values[i] = lane->spans[i].flags;
    put_column(stream, &column);
    fill_last(&column);
    put_column(stream, &column);
    free(column.values);
    return 0;
}

int probity_view_thread_spans(FILE *stream, const struct probity_timeline_thread *thread,
                              uint64_t first_ns)
{
    int error = 0;

    for (uint32_t index = 0; error == 0 && index < lanes_of(thread); index++)
        error = put_lane(stream, thread, index, first_ns);
    return error;
}

int probity_view_spans(FILE *stream, const struct probity_timeline *timeline)
{
    size_t count;
    const struct probity_timeline_thread *const *threads =
        probity_timeline_threads(timeline, &count);
    uint64_t first_ns = probity_timeline_facts(timeline).first_ns;
    int error = 0;

    for (size_t i = 0; error == 0 && i < count; i++)
        error = probity_view_thread_spans(stream, threads[i], first_ns);
    return error;
}
