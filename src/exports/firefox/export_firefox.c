/* SPDX-License-Identifier: MIT
 *
 * export_firefox.c: the Firefox Profiler's processed profile, version 70. Its tables are stored by
 * column, so each column of each thread has a chain in a temporary file (log/log_write.h), and at
 * the end the chains are written one after another.
 *
 * Calls and spans derived from hits are markers, which have exact times. Calls (or, if there are
 * none, blocks between probes) are also samples: one at each change of the stack, weighted by the
 * time until the next, so that sums of weights are self times. A deferred scope is in the samples
 * from its checkpoint on.
 *
 * Memory: 8 KiB for each column of a thread; functions, probes and files; stacks up to STACKS_MAX.
 */
#include "exports/firefox/export_firefox.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/bytes.h"
#include "print/values.h"
#include "probity.h"

enum { STACKS_MAX = 1 << 20, NAME_ROOM = 64 };

/* Phases of a marker in the Firefox Profiler. */
enum { PHASE_INSTANT = 0, PHASE_INTERVAL = 1 };

static int grow(struct probity_export *export, void **array, size_t item_bytes, uint32_t index,
                uint32_t *capacity)
{
    void *grown = index < *capacity ? *array
                                    : probity_array_grow(*array, item_bytes, index, capacity);

    if (grown == NULL)
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
    else
        *array = grown;
    return grown != NULL ? 0 : -1;
}

/* ---- Strings -----------------------------------------------------------------------------------
 */

static void put_separator(struct probity_export *export, int is_first)
{
    firefox_put(export, is_first ? "" : ",");
}

/* Adds a string, and a function with that name. source: NULL, or the number of its source file. */
static uint32_t add_string(struct probity_export *export, const char *text, size_t bytes,
                           const uint32_t *source, uint32_t line)
{
    struct firefox *state = export->state;
    int is_first = state->string_count == 0;

    firefox_put(export, is_first ? "\n" : ",\n");
    firefox_put_text(export, text, bytes);
    log_writer_pour(&export->out, &state->strings);
    put_separator(export, is_first);
    if (source != NULL)
        firefox_put_number(export, *source);
    else
        firefox_put(export, "null");
    log_writer_pour(&export->out, &state->sources);
    put_separator(export, is_first);
    if (source != NULL)
        firefox_put_number(export, line);
    else
        firefox_put(export, "null");
    log_writer_pour(&export->out, &state->lines);
    return state->string_count++;
}

/* Returns the number of a source file; a new one is also added as a string. */
static int source_of(struct probity_export *export, const char *file, uint32_t *ret_source)
{
    struct firefox *state = export->state;
    struct export_name *name = export_names_at(&state->files, probity_hash_text(0, file) | 1);

    if (name == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return 0;
    }
    *ret_source = name->number;
    if (name->bytes != 0)
        return 1;
    name->bytes = 1;
    uint32_t string = add_string(export, file, strlen(file), NULL, 0);
    put_separator(export, state->source_count++ == 0);
    firefox_put_number(export, string);
    log_writer_pour(&export->out, &state->source_files);
    return 1;
}

static uint32_t string_of_function(struct probity_export *export, const struct probity_scope *scope)
{
    struct firefox *state = export->state;
    const struct probity_function *function = scope->function;
    char lost[32];
    size_t bytes;
    int is_new;
    uint32_t source;
    struct export_function *made = export_function_at(&state->functions, scope, &is_new);

    if (made == NULL || grow(export, (void **)&state->function_strings,
                             sizeof *state->function_strings, made->number,
                             &state->function_capacity) != 0) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return 0;
    }
    if (!is_new)
        return state->function_strings[made->number];
    const char *name = probity_export_function_name(function, scope->number, lost, &bytes);
    int has_source = function != NULL && *function->file != '\0' &&
                     source_of(export, function->file, &source);
    state->function_strings[made->number] =
        add_string(export, name, bytes, has_source ? &source : NULL,
                   has_source ? function->line : 0);
    return state->function_strings[made->number];
}

static uint32_t string_of_hit(struct probity_export *export, const struct probity_event *event)
{
    struct firefox *state = export->state;
    struct export_name *name = export_names_at(&state->hits, export_key_of_hit(event));
    char number[32];
    size_t bytes;

    if (name == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return 0;
    }
    if (name->bytes == 0) {
        const char *text = probity_export_hit_name(event, number, &bytes);
        name->bytes = add_string(export, text, bytes, NULL, 0) + 1;
    }
    return name->bytes - 1;
}

