/* SPDX-License-Identifier: MIT
 *
 * export.c: the part that all formats share: turns events into scopes, threads and counts, and
 * drops those outside the range.
 */
#include "exports/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "exports/export_gzip.h"
#include "exports/export_states.h"
#include "print/text.h"
#include "probity.h"

struct probity_export_run {
    struct probity_export export;
    const struct probity_exporter *exporter;
    struct probity_scopes *scopes; /* NULL: scopes are neither tracked nor counted */
    int makes_scopes, is_range;
    struct export_states states;
    uint64_t from_ns, to_ns;
};

void probity_export_fail(struct probity_export *export, int error)
{
    if (export->error != 0)
        return;
    export->error = error;
    export->error_number = errno;
}

void probity_export_write(struct probity_export *export, const char *bytes, size_t count)
{
    while (count > 0) {
        size_t part = count < LOG_LINE_BYTES_MAX ? count : LOG_LINE_BYTES_MAX;
        log_writer_make_room(&export->out, NULL);
        memcpy(export->out.at, bytes, part);
        export->out.at += part;
        bytes += part;
        count -= part;
    }
    log_writer_make_room(&export->out, NULL);
}

void probity_export_request_end(struct probity_export *export)
{
    if (export->requested == NULL)
        return;
    log_writer_flush(&export->out);
    int error = export->error == 0 && export->out.error == 0 ? export->requested(export->context)
                                                             : 0;
    if (error != 0)
        probity_export_fail(export, error);
}

FILE *probity_export_stream_open(struct probity_export *export)
{
    static const cookie_io_functions_t compressed = {.write = export_gzip_write};

    if (export->gzip != NULL)
        return fopencookie(export->gzip, "w", compressed);
    int copy = dup(export->out.descriptor);
    FILE *stream = copy >= 0 ? fdopen(copy, "w") : NULL;
    if (stream == NULL && copy >= 0)
        close(copy);
    return stream;
}

int probity_export_stream_close(FILE *stream)
{
    int has_failed = ferror(stream), error_number = errno;

    if (fclose(stream) == 0 && !has_failed)
        return 0;
    if (has_failed)
        errno = error_number;
    return PROBITY_ERROR_WRITE;
}

int probity_export_lack(const struct probity_export *export, size_t trace,
                        char ret_text[PROBITY_EXPORT_LACK_BYTES])
{
    const struct probity_trace_facts *facts = probity_reader_facts(export->reader, trace);
    uint64_t dropped = probity_totals_dropped(&facts->totals);
    char why[256];

    if (probity_trace_is_complete(facts, why, sizeof why))
        return 0;
    int bytes = snprintf(ret_text, PROBITY_EXPORT_LACK_BYTES, "'%s' is incomplete: %s",
                         facts->path, why);
    /* `why` may name only one defect; dropped records are always reported. */
    if (dropped > 0 && strstr(why, " records dropped: ") == NULL &&
        bytes < PROBITY_EXPORT_LACK_BYTES)
        snprintf(ret_text + bytes, (size_t)(PROBITY_EXPORT_LACK_BYTES - bytes),
                 "; %" PRIu64 " records dropped", dropped);
    return 1;
}

size_t probity_export_lacks(const struct probity_export *export,
                            char ret_text[PROBITY_EXPORT_LACKS_BYTES])
{
    static const char between[] = "; ";
    size_t used = 0;

    for (size_t i = 0; i < probity_reader_traces(export->reader); i++) {
        size_t at = used > 0 ? used + sizeof between - 1 : 0;
        if (PROBITY_EXPORT_LACKS_BYTES - used < PROBITY_EXPORT_LACK_BYTES + sizeof between ||
            !probity_export_lack(export, i, ret_text + at))
            continue;
        memcpy(ret_text + used, between, at - used);
        used = at + strlen(ret_text + at);
    }
    return used;
}

const char *probity_export_function_name(const struct probity_function *function, uint32_t number,
                                         char ret_text[32], size_t *ret_bytes)
{
    if (function != NULL)
        return probity_text_qualified(function->signature, function->name, ret_bytes);
    *ret_bytes = (size_t)snprintf(ret_text, 32, "site-%" PRIu32, number);
    return ret_text;
}

const char *probity_export_hit_name(const struct probity_event *event, char ret_text[32],
                                    size_t *ret_bytes)
{
    *ret_bytes = event->name_bytes;
    if (event->name != NULL)
        return event->name;
    *ret_bytes = (size_t)snprintf(ret_text, 32, "%s%" PRIu32, event->is_site ? "site-" : "",
                                  event->id);
    return ret_text;
}

