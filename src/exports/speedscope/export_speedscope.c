/* SPDX-License-Identifier: MIT
 *
 * export_speedscope.c: an evented profile for each thread. A profile is contiguous in the file, but
 * the events of threads are interleaved: each thread has a chain in a temporary file
 * (log/log_write.h), and so have the frames. At the end the chains are written one after another.
 * Fields known only at the end follow the events of a profile.
 *
 * A deferred scope begins after lines of its callees have been written, and the lines of a profile
 * must be in order: the latest lines of each thread are held back, so that a line can be inserted
 * before them.
 *
 * Blocks between probes also have chains, which are discarded when the first call begins.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exports/export.h"
#include "exports/export_json.h"
#include "exports/export_names.h"
#include "exports/export_recent.h"
#include "exports/export_spans.h"
#include "print/values.h"
#include "probity.h"

enum { LINE_ROOM = 64, LINE_BYTES_MAX = 128, HELD_BYTES_MAX = 64 << 10 };

struct speedscope {
    struct probity_same_functions functions;
    struct log_queue frames;
    int is_of_calls; /* there are calls, and blocks were not requested */
    struct export_spans spans;
    struct export_names blocks; /* keys are those of spans, numbers those of their frames */
    struct log_queue block_frames;
};

/* For a call, `place` is the offset of its first line in the output of its thread. */
struct speedscope_thread {
    struct export_recent recent; /* must be first */
    struct log_queue queue;
    uint64_t first, last; /* never decrease */
    uint64_t first_place; /* place of the first line, which has no comma before it */
    int has_calls, has_blocks;
    struct log_queue blocks;
    uint64_t blocks_first, blocks_last;
};

static const char *limit_of(const struct probity_export *export)
{
    return export->out.end + LOG_LINE_BYTES_MAX - LINE_ROOM;
}

static inline void put(struct probity_export *export, const char *words)
{
    export->out.at = export_put(export->out.at, words);
}

static inline void put_number(struct probity_export *export, uint64_t number)
{
    export->out.at = probity_digits_put(export->out.at, number);
}

static void put_text(struct probity_export *export, const char *text, size_t bytes)
{
    export->out.at = export_json_text(export->out.at, limit_of(export), text, bytes);
}

/* ---- Frames and threads ------------------------------------------------------------------------
 */

static void put_frame(struct probity_export *export, const struct export_function *function)
{
    const struct probity_function_key *key = &function->same.key;
    struct speedscope *state = export->state;
    char lost[32];
    size_t bytes;
    const char *name = probity_export_function_name(key->function, key->number, lost, &bytes);

    put(export, function->number > 0 ? ",\n{\"name\":" : "\n{\"name\":");
    put_text(export, name, bytes);
    if (key->function != NULL) {
        put(export, ",\"file\":");
        put_text(export, key->function->file, strlen(key->function->file));
        put(export, ",\"line\":");
        put_number(export, key->function->line);
    }
    put(export, "}");
    log_writer_pour(&export->out, &state->frames);
}

static struct speedscope_thread *thread_of(struct probity_export *export,
                                           struct probity_export_thread *thread)
{
    if (thread->user == NULL)
        thread->user = calloc(1, sizeof(struct speedscope_thread));
    if (thread->user == NULL)
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
    return thread->user;
}

static void begin_profile(struct probity_export *export, struct log_queue *queue)
{
    put(export, "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"events\":[");
    log_writer_pour(&export->out, queue);
}

static __attribute__((noinline)) void begin_calls(struct probity_export *export,
                                                  struct speedscope_thread *made, uint64_t at)
{
    made->has_calls = 1;
    made->first = made->last = at;
    made->queue.is_holding = 1;
    begin_profile(export, &made->queue);
    made->first_place = made->queue.held_bytes;
}

/* ---- Lines -------------------------------------------------------------------------------------
 */