static uint32_t string_of_span(struct probity_export *export, const struct export_span *span)
{
    struct firefox *state = export->state;
    struct export_name *name = export_names_at(&state->blocks, export_span_key(span));
    char text[PROBITY_VALUE_TEXT_MAX];

    if (name == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return 0;
    }
    if (name->bytes == 0) {
        const char *end = export_span_name(text, text + sizeof text, span);
        name->bytes = add_string(export, text, (size_t)(end - text), NULL, 0) + 1;
    }
    return name->bytes - 1;
}

/* ---- Samples -----------------------------------------------------------------------------------
 */

/* Returns the stack of a frame called from `parent`. Both are numbers + 1; 0: none. */
static uint32_t stack_of(struct probity_export *export, uint32_t parent, uint32_t frame)
{
    struct firefox *state = export->state;
    uint64_t key = (uint64_t)parent << 32 | ((uint64_t)frame + 1);
    size_t known = state->stacks.table.items;

    if (known >= STACKS_MAX && export_names_find(&state->stacks, key) == NULL) {
        export->counts.shortened++;
        return parent;
    }
    const struct export_name *stack = export_names_at(&state->stacks, key);
    if (stack == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return 0;
    }
    if (state->stacks.table.items == known)
        return stack->number + 1;
    if (grow(export, (void **)&state->stack_parents, sizeof *state->stack_parents, stack->number,
             &state->parent_capacity) != 0 ||
        grow(export, (void **)&state->stack_frames, sizeof *state->stack_frames, stack->number,
             &state->frame_capacity) != 0)
        return 0;
    state->stack_parents[stack->number] = parent;
    state->stack_frames[stack->number] = frame;
    return stack->number + 1;
}

static struct firefox_thread *thread_of(struct probity_export *export,
                                        struct probity_export_thread *thread)
{
    if (thread->user == NULL)
        thread->user = calloc(1, sizeof(struct firefox_thread));
    if (thread->user == NULL)
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
    return thread->user;
}

static uint64_t since_start(const struct probity_export *export, uint64_t wall_ns)
{
    return wall_ns > export->start_ns ? wall_ns - export->start_ns : 0;
}

/* Begins a cell of a column; put_cell() ends it. */
static void put_cell(struct probity_export *export, struct firefox_thread *made,
                     enum firefox_column column)
{
    log_writer_pour(&export->out, &made->columns[column]);
}

static void end_sample(struct probity_export *export, struct firefox_thread *made, uint64_t end_ns)
{
    int is_first = made->samples++ == 0;

    put_separator(export, is_first);
    if (made->stack > 0)
        firefox_put_number(export, made->stack - 1);
    else
        firefox_put(export, "null");
    put_cell(export, made, FIREFOX_STACK);
    put_separator(export, is_first);
    firefox_put_ms(export, made->at_ns);
    put_cell(export, made, FIREFOX_TIME);
    put_separator(export, is_first);
    firefox_put_ms(export, end_ns - made->at_ns);
    put_cell(export, made, FIREFOX_WEIGHT);
    put_separator(export, is_first);
    firefox_put_number(export, made->cpu_delta_ns);
    put_cell(export, made, FIREFOX_CPU);
}

/* Call when the stack changes. */
static void begin_sample(struct probity_export *export, struct firefox_thread *made,
                         uint64_t wall_ns, uint64_t cpu_ns, uint32_t stack)
{
    uint64_t at_ns = since_start(export, wall_ns);
    uint64_t before_ns = made->has_sample ? made->cpu_ns : cpu_ns;

    if (made->has_sample) {
        at_ns = at_ns > made->at_ns ? at_ns : made->at_ns;
        end_sample(export, made, at_ns);
    }
    made->has_sample = 1;
    made->at_ns = at_ns;
    made->cpu_ns = cpu_ns > before_ns ? cpu_ns : before_ns;
    made->cpu_delta_ns = made->cpu_ns - before_ns;
    made->stack = stack;
}

/* ---- Markers -----------------------------------------------------------------------------------
 */

struct marker {
    uint32_t name; /* number of its string */
    enum firefox_category category;
    int phase;
    uint64_t start_ns, end_ns; /* CLOCK_REALTIME */
};