/* ---- Threads -----------------------------------------------------------------------------------
 */

static struct probity_export_thread *add_thread(struct probity_export *export,
                                                const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;

    if (slot >= export->thread_count) {
        void *grown = probity_array_grow(export->threads, sizeof *export->threads, slot,
                                         &export->thread_count);
        if (grown == NULL)
            return NULL;
        export->threads = grown;
    }
    struct probity_export_thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL)
        return NULL;
    *thread = (struct probity_export_thread){slot, event->trace, event->thread, event->tid,
                                             event->pid, NULL, NULL};
    export->threads[slot] = thread;
    return thread;
}

static inline struct probity_export_thread *thread_of(struct probity_export *export,
                                                      const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;

    if (__builtin_expect(slot < export->thread_count && export->threads[slot] != NULL, 1))
        return export->threads[slot];
    return add_thread(export, event);
}

static void free_thread(struct probity_export_thread *thread)
{
    if (thread == NULL)
        return;
    free(thread->name);
    free(thread->user);
    free(thread);
}

static int is_named_so(const struct probity_export_thread *thread,
                       const struct probity_event *event)
{
    return thread->name != NULL && strlen(thread->name) == event->payload_bytes &&
           memcmp(thread->name, event->payload, event->payload_bytes) == 0;
}

static int set_name(struct probity_export_thread *thread, const struct probity_event *event)
{
    char *name = strndup((const char *)event->payload, event->payload_bytes);

    if (name == NULL)
        return PROBITY_ERROR_MEMORY;
    free(thread->name);
    thread->name = name;
    return 0;
}

/* ---- Scopes ------------------------------------------------------------------------------------
 */

static inline int is_in_range(const struct probity_export_run *run, uint64_t wall_ns)
{
    return wall_ns >= run->from_ns && wall_ns < run->to_ns;
}

static void on_opened(void *context, struct probity_scope *scope, const struct probity_event *event)
{
    struct probity_export_run *run = context;

    if (!is_in_range(run, scope->enter_wall_ns))
        return;
    run->export.counts.scopes++;
    log_writer_make_room(&run->export.out, NULL);
    run->exporter->opened(&run->export, run->export.threads[event->thread_slot], scope, event);
}

static void on_closed(void *context, const struct probity_scope *scope, enum probity_scope_end how,
                      uint32_t thread_slot, const struct probity_event *event)
{
    struct probity_export_run *run = context;

    if (!is_in_range(run, scope->enter_wall_ns))
        return;
    log_writer_make_room(&run->export.out, NULL);
    run->exporter->closed(&run->export, run->export.threads[thread_slot], scope, how, event);
}

/* ---- Events ------------------------------------------------------------------------------------
 */

/* Counts an event. If the exporter does not use scopes, they are counted by their enters. */
static inline void count(struct probity_export_run *run, const struct probity_event *event)
{
    struct probity_export_counts *counts = &run->export.counts;

    switch (event->kind) {
    case PROBITY_EVENT_HIT: counts->hits++; break;
    case PROBITY_EVENT_ENTER: counts->scopes += !run->makes_scopes; break;
    case PROBITY_EVENT_MESSAGE:
    case PROBITY_EVENT_PARAMETERS:
    case PROBITY_EVENT_CHECKPOINT: counts->events++; break;
    default: break;
    }
}

/* Whether an event is passed on regardless of the range: declarations apply at any time. */
static int is_declaration(const struct probity_event *event)
{
    switch (event->kind) {
    case PROBITY_EVENT_THREAD_NAME:
    case PROBITY_EVENT_PROBE_NAME:
    case PROBITY_EVENT_SITE:
    case PROBITY_EVENT_FUNCTION:
    case PROBITY_EVENT_FORMAT: return 1;
    default: return 0;
    }
}

/* Returns the error of the exporter or of its output. */
static int error_of(struct probity_export_run *run)
{
    struct probity_export *export = &run->export;

    if (__builtin_expect(export->error == 0 && export->out.error == 0, 1))
        return 0;
    if (export->error == 0) {
        export->error = export->out.error;
        export->error_number = export->out.error_number;
    }
    errno = export->error_number;
    return export->error;
}

/* Takes a state that begins in the range. A thread may have run before the trace began, which is
 * the origin of time for viewers: that part is omitted. */