static uint64_t at_of(const struct probity_export *export, struct probity_scope_time time)
{
    if (export->options->value == PROBITY_EXPORT_CPU)
        return time.cpu_ns;
    return time.wall_ns > export->start_ns ? time.wall_ns - export->start_ns : 0;
}

static uint64_t place_of(const struct speedscope_thread *thread)
{
    return thread->queue.held_base + thread->queue.held_bytes;
}

static inline void put_line(struct probity_export *export, const char *words, uint32_t frame,
                            uint64_t at)
{
    put(export, words);
    put_number(export, frame);
    put(export, ",\"at\":");
    put_number(export, at);
    put(export, "}");
}

/* Appends a line. */
static inline void add_line(struct probity_export *export, struct speedscope_thread *thread,
                            const char *words, uint32_t frame, uint64_t at)
{
    struct log_queue *queue = &thread->queue;

    thread->last = at > thread->last ? at : thread->last;
    put(export, place_of(thread) == thread->first_place ? "\n" : ",\n");
    put_line(export, words, frame, thread->last);
    log_writer_pour(&export->out, queue);
    if (__builtin_expect(queue->held_bytes > HELD_BYTES_MAX, 0))
        log_writer_release_held(&export->out, queue, queue->held_base + HELD_BYTES_MAX / 2);
}

/* Inserts a line before the lines of a call. The call's first line keeps its comma, or the lack of
 * one. */
static uint64_t insert_line(struct probity_export *export, struct speedscope_thread *thread,
                            const struct export_call *before, uint32_t frame, uint64_t at)
{
    struct log_queue *queue = &thread->queue;
    int is_first = before->place == thread->first_place;
    uint64_t place = before->place, end = queue->held_bytes;
    char line[LINE_BYTES_MAX];

    at = at < before->before ? before->before : at > before->at ? before->at : at;
    put(export, is_first ? "\n" : ",\n");
    put_line(export, "{\"type\":\"O\",\"frame\":", frame, at);
    put(export, is_first ? "," : "");
    log_writer_pour(&export->out, queue);
    size_t bytes = queue->held_bytes - end;
    if (bytes > sizeof line)
        return place; /* out of memory */
    char *from = queue->held + (place - queue->held_base);
    memcpy(line, queue->held + end, bytes);
    memmove(from + bytes, from, queue->held + end - from);
    memcpy(from, line, bytes);
    export_recent_shift(&thread->recent, place, bytes);
    return place;
}

static void speedscope_opened(struct probity_export *export, struct probity_export_thread *thread,
                              struct probity_scope *scope, const struct probity_event *event)
{
    const struct probity_scope_time enter = {scope->enter_wall_ns, scope->enter_cpu_ns};
    struct speedscope *state = export->state;
    struct speedscope_thread *made = thread_of(export, thread);
    uint64_t at = at_of(export, enter);
    int is_new;

    if (export->options->of_blocks || made == NULL)
        return;
    state->is_of_calls = 1;
    struct export_function *frame = export_function_at(&state->functions, scope, &is_new);

    if (frame != NULL && is_new)
        put_frame(export, frame);
    if (!made->has_calls)
        begin_calls(export, made, at);
    struct export_call *call = export_recent_open(&made->recent, scope);
    if (frame == NULL || call == NULL) {
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
        return;
    }
    const struct export_call *first = event->kind == PROBITY_EVENT_CHECKPOINT
                                          ? export_recent_first(&made->recent, scope)
                                          : NULL;
    call->place = place_of(made);
    call->before = made->last;
    call->at = at;
    if (first != NULL && first->place >= made->queue.held_base)
        call->place = insert_line(export, made, first, frame->number, at);
    else
        add_line(export, made, "{\"type\":\"O\",\"frame\":", frame->number, at);
}