/* Writes all columns but the data, which the caller writes next. */
static void begin_marker(struct probity_export *export, struct firefox_thread *made,
                         const struct marker *marker)
{
    int is_first = made->markers++ == 0;

    put_separator(export, is_first);
    firefox_put_number(export, marker->name);
    put_cell(export, made, FIREFOX_NAME);
    put_separator(export, is_first);
    firefox_put_ms(export, since_start(export, marker->start_ns));
    put_cell(export, made, FIREFOX_START);
    put_separator(export, is_first);
    if (marker->phase == PHASE_INTERVAL)
        firefox_put_ms(export, since_start(export, marker->end_ns));
    else
        firefox_put(export, "null");
    put_cell(export, made, FIREFOX_END);
    put_separator(export, is_first);
    firefox_put_number(export, (uint64_t)marker->phase);
    put_cell(export, made, FIREFOX_PHASE);
    put_separator(export, is_first);
    firefox_put_number(export, marker->category);
    put_cell(export, made, FIREFOX_CATEGORY);
    firefox_put(export, is_first ? "\n{\"type\":\"" : ",\n{\"type\":\"");
}

static void end_marker(struct probity_export *export, struct firefox_thread *made)
{
    firefox_put(export, "}");
    put_cell(export, made, FIREFOX_DATA);
}

static void put_id(struct probity_export *export, const char *words, uint64_t id)
{
    firefox_put(export, words);
    firefox_put_number(export, id);
    firefox_put(export, "\"");
}

static void put_cpu(struct probity_export *export, uint64_t cpu_ns)
{
    firefox_put(export, ",\"cpu\":");
    firefox_put_number(export, cpu_ns);
}

/* ---- Calls -------------------------------------------------------------------------------------
 */

/* A scope's `user` is the stack of its caller. */
static void firefox_opened(struct probity_export *export, struct probity_export_thread *thread,
                           struct probity_scope *scope, const struct probity_event *event)
{
    struct firefox_thread *made = thread_of(export, thread);
    uint32_t name = string_of_function(export, scope);

    if (made == NULL || export->error != 0)
        return;
    made->has_calls = 1;
    made->is_cpu_known |= event->cpu_known;
    scope->user = (void *)(uintptr_t)made->stack;
    begin_sample(export, made, scope->enter_wall_ns, scope->enter_cpu_ns,
                 stack_of(export, made->stack, name));
}

static const char *end_text(enum probity_scope_end how)
{
    return how == PROBITY_SCOPE_UNWOUND  ? ",\"end\":\"unwound\""
           : how == PROBITY_SCOPE_OPEN   ? ",\"end\":\"open\""
           : how == PROBITY_SCOPE_RAISED ? ",\"end\":\"exception\""
                                         : "";
}

static void firefox_closed(struct probity_export *export, struct probity_export_thread *thread,
                           const struct probity_scope *scope, enum probity_scope_end how,
                           const struct probity_event *event)
{
    struct firefox_thread *made = thread->user;
    struct probity_scope_time leave = probity_export_leave(scope);

    (void)event;
    if (made == NULL || export->error != 0)
        return;
    begin_sample(export, made, leave.wall_ns, leave.cpu_ns, (uint32_t)(uintptr_t)scope->user);
    const struct marker marker = {string_of_function(export, scope), FIREFOX_FUNCTION,
                                  PHASE_INTERVAL, scope->enter_wall_ns, leave.wall_ns};
    begin_marker(export, made, &marker);
    firefox_put(export, "Call\"");
    if (made->is_cpu_known)
        put_cpu(export, scope->elapsed.cpu_ns);
    firefox_put(export, end_text(how));
    end_marker(export, made);
}

/* ---- Hits and their spans ----------------------------------------------------------------------
 */

static void put_hit(struct probity_export *export, struct firefox_thread *made,
                    const struct probity_event *event)
{
    const struct marker marker = {string_of_hit(export, event), FIREFOX_PROBE, PHASE_INSTANT,
                                  event->wall_ns, event->wall_ns};

    begin_marker(export, made, &marker);
    firefox_put(export, "Hit\"");
    if (event->role != 0) {
        firefox_put(export, ",\"role\":\"");
        firefox_put(export, probity_role_name(event->role));
        firefox_put(export, "\"");
    }
    if (event->has_correlation)
        put_id(export, ",\"correlation\":\"", event->correlation);
    if (event->has_object)
        put_id(export, ",\"object\":\"", event->object);
    if (event->has_place)
        put_id(export, ",\"place\":\"", event->place);
    end_marker(export, made);
}

