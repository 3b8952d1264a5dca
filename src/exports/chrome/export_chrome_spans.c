/* SPDX-License-Identifier: MIT
 *
 * export_chrome_spans.c: blocks, requests with their stages, locks and queues as Chrome trace
 * events. Slices of a thread must nest, but a block may begin outside a scope and end inside it, so
 * the blocks of a thread are complete events (X) in a separate row, with a thread id beyond the
 * range of Linux. Requests, stages and locks are nestable asynchronous events (b, e), with the
 * number of their lane as id; queues are counters (C).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exports/chrome/export_chrome_parts.h"
#include "print/values.h"

static const struct export_name *name_of(struct probity_export *export,
                                         const struct export_span *span)
{
    struct chrome *state = export->state;
    struct export_name *name = export_names_at(&state->names, export_span_key(span));
    char text[PROBITY_VALUE_TEXT_MAX];

    if (__builtin_expect(name != NULL && name->text == NULL, 0)) {
        const char *end = export_span_name(text, text + sizeof text, span);
        chrome_make_name(name, export_span_category(span->kind), text, (size_t)(end - text));
    }
    return name;
}

/* ---- Blocks ------------------------------------------------------------------------------------
 */

static void put_row_name(struct probity_export *export, const struct probity_export_thread *thread,
                         const char *what, uint64_t tid)
{
    const struct chrome_thread *made = thread->user;
    char name[2 * PROBITY_EVENT_BYTES_MAX];

    int bytes = thread->name != NULL
                    ? snprintf(name, sizeof name, "%s of %s", what, thread->name)
                    : snprintf(name, sizeof name, "%s of %" PRIu32, what, thread->tid);
    chrome_put(export, ",\n{\"ph\":\"M\",\"pid\":");
    chrome_put_number(export, made->pid);
    chrome_put(export, ",\"tid\":");
    chrome_put_number(export, tid);
    chrome_put(export, ",\"name\":\"thread_name\",\"args\":{\"name\":");
    chrome_put_text(export, name, (size_t)bytes);
    chrome_put(export, "}}");
    log_writer_make_room(&export->out, NULL);
}

void chrome_put_rows_names(struct probity_export *export,
                           const struct probity_export_thread *thread)
{
    const struct chrome_thread *made = thread->user;

    if (made != NULL && made->has_blocks)
        put_row_name(export, thread, "blocks", (uint64_t)CHROME_PIDS + thread->tid);
    if (made != NULL && made->has_states)
        put_row_name(export, thread, "states", 2 * (uint64_t)CHROME_PIDS + thread->tid);
}

/* Writes ',{"ph":"X","pid":1,"tid":1,"ts":0.000,"dur":0.000'. */
static void put_row_head(struct probity_export *export, const struct chrome_thread *made,
                         uint64_t tid, uint64_t from_ns, uint64_t ns)
{
    chrome_put(export, ",\n{\"ph\":\"X\",\"pid\":");
    chrome_put_number(export, made->pid);
    chrome_put(export, ",\"tid\":");
    chrome_put_number(export, tid);
    chrome_put(export, ",\"ts\":");
    chrome_put_ts(export, from_ns);
    chrome_put(export, ",\"dur\":");
    export->out.at = export_put_us(export->out.at, ns);
}

void chrome_put_state(struct probity_export *export, struct probity_export_thread *thread,
                      const struct probity_export_state *state)
{
    struct chrome_thread *made = chrome_thread_of(export, thread);

    if (made == NULL)
        return;
    if (!made->has_states) {
        made->has_states = 1;
        put_row_name(export, thread, "states", 2 * (uint64_t)CHROME_PIDS + thread->tid);
    }
    put_row_head(export, made, 2 * (uint64_t)CHROME_PIDS + thread->tid, state->from_ns, state->ns);
    chrome_put(export, ",\"cat\":\"state\",\"name\":\"");
    chrome_put(export, probity_export_state_name(state->state));
    if (state->state == PROBITY_STATE_RUNNING) {
        chrome_put(export, "\",\"args\":{\"cpu\":");
        chrome_put_number(export, state->cpu);
        chrome_put(export, "}}");
    } else if (state->state == PROBITY_STATE_RUNNABLE && state->waker != 0) {
        chrome_put(export, "\",\"args\":{\"woken by\":");
        chrome_put_number(export, state->waker);
        chrome_put(export, "}}");
    } else {
        chrome_put(export, "\"}");
    }
}