static void take_state(struct probity_export_run *run, struct probity_export_thread *thread,
                       struct probity_export_state *state)
{
    uint64_t start_ns = run->export.start_ns, before_ns;

    before_ns = state->from_ns < start_ns ? start_ns - state->from_ns : 0;
    if (!is_in_range(run, state->from_ns) || before_ns >= state->ns)
        return;
    state->from_ns += before_ns;
    state->ns -= before_ns;
    run->export.counts.states++;
    if (run->exporter->state == NULL)
        return;
    log_writer_make_room(&run->export.out, NULL);
    run->exporter->state(&run->export, thread, state);
}

static int put_state(struct probity_export_run *run, struct probity_export_thread *thread,
                     const struct probity_event *event)
{
    struct probity_export_state state;
    int got = export_states_put(&run->states, event, &state);

    if (got > 0)
        take_state(run, thread, &state);
    return got < 0 ? got : error_of(run);
}

static void finish_states(struct probity_export_run *run)
{
    struct probity_export_state state;

    for (uint32_t slot = 0; slot < run->export.thread_count; slot++) {
        if (run->export.threads[slot] != NULL &&
            export_states_last(&run->states, slot, &state))
            take_state(run, run->export.threads[slot], &state);
    }
}

int probity_export_put(struct probity_export_run *run, const struct probity_event *event)
{
    static const struct probity_scopes_listener none = {NULL, NULL, NULL};
    const struct probity_scopes_listener listener = {on_opened, on_closed, run};
    struct probity_export_thread *thread = thread_of(&run->export, event);
    int is_inside = is_in_range(run, event->wall_ns);
    struct probity_event untimed;

    /* Events that are recorded without reading the CPU clock may have a later CPU time than the
     * next event. */
    if (__builtin_expect(!probity_event_is_record(event->kind), 0)) {
        untimed = *event;
        untimed.cpu_known = 0;
        event = &untimed;
    }
    if (__builtin_expect(thread == NULL, 0))
        return PROBITY_ERROR_MEMORY;
    if (event->wall_ns > run->states.latest_ns)
        run->states.latest_ns = event->wall_ns;
    if (event->kind == PROBITY_EVENT_THREAD_STATE)
        return put_state(run, thread, event);
    if (__builtin_expect(event->kind == PROBITY_EVENT_THREAD_NAME, 0)) {
        if (is_named_so(thread, event)) /* may be a repetition from a reader that skips the rest */
            return 0;
        if (set_name(thread, event) != 0)
            return PROBITY_ERROR_MEMORY;
    }
    if (is_inside)
        count(run, event);
    if (run->scopes != NULL &&
        probity_scopes_put(run->scopes, event, run->makes_scopes ? &listener : &none) != 0)
        return PROBITY_ERROR_MEMORY;
    if (run->exporter->event != NULL &&
        (is_inside || run->exporter->has_all || is_declaration(event))) {
        log_writer_make_room(&run->export.out, NULL);
        run->exporter->event(&run->export, thread, event);
    }
    return error_of(run);
}

uint64_t probity_export_pending(const struct probity_export_run *run)
{
    return run->scopes != NULL ? probity_scopes_pending(run->scopes) : 0;
}

int probity_export_put_profiled(struct probity_export_run *run,
                                const struct probity_profiled *profiled)
{
    if (run->exporter->profiled == NULL) {
        run->export.counts.left_out[3] += profiled->calls;
        return 0;
    }
    log_writer_make_room(&run->export.out, NULL);
    run->exporter->profiled(&run->export, profiled);
    return error_of(run);
}

static void count_left_out(struct probity_export_run *run)
{
    struct probity_export_counts *counts = &run->export.counts;
    unsigned carries = run->exporter->carries;

    if (!(carries & PROBITY_EXPORT_SCOPES) || run->export.is_of_blocks)
        counts->left_out[0] = counts->scopes;
    if (!(carries & PROBITY_EXPORT_HITS) && !run->export.is_of_blocks)
        counts->left_out[1] = counts->hits;
    if (!(carries & PROBITY_EXPORT_VALUES))
        counts->left_out[2] = counts->events;
    if (run->exporter->state == NULL)
        counts->left_out[4] = counts->states;
}