static void firefox_state(struct probity_export *export, struct probity_export_thread *thread,
                          const struct probity_export_state *state)
{
    struct firefox *own = export->state;
    struct firefox_thread *made = thread_of(export, thread);
    const char *text = probity_export_state_name(state->state);
    uint32_t *string = &own->state_strings[state->state];

    if (made == NULL || export->error != 0)
        return;
    if (*string == 0)
        *string = add_string(export, text, strlen(text), NULL, 0) + 1;
    const struct marker marker = {*string - 1, FIREFOX_STATE, PHASE_INTERVAL, state->from_ns,
                                  state->from_ns + state->ns};
    begin_marker(export, made, &marker);
    firefox_put(export, "State\"");
    if (state->state == PROBITY_STATE_RUNNING) {
        firefox_put(export, ",\"running\":");
        firefox_put_number(export, state->cpu);
    } else if (state->state == PROBITY_STATE_RUNNABLE && state->waker != 0) {
        firefox_put(export, ",\"waker\":");
        firefox_put_number(export, state->waker);
    }
    end_marker(export, made);
}

static void put_span(struct probity_export *export, const struct export_span *span)
{
    static const struct {
        const char *type;
        enum firefox_category category;
    } kinds[EXPORT_SPAN_KINDS] = {[EXPORT_BLOCK] = {"Block\"", FIREFOX_BLOCK},
                                  [EXPORT_STAGE] = {"Stage\"", FIREFOX_REQUEST},
                                  [EXPORT_REQUEST] = {"Request\"", FIREFOX_REQUEST},
                                  [EXPORT_LOCK_WAIT] = {"LockWait\"", FIREFOX_LOCK},
                                  [EXPORT_LOCK_HOLD] = {"LockHold\"", FIREFOX_LOCK}};
    struct firefox_thread *made = thread_of(export, span->thread);
    uint32_t name = string_of_span(export, span);
    int is_lock = span->kind == EXPORT_LOCK_WAIT || span->kind == EXPORT_LOCK_HOLD;

    if (made == NULL || export->error != 0)
        return;
    if (span->kind == EXPORT_BLOCK && !made->has_calls) {
        begin_sample(export, made, span->start_ns, made->block_cpu_ns, stack_of(export, 0, name));
        made->block_end_ns = span->end_ns;
        made->block_cpu_ns += span->is_cpu_known ? span->cpu_ns : 0;
    }
    const struct marker marker = {name, kinds[span->kind].category, PHASE_INTERVAL, span->start_ns,
                                  span->end_ns};
    begin_marker(export, made, &marker);
    firefox_put(export, kinds[span->kind].type);
    if (span->is_cpu_known)
        put_cpu(export, span->cpu_ns);
    if (is_lock)
        put_id(export, ",\"object\":\"", span->object);
    else if (span->kind != EXPORT_BLOCK)
        put_id(export, ",\"correlation\":\"", span->correlation);
    firefox_put(export, span->is_open ? ",\"end\":\"open\"" : "");
    end_marker(export, made);
    log_writer_make_room(&export->out, &((struct firefox *)export->state)->file);
}

/* Does nothing, since markers are written at their end; without it, only blocks would have
 * markers. */
static void begin_span(struct probity_export *export, const struct export_span *span)
{
    (void)export;
    (void)span;
}

/* Returns the name of a queue, with its object, as malloc'ed JSON. */
static char *counter_name(const struct export_length *length)
{
    char name[PROBITY_VALUE_TEXT_MAX + NAME_ROOM], json[2 * sizeof name];
    char *at = export_length_name(name, name + sizeof name - NAME_ROOM, length);

    at += snprintf(at, NAME_ROOM, " %#" PRIx64, length->object);
    char *end = export_json_text(json, json + sizeof json, name, (size_t)(at - name));
    return strndup(json, (size_t)(end - json));
}