static void put_block(struct probity_export *export, const struct export_span *span)
{
    struct chrome_thread *made = chrome_thread_of(export, span->thread);

    if (made == NULL)
        return;
    if (!made->has_blocks) {
        made->has_blocks = 1;
        put_row_name(export, span->thread, "blocks", (uint64_t)CHROME_PIDS + span->thread->tid);
    }
    put_row_head(export, made, (uint64_t)CHROME_PIDS + span->thread->tid, span->start_ns,
                 span->end_ns - span->start_ns);
    if (span->is_cpu_known) {
        chrome_put(export, ",\"tdur\":");
        export->out.at = export_put_us(export->out.at, span->cpu_ns);
    }
    chrome_put_name(export, name_of(export, span));
    chrome_put(export, "}");
}

/* ---- Requests, stages, locks -------------------------------------------------------------------
 */

/* Writes
 * ',{"ph":"b","pid":1,"tid":1,"id2":{"local":"0x1"},"ts":0.000,"cat":"request","name":"..."'. */
static void put_head(struct probity_export *export, const struct export_span *span,
                     const char *head, uint64_t wall_ns)
{
    struct chrome_thread *made = chrome_thread_of(export, span->thread);

    if (made == NULL)
        return;
    chrome_put(export, head);
    chrome_put_number(export, made->pid);
    chrome_put(export, ",\"tid\":");
    chrome_put_number(export, span->thread->tid);
    chrome_put(export, ",\"id2\":{\"local\":\"");
    chrome_put_number(export, span->lane);
    chrome_put(export, "\"},\"ts\":");
    chrome_put_ts(export, wall_ns);
    chrome_put_name(export, name_of(export, span));
}

static void put_begin(struct probity_export *export, const struct export_span *span)
{
    int is_lock = span->kind == EXPORT_LOCK_WAIT || span->kind == EXPORT_LOCK_HOLD;

    put_head(export, span, ",\n{\"ph\":\"b\",\"pid\":", span->start_ns);
    chrome_put_id(export, is_lock ? ",\"args\":{\"object\":\"" : ",\"args\":{\"correlation\":\"",
                  is_lock ? span->object : span->correlation);
    chrome_put(export, ",\"tid\":");
    chrome_put_number(export, span->thread->tid);
    if (span->is_cpu_known) {
        chrome_put(export, ",\"cpu_ns\":");
        chrome_put_number(export, span->cpu_ns);
    }
    chrome_put(export, "}}");
    log_writer_make_room(&export->out, NULL);
}

static void put_span(struct probity_export *export, const struct export_span *span)
{
    if (span->kind == EXPORT_BLOCK) {
        put_block(export, span);
        return;
    }
    if (span->kind != EXPORT_REQUEST)
        put_begin(export, span);
    put_head(export, span, ",\n{\"ph\":\"e\",\"pid\":", span->end_ns);
    chrome_put(export, span->is_open ? ",\"args\":{\"end\":\"open\"}}" : "}");
}

/* ---- Queues ------------------------------------------------------------------------------------
 */

static void put_length(struct probity_export *export, const struct export_length *length)
{
    char name[PROBITY_VALUE_TEXT_MAX + 32], *at = name + sizeof name - 32;

    memcpy(name, "queue ", 6);
    at = export_length_name(name + 6, at, length);
    at += snprintf(at, 32, " %#" PRIx64, length->object);
    chrome_put(export, ",\n{\"ph\":\"C\",\"pid\":");
    chrome_put_number(export, chrome_pid(export, length->trace));
    chrome_put(export, ",\"ts\":");
    chrome_put_ts(export, length->wall_ns);
    chrome_put(export, ",\"cat\":\"queue\",\"name\":");
    chrome_put_text(export, name, (size_t)(at - name));
    chrome_put(export, ",\"args\":{\"length\":");
    chrome_put_number(export, length->length);
    chrome_put(export, "}}");
}

const struct export_spans_listener chrome_spans_listener = {
    .span = put_span, .began = put_begin, .length = put_length};
