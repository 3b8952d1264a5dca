/* SPDX-License-Identifier: MIT
 *
 * log.c: turns events into lines. The analysis keeps the stacks of scopes; this file keeps, for
 * each open scope, the indentation of its lines, whether it passes the filters, and the position of
 * its lines while they are held back. Printing a scope takes one lookup of its signature and three
 * short copies.
 *
 * With a minimum duration, lines of a thread are held back from the outermost scope on that has not
 * lasted long enough yet. Because callees begin later, scopes reach the minimum from the outside
 * inwards:
 *
 *     held lines   | outer ... | middle ... | inner ...
 *                  ^ held_from of the lowest; released first
 */
#include "log/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/scopes.h"
#include "base/array_grow.h"
#include "base/bytes.h"
#include "log/log_lines.h"
#include "log/log_names.h"
#include "print/csv_digits.h"
#include "print/text.h"
#include "print/values.h"

enum { IS_SHOWN = 1, IS_NAMED = 2, IS_HELD = 4 };

enum { LEVELS_OF_START = 1 }; /* levels at the start, so not a change */

/* An open scope, at the same index as in its stack. */
struct level {
    uint32_t indent, inner; /* indentation of its first line; of the lines inside it */
    uint32_t flags;
    uint64_t held_from; /* IS_HELD: offset of its first line in the thread's queue */
    uint64_t enter_ns;
};

struct log_thread {
    struct log_prefix prefix;
    struct log_queue queue;
    struct level *levels;
    uint32_t count, capacity;
    uint32_t shown, named, held; /* number of open scopes of each kind */
    uint32_t held_lowest;        /* valid if held > 0 */
};

struct probity_log {
    struct log_lines lines;
    const struct probity_log_options *options;
    const struct probity_reader *reader;
    struct probity_scopes *scopes;
    struct probity_scopes_listener listener;
    struct log_names names;
    struct log_thread **threads; /* by slot; NULL: not seen yet */
    uint32_t thread_count;
    uint64_t named, held_shown;
    int no_memory;
};

/* ---- Threads and levels ------------------------------------------------------------------------
 */

static struct log_thread *add_thread(struct probity_log *log, const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;

    if (slot >= log->thread_count) {
        void *grown = probity_array_grow(log->threads, sizeof *log->threads, slot,
                                         &log->thread_count);
        if (grown == NULL)
            return NULL;
        log->threads = grown;
    }
    struct log_thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL)
        return NULL;
    log_prefix_make(&thread->prefix, log->options, event->pid, event->tid);
    log->threads[slot] = thread;
    return thread;
}

/* Returns the level of a scope at `depth`. Adds levels that are missing because memory ran out. */
static struct level *push_level(struct log_thread *thread, uint32_t depth)
{
    if (depth >= thread->capacity) {
        struct level *levels = probity_array_grow(thread->levels, sizeof *levels, depth,
                                                  &thread->capacity);
        if (levels == NULL)
            return NULL;
        thread->levels = levels;
    }
    while (thread->count <= depth)
        thread->levels[thread->count++] = (struct level){.flags = 0};
    return &thread->levels[depth];
}

static inline uint32_t inner_indent(const struct log_thread *thread)
{
    return thread->count > 0 ? thread->levels[thread->count - 1].inner : 0;
}

static inline int is_in_range(const struct probity_log *log, uint64_t wall_ns)
{
    return wall_ns >= log->options->from_ns;
}

/* Whether events of the innermost scope are shown. */
static inline int is_top_shown(const struct probity_log *log, const struct log_thread *thread,
                               uint64_t wall_ns)
{
    if (!is_in_range(log, wall_ns))
        return 0;
    if (thread->count > 0)
        return (thread->levels[thread->count - 1].flags & IS_SHOWN) != 0;
    return log->options->function_count == 0;
}

/* ---- Lines that are held back ------------------------------------------------------------------
 */

/* Passes on lines that were built outside the output buffer. */
static inline void end_lines(struct probity_log *log, struct log_thread *thread)
{
    if (__builtin_expect(log->lines.writer.built != log->lines.writer.buffer, 0))
        log_writer_pour(&log->lines.writer, &thread->queue);
}