static void speedscope_closed(struct probity_export *export, struct probity_export_thread *thread,
                              const struct probity_scope *scope, enum probity_scope_end how,
                              const struct probity_event *event)
{
    const struct export_function *frame = *scope->of_function;
    struct speedscope_thread *made = thread->user;

    (void)how;
    (void)event;
    if (frame == NULL || made == NULL || !made->has_calls)
        return;
    add_line(export, made, "{\"type\":\"C\",\"frame\":", frame->number,
             at_of(export, probity_export_leave(scope)));
    export_recent_close(export, &made->recent, scope);
}

/* ---- Blocks ------------------------------------------------------------------------------------
 */

static const struct export_name *frame_of(struct probity_export *export,
                                          const struct export_span *span)
{
    struct speedscope *state = export->state;
    size_t known = state->blocks.table.items;
    const struct export_name *frame = export_names_at(&state->blocks, export_span_key(span));
    char name[PROBITY_VALUE_TEXT_MAX];

    if (frame == NULL)
        probity_export_fail(export, PROBITY_ERROR_MEMORY);
    if (frame == NULL || state->blocks.table.items == known)
        return frame;
    const char *end = export_span_name(name, name + sizeof name, span);
    put(export, known > 0 ? ",\n{\"name\":" : "\n{\"name\":");
    put_text(export, name, (size_t)(end - name));
    put(export, "}");
    log_writer_pour(&export->out, &state->block_frames);
    return frame;
}

/* Writes a block. CPU times are summed, because there may be a block without CPU time in
 * between. */
static void put_block(struct probity_export *export, const struct export_span *span)
{
    struct speedscope_thread *made = thread_of(export, span->thread);
    const struct export_name *frame = frame_of(export, span);
    int is_cpu = export->options->value == PROBITY_EXPORT_CPU;

    if (made == NULL || frame == NULL)
        return;
    uint64_t start = is_cpu ? made->blocks_last
                            : at_of(export, (struct probity_scope_time){span->start_ns, 0});
    uint64_t ns = !is_cpu ? span->end_ns - span->start_ns : span->is_cpu_known ? span->cpu_ns : 0;
    if (!made->has_blocks) {
        made->has_blocks = 1;
        made->blocks_first = start;
        begin_profile(export, &made->blocks);
        put(export, "\n");
    } else {
        put(export, ",\n");
    }
    put_line(export, "{\"type\":\"O\",\"frame\":", frame->number, start);
    put(export, ",\n");
    made->blocks_last = start + ns;
    put_line(export, "{\"type\":\"C\",\"frame\":", frame->number, made->blocks_last);
    log_writer_pour(&export->out, &made->blocks);
}

static void speedscope_event(struct probity_export *export, struct probity_export_thread *thread,
                             const struct probity_event *event)
{
    struct speedscope *state = export->state;

    if (!state->is_of_calls)
        export_spans_put(export, &state->spans, thread, event);
}

/* ---- The file ----------------------------------------------------------------------------------
 */

static void begin_file(struct probity_export *export, struct log_queue *frames)
{
    put(export, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                "\"exporter\":\"probity ");
    put(export, probity_version());
    put(export, "\",\"shared\":{\"frames\":[");
    log_writer_pour(&export->out, frames);
}

static int speedscope_begin(struct probity_export *export)
{
    static const struct export_spans_listener listener = {.span = put_block};
    struct speedscope *state = export->state;

    state->functions.item_bytes = sizeof(struct export_function);
    export_spans_open(&state->spans, &listener);
    begin_file(export, &state->frames);
    begin_file(export, &state->block_frames);
    return 0;
}

/* Whether the thread has a profile in the output. */
static int has_profile(const struct probity_export *export,
                       const struct probity_export_thread *thread)
{
    const struct speedscope_thread *made = thread != NULL ? thread->user : NULL;

    return made != NULL && (export->is_of_blocks ? made->has_blocks : made->has_calls);
}