/* Adds a change to a counter; the first is from 0. */
static void put_length(struct probity_export *export, const struct export_length *length)
{
    struct firefox *state = export->state;

    if (grow(export, (void **)&state->counters, sizeof *state->counters, length->number,
             &state->counter_capacity) != 0)
        return;
    struct firefox_counter *counter = &state->counters[length->number];
    if (counter->name == NULL) {
        counter->name = counter_name(length);
        counter->trace = length->trace;
        if (length->number >= state->counter_count)
            state->counter_count = length->number + 1;
    }
    if (counter->name == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return;
    }
    int is_first = counter->rows++ == 0;
    put_separator(export, is_first);
    firefox_put_ms(export, since_start(export, length->wall_ns));
    log_writer_pour(&export->out, &counter->time);
    put_separator(export, is_first);
    firefox_put(export, length->length < counter->last ? "-" : "");
    firefox_put_number(export, length->length < counter->last ? counter->last - length->length
                                                              : length->length - counter->last);
    log_writer_pour(&export->out, &counter->count);
    counter->last = length->length;
}

/* Discards a cached name: hits after the renaming have the new one. */
static void forget_probe(struct firefox *state, const struct probity_event *event)
{
    if (event->payload_bytes < 4 || state->hits.table.items == 0)
        return;
    const struct probity_event probe = {.trace = event->trace,
                                        .id = probity_get_u32(event->payload)};
    struct export_name *name = export_names_at(&state->hits, export_key_of_hit(&probe));
    if (name != NULL)
        name->bytes = 0;
}

static void firefox_event(struct probity_export *export, struct probity_export_thread *thread,
                          const struct probity_event *event)
{
    struct firefox *state = export->state;

    if (event->kind == PROBITY_EVENT_PROBE_NAME)
        forget_probe(state, event);
    if (event->kind == PROBITY_EVENT_SITES_SWITCHED)
        export_spans_put(export, &state->spans, thread, event);
    if (event->kind != PROBITY_EVENT_HIT)
        return;
    struct firefox_thread *made = thread_of(export, thread);
    if (made != NULL)
        put_hit(export, made, event);
    export_spans_put(export, &state->spans, thread, event);
}

/* ---- Start and end -----------------------------------------------------------------------------
 */

static int firefox_begin(struct probity_export *export)
{
    static const struct export_spans_listener listener = {
        .span = put_span, .began = begin_span, .length = put_length};
    struct firefox *state = export->state;

    state->functions.item_bytes = sizeof(struct export_function);
    export_spans_open(&state->spans, &listener);
    return 0;
}

static int firefox_end(struct probity_export *export)
{
    struct firefox *state = export->state;

    export_spans_finish(export, &state->spans);
    for (uint32_t slot = 0; slot < export->thread_count; slot++) {
        struct firefox_thread *made =
            export->threads[slot] != NULL ? export->threads[slot]->user : NULL;
        if (made == NULL || !made->has_sample)
            continue;
        if (!made->has_calls)
            begin_sample(export, made, made->block_end_ns, made->block_cpu_ns, 0);
        end_sample(export, made, made->at_ns);
    }
    if (export->error == 0)
        firefox_put_file(export);
    return 0;
}

static void firefox_release(struct probity_export *export)
{
    struct firefox *state = export->state;
    struct log_queue *const queues[] = {&state->strings, &state->lines, &state->sources,
                                        &state->source_files, &state->file};

    for (uint32_t slot = 0; slot < export->thread_count; slot++) {
        struct firefox_thread *made =
            export->threads[slot] != NULL ? export->threads[slot]->user : NULL;
        for (int i = 0; made != NULL && i < FIREFOX_COLUMNS; i++)
            log_queue_release(&made->columns[i]);
    }
    for (uint32_t i = 0; i < state->counter_count; i++) {
        log_queue_release(&state->counters[i].time);
        log_queue_release(&state->counters[i].count);
        free(state->counters[i].name);
    }
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++)
        log_queue_release(queues[i]);
    export_spans_release(&state->spans);
    export_names_release(&state->hits);
    export_names_release(&state->blocks);
    export_names_release(&state->files);
    export_names_release(&state->stacks);
    probity_same_functions_release(&state->functions);
    free(state->function_strings);
    free(state->stack_parents);
    free(state->stack_frames);
    free(state->counters);
}

const struct probity_exporter probity_exporter_firefox = {
    .name = "firefox",
    .target = PROBITY_EXPORT_STREAM,
    .has_gzip = 1,
    .carries = PROBITY_EXPORT_SCOPES | PROBITY_EXPORT_HITS,
    .has_chains = 1,
    .state_bytes = sizeof(struct firefox),
    .begin = firefox_begin,
    .opened = firefox_opened,
    .closed = firefox_closed,
    .event = firefox_event,
    .state = firefox_state,
    .end = firefox_end,
    .release = firefox_release};