int probity_export_finish(struct probity_export_run *run)
{
    const struct probity_scopes_listener listener = {on_opened, on_closed, run};
    struct probity_export *export = &run->export;

    if (run->makes_scopes)
        probity_scopes_finish(run->scopes, &listener);
    finish_states(run);
    if (export->error == 0 && run->exporter->end != NULL) {
        log_writer_make_room(&export->out, NULL);
        int error = run->exporter->end(export);
        if (error != 0)
            probity_export_fail(export, error);
    }
    if (run->exporter->target == PROBITY_EXPORT_STREAM)
        log_writer_flush(&export->out);
    if (export->gzip != NULL && error_of(run) == 0 && export_gzip_finish(export->gzip) != 0)
        probity_export_fail(export, PROBITY_ERROR_WRITE);
    count_left_out(run);
    return error_of(run);
}

const struct probity_export *probity_export_look(const struct probity_export_run *run)
{
    return &run->export;
}

/* ---- Opening -----------------------------------------------------------------------------------
 */

/* Returns the origin of time. Viewers drop earlier events, so it is the earliest time that the
 * clock showed, even if it was set back. */
static uint64_t start_of(const struct probity_reader *reader)
{
    uint64_t start_ns = UINT64_MAX;

    for (size_t i = 0; i < probity_reader_traces(reader); i++) {
        const struct probity_trace_facts *facts = probity_reader_facts(reader, i);
        uint64_t trace_ns = facts->info.anchor.realtime_ns;
        if (facts->least_wall_ns > 0 && facts->least_wall_ns < trace_ns)
            trace_ns = facts->least_wall_ns;
        start_ns = trace_ns < start_ns ? trace_ns : start_ns;
    }
    return start_ns;
}

static int begin(struct probity_export_run *run, const struct probity_export_call *call)
{
    struct probity_export *export = &run->export;
    const struct probity_exporter *exporter = call->exporter;

    if (exporter->state_bytes > 0 && (export->state = calloc(1, exporter->state_bytes)) == NULL)
        return PROBITY_ERROR_MEMORY;
    run->makes_scopes = exporter->opened != NULL || exporter->closed != NULL;
    /* With a range, scopes also determine when all calls that began in it have ended. */
    if (run->makes_scopes || run->is_range) {
        if (probity_scopes_open(&run->scopes) != 0)
            return PROBITY_ERROR_MEMORY;
        if (run->is_range)
            probity_scopes_set_range(run->scopes, run->from_ns, run->to_ns);
    }
    if (run->makes_scopes)
        export->repairs = probity_scopes_repairs(run->scopes);
    int error = log_writer_init(&export->out, call->descriptor, 0, exporter->has_chains);
    if (error == 0 && call->options->is_gzip) {
        export->gzip = export_gzip_open(call->descriptor);
        error = export->gzip != NULL ? 0 : PROBITY_ERROR_MEMORY;
        export->out.put = export_gzip_write;
        export->out.put_context = export->gzip;
    }
    if (error == 0 && exporter->begin != NULL)
        error = exporter->begin(export);
    return error;
}

int probity_export_open(const struct probity_export_call *call,
                        struct probity_export_run **ret_run)
{
    struct probity_export_run *run = calloc(1, sizeof *run);

    if (run == NULL)
        return PROBITY_ERROR_MEMORY;
    run->exporter = call->exporter;
    run->export.reader = call->reader;
    run->export.options = call->options;
    run->export.path = call->path;
    run->export.requested = call->requested;
    run->export.context = call->context;
    run->export.start_ns = start_of(call->reader);
    run->from_ns = call->options->from_ns;
    run->to_ns = call->options->to_ns > 0 ? call->options->to_ns : UINT64_MAX;
    run->is_range = call->options->from_ns > 0 || call->options->to_ns > 0;
    int error = begin(run, call), error_number = errno;
    if (error != 0) {
        probity_export_close(run);
        errno = error_number;
        return error;
    }
    *ret_run = run;
    return 0;
}

void probity_export_close(struct probity_export_run *run)
{
    if (run->exporter->release != NULL && run->export.state != NULL)
        run->exporter->release(&run->export);
    for (uint32_t slot = 0; slot < run->export.thread_count; slot++)
        free_thread(run->export.threads[slot]);
    free(run->export.threads);
    export_states_release(&run->states);
    if (run->scopes != NULL)
        probity_scopes_close(run->scopes);
    if (run->export.out.buffer != NULL)
        log_writer_release(&run->export.out);
    if (run->export.gzip != NULL)
        export_gzip_close(run->export.gzip);
    free(run->export.state);
    free(run);
}