/* Prints the outermost scope that is held back. */
static void release_lowest(struct probity_log *log, struct log_thread *thread)
{
    uint64_t to = thread->queue.held_base + thread->queue.held_bytes;
    uint32_t at = thread->held_lowest;

    thread->levels[at].flags &= ~(uint32_t)IS_HELD;
    thread->held--;
    for (at++; thread->held > 0 && at < thread->count; at++) {
        if (thread->levels[at].flags & IS_HELD) {
            to = thread->levels[at].held_from;
            thread->held_lowest = at;
            break;
        }
    }
    thread->queue.is_holding = thread->held > 0;
    log_writer_release_held(&log->lines.writer, &thread->queue, to);
}

static void release_long(struct probity_log *log, struct log_thread *thread, uint64_t now_ns)
{
    uint64_t least = log->options->duration_ns_min;

    while (thread->held > 0) {
        uint64_t enter_ns = thread->levels[thread->held_lowest].enter_ns;
        if (now_ns < enter_ns || now_ns - enter_ns < least)
            break;
        release_lowest(log, thread);
    }
    while (thread->queue.held_bytes > LOG_HELD_BYTES_MAX && thread->held > 0) {
        log->held_shown++;
        release_lowest(log, thread);
    }
}

static void hold(struct log_thread *thread, uint32_t depth, uint64_t enter_ns)
{
    struct level *level = &thread->levels[depth];

    level->flags |= IS_HELD;
    level->held_from = thread->queue.held_base + thread->queue.held_bytes;
    level->enter_ns = enter_ns;
    if (thread->held++ == 0)
        thread->held_lowest = depth;
    thread->queue.is_holding = 1;
}

/* Discards the lines of a scope that was too short. */
static void drop_top(struct log_thread *thread, const struct level *level)
{
    log_writer_drop_held(&thread->queue, level->held_from);
    thread->held--;
    thread->queue.is_holding = thread->held > 0;
}

/* ---- Scopes ------------------------------------------------------------------------------------
 */

static void show_opened(struct probity_log *log, struct log_thread *thread,
                        const struct level *level, const struct log_name *name,
                        const struct probity_scope *scope, const struct probity_event *event)
{
    struct log_lines *lines = &log->lines;

    log_line_start(lines, &thread->prefix, &thread->queue, scope->enter_wall_ns, level->indent);
    if (name != NULL)
        log_line_end_with(lines, name->text, name->bytes);
    else
        log_line_put_site(lines, scope->number);
    if (event->kind == PROBITY_EVENT_ENTER)
        log_lines_put_values(lines, &thread->prefix, &thread->queue, event, level->indent + 1);
    end_lines(log, thread);
}

static void scope_opened(void *context, struct probity_scope *scope,
                         const struct probity_event *event)
{
    struct probity_log *log = context;
    const struct probity_log_options *options = log->options;
    struct log_thread *thread = log->threads[event->thread_slot];
    uint32_t indent = inner_indent(thread);
    struct level *level = push_level(thread, scope->depth);
    const struct log_name *name = NULL;

    if (scope->function != NULL) {
        name = log_names_find(&log->names, scope->function);
        if (__builtin_expect(name == NULL, 0))
            name = log_names_make(&log->names, options, scope->function);
    }
    if (level == NULL || (name == NULL && scope->function != NULL)) {
        log->no_memory = 1;
        return;
    }
    *level = (struct level){.indent = indent, .inner = indent};
    if (name != NULL && name->is_named) {
        level->flags |= IS_NAMED;
        thread->named++;
        log->named++;
    }
    if ((name != NULL && !name->is_wanted) || !is_in_range(log, scope->enter_wall_ns) ||
        (options->function_count > 0 && thread->named == 0) ||
        (options->depth_max > 0 && thread->shown >= options->depth_max))
        return;
    level->flags |= IS_SHOWN;
    level->inner = indent + 1;
    thread->shown++;
    if (options->duration_ns_min > 0)
        hold(thread, scope->depth, scope->enter_wall_ns);
    show_opened(log, thread, level, name, scope, event);
}

static void show_closed(struct probity_log *log, struct log_thread *thread,
                        const struct level *level, const struct probity_scope *scope,
                        enum probity_scope_end how, const struct probity_event *event)
{
    struct log_lines *lines = &log->lines;
    uint64_t now_ns = scope->enter_wall_ns + scope->elapsed.wall_ns;

    if (!scope->is_untimed) {
        log_line_start(lines, &thread->prefix, &thread->queue, now_ns, level->indent + 1);
        log_line_put_elapsed(lines, scope, event != NULL && event->cpu_known);
    }
    log_line_start(lines, &thread->prefix, &thread->queue, now_ns, level->indent);
    log_line_put_leave(lines, how, event);
    end_lines(log, thread);
}