static void end_thread(struct probity_export *export, const struct probity_export_thread *thread,
                       int is_last)
{
    struct speedscope_thread *made = thread->user;
    struct log_queue *queue = export->is_of_blocks ? &made->blocks : &made->queue;
    char name[2 * PROBITY_EVENT_BYTES_MAX];
    int bytes = snprintf(name, sizeof name, "%s%s%" PRIu32 "/%" PRIu32,
                         thread->name != NULL ? thread->name : "",
                         thread->name != NULL ? " " : "", thread->pid, thread->tid);

    put(export, "],\n\"name\":");
    put_text(export, name, (size_t)bytes);
    put(export, ",\"startValue\":");
    put_number(export, export->is_of_blocks ? made->blocks_first : made->first);
    put(export, ",\"endValue\":");
    put_number(export, export->is_of_blocks ? made->blocks_last : made->last);
    put(export, is_last ? "}\n" : "},\n");
    log_writer_pour(&export->out, queue);
    if (!export->is_of_blocks)
        log_writer_release_held(&export->out, queue, place_of(made));
    log_writer_unchain(&export->out, queue);
}

/* Writes an empty profile, since Speedscope does not open a file without a profile. */
static void put_empty(struct probity_export *export, struct log_queue *frames)
{
    put(export, "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"events\":[],"
                "\"name\":\"no calls\",\"startValue\":0,\"endValue\":0}\n");
    log_writer_pour(&export->out, frames);
}

/* Writes the title that the page shows; by default it is the name of the file. */
static void put_lacks(struct probity_export *export)
{
    char text[PROBITY_EXPORT_LACKS_BYTES];
    size_t bytes = probity_export_lacks(export, text);

    if (bytes == 0)
        return;
    put(export, ",\"name\":");
    put_text(export, text, bytes);
}

static int speedscope_end(struct probity_export *export)
{
    struct speedscope *state = export->state;
    uint32_t left = 0;

    export->is_of_blocks =
        export->options->of_blocks || (!state->is_of_calls && state->blocks.table.items > 0);
    struct log_queue *frames = export->is_of_blocks ? &state->block_frames : &state->frames;
    for (uint32_t slot = 0; slot < export->thread_count; slot++)
        left += (uint32_t)has_profile(export, export->threads[slot]);
    put(export, "\n]},\"profiles\":[\n");
    log_writer_pour(&export->out, frames);
    if (left == 0)
        put_empty(export, frames);
    log_writer_unchain(&export->out, frames);
    for (uint32_t slot = 0; slot < export->thread_count; slot++) {
        if (has_profile(export, export->threads[slot]))
            end_thread(export, export->threads[slot], --left == 0);
    }
    put(export, "]");
    put_lacks(export);
    put(export, "}\n");
    log_writer_pour(&export->out, frames);
    log_writer_unchain(&export->out, frames);
    return 0;
}

static void speedscope_release(struct probity_export *export)
{
    struct speedscope *state = export->state;

    for (uint32_t slot = 0; slot < export->thread_count; slot++) {
        struct speedscope_thread *made =
            export->threads[slot] != NULL ? export->threads[slot]->user : NULL;
        if (made == NULL)
            continue;
        log_queue_release(&made->queue);
        log_queue_release(&made->blocks);
    }
    export_recents_release(export);
    export_spans_release(&state->spans);
    export_names_release(&state->blocks);
    log_queue_release(&state->frames);
    log_queue_release(&state->block_frames);
    probity_same_functions_release(&state->functions);
}

const struct probity_exporter probity_exporter_speedscope = {
    .name = "speedscope",
    .target = PROBITY_EXPORT_STREAM,
    .has_gzip = 1,
    .carries = PROBITY_EXPORT_SCOPES,
    .values = 1 << PROBITY_EXPORT_WALL | 1 << PROBITY_EXPORT_CPU,
    .has_chains = 1,
    .has_blocks = 1,
    .state_bytes = sizeof(struct speedscope),
    .begin = speedscope_begin,
    .opened = speedscope_opened,
    .closed = speedscope_closed,
    .event = speedscope_event,
    .end = speedscope_end,
    .release = speedscope_release};