static void scope_closed(void *context, const struct probity_scope *scope,
                         enum probity_scope_end how, uint32_t thread_slot,
                         const struct probity_event *event)
{
    struct probity_log *log = context;
    struct log_thread *thread = log->threads[thread_slot];

    if (scope->depth >= thread->count)
        return;
    thread->count = scope->depth + 1;
    struct level level = thread->levels[scope->depth];
    int is_kept = (level.flags & IS_SHOWN) != 0;
    if (level.flags & IS_HELD) {
        if (scope->elapsed.wall_ns >= log->options->duration_ns_min) {
            while (thread->held > 0)
                release_lowest(log, thread);
        } else {
            drop_top(thread, &level);
            is_kept = 0;
        }
    }
    /* If the events are only a part of the trace, it is unknown when the scope ended. */
    if (is_kept && !(how == PROBITY_SCOPE_OPEN && log->options->is_part))
        show_closed(log, thread, &level, scope, how, event);
    thread->shown -= (level.flags & IS_SHOWN) != 0;
    thread->named -= (level.flags & IS_NAMED) != 0;
    thread->count = scope->depth;
}

/* ---- Other events ------------------------------------------------------------------------------
 */

/* Writes the label and its values; later lines of the scope, up to the next checkpoint, are
 * indented one level deeper. */
static void put_checkpoint(struct probity_log *log, struct log_thread *thread,
                           const struct probity_event *event)
{
    struct level *level = thread->count > 0 ? &thread->levels[thread->count - 1] : NULL;
    uint32_t indent = level != NULL ? level->indent + 1 : 0;

    log_lines_put_checkpoint(&log->lines, &thread->prefix, &thread->queue, event, indent);
    if (level != NULL)
        level->inner = indent + 1;
}

static void put_inner(struct probity_log *log, struct log_thread *thread,
                      const struct probity_event *event)
{
    struct log_lines *lines = &log->lines;
    uint32_t indent = inner_indent(thread);

    if (event->kind == PROBITY_EVENT_CHECKPOINT) {
        put_checkpoint(log, thread, event);
    } else if (event->kind == PROBITY_EVENT_PARAMETERS) {
        log_lines_put_values(lines, &thread->prefix, &thread->queue, event, indent);
    } else {
        log_line_start(lines, &thread->prefix, &thread->queue, event->wall_ns, indent);
        if (event->kind == PROBITY_EVENT_MESSAGE)
            log_line_put_message(lines, event);
        else
            log_line_put_mark(lines, event);
        if (event->kind == PROBITY_READER_ENTRY)
            log_lines_put_values(lines, &thread->prefix, &thread->queue, event, indent + 1);
    }
    end_lines(log, thread);
}

static uint64_t stall_ns(const struct probity_log *log, const struct probity_event *event)
{
    uint64_t ticks = event->payload_bytes >= 8 ? probity_get_u64(event->payload) : 0;

    if (log->reader == NULL || event->trace >= probity_reader_traces(log->reader))
        return ticks;
    return probity_trace_ns_of_ticks(probity_reader_facts(log->reader, event->trace), ticks);
}

static void put_notice(struct probity_log *log, struct log_thread *thread,
                       const struct probity_event *event)
{
    int is_start = event->kind == PROBITY_EVENT_LEVELS && event->payload_bytes >= 3 &&
                   event->payload[2] == LEVELS_OF_START;

    if (!is_in_range(log, event->wall_ns) || log->options->function_count > 0 || is_start)
        return;
    log_line_start(&log->lines, &thread->prefix, &thread->queue, event->wall_ns,
                   inner_indent(thread));
    log_line_put_notice(&log->lines, event,
                        event->kind == PROBITY_EVENT_STALL ? stall_ns(log, event) : 0);
    end_lines(log, thread);
}

static void put_other(struct probity_log *log, struct log_thread *thread,
                      const struct probity_event *event)
{
    switch (event->kind) {
    case PROBITY_EVENT_HIT:
        if (!log->options->has_probes)
            return;
        break;
    case PROBITY_READER_ENTRY:
    case PROBITY_EVENT_MESSAGE:
    case PROBITY_EVENT_PARAMETERS:
    case PROBITY_EVENT_CHECKPOINT:
    case PROBITY_EVENT_PAUSE:
    case PROBITY_EVENT_RESUME: break;
    case PROBITY_EVENT_THREAD_NAME:
    case PROBITY_EVENT_STALL:
    case PROBITY_EVENT_LOST:
    case PROBITY_EVENT_LEVELS:
    case PROBITY_EVENT_BUDGET:
    case PROBITY_EVENT_SITES_SWITCHED:
    case PROBITY_EVENT_PROFILING: put_notice(log, thread, event); return;
    default: return;
    }
    if (is_top_shown(log, thread, event->wall_ns))
        put_inner(log, thread, event);
}

/* ---- The log -----------------------------------------------------------------------------------
 */

int probity_log_open(int descriptor, const struct probity_reader *reader,
                     const struct probity_log_options *options, struct probity_log **ret_log)
{
    struct probity_log *log = calloc(1, sizeof *log);

    if (log == NULL)
        return PROBITY_ERROR_MEMORY;
    log->options = options;
    log->reader = reader;
    log->listener = (struct probity_scopes_listener){scope_opened, scope_closed, log};
    int error = log_lines_init(&log->lines, descriptor, options);
    if (error == 0) {
        error = probity_scopes_open(&log->scopes);
        if (error == 0)
            probity_scopes_set_range(log->scopes, options->from_ns, 0);
        else
            log_writer_release(&log->lines.writer);
    }
    if (error != 0) {
        free(log);
        return error;
    }
    *ret_log = log;
    return 0;
}

static inline int state_of(const struct probity_log *log)
{
    if (__builtin_expect(log->lines.writer.error != 0, 0)) {
        errno = log->lines.writer.error_number;
        return log->lines.writer.error;
    }
    return log->no_memory ? PROBITY_ERROR_MEMORY : 0;
}

int probity_log_put(struct probity_log *log, const struct probity_event *event)
{
    uint32_t slot = event->thread_slot;
    struct log_thread *thread = slot < log->thread_count ? log->threads[slot] : NULL;

    if (__builtin_expect(thread == NULL, 0)) {
        thread = add_thread(log, event);
        if (thread == NULL)
            return PROBITY_ERROR_MEMORY;
    }
    if (__builtin_expect(thread->held > 0, 0))
        release_long(log, thread, event->wall_ns);
    int error = probity_scopes_put(log->scopes, event, &log->listener);
    if (error != 0)
        return error;
    if (event->kind != PROBITY_EVENT_ENTER && event->kind != PROBITY_EVENT_LEAVE)
        put_other(log, thread, event);
    return state_of(log);
}

int probity_log_flush(struct probity_log *log)
{
    log_writer_flush(&log->lines.writer);
    return state_of(log);
}

int probity_log_is_full(const struct probity_log *log)
{
    const struct log_writer *writer = &log->lines.writer;

    return (writer->lines_max > 0 && writer->lines == writer->lines_max ? PROBITY_LOG_FULL : 0) |
           (writer->is_cut ? PROBITY_LOG_CUT : 0);
}

int probity_log_finish(struct probity_log *log)
{
    probity_scopes_finish(log->scopes, &log->listener);
    for (uint32_t slot = 0; slot < log->thread_count; slot++) {
        struct log_thread *thread = log->threads[slot];
        if (thread == NULL)
            continue;
        while (thread->held > 0)
            release_lowest(log, thread);
        if (log->options->by_thread)
            log_writer_unchain(&log->lines.writer, &thread->queue);
    }
    return probity_log_flush(log);
}

struct probity_log_counts probity_log_counts(const struct probity_log *log)
{
    const struct probity_scopes_repairs *repairs = probity_scopes_repairs(log->scopes);

    return (struct probity_log_counts){.lines = log->lines.count,
                                       .unwound = repairs->unwound,
                                       .orphans = repairs->orphans,
                                       .open = repairs->open,
                                       .pauses_unmatched = repairs->pauses_unmatched,
                                       .resumes_unmatched = repairs->resumes_unmatched,
                                       .named = log->named,
                                       .held_shown = log->held_shown};
}

void probity_log_close(struct probity_log *log)
{
    for (uint32_t slot = 0; slot < log->thread_count; slot++) {
        struct log_thread *thread = log->threads[slot];
        if (thread == NULL)
            continue;
        log_queue_release(&thread->queue);
        free(thread->levels);
        free(thread);
    }
    free(log->threads);
    log_names_release(&log->names);
    log_writer_release(&log->lines.writer);
    probity_scopes_close(log->scopes);
    free(log);
}
