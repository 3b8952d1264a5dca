/* SPDX-License-Identifier: MIT
 *
 * merge.c: merges records and builds events. Cost per event: one unpacked record, two
 * multiplications for its times, and a heap step if another block comes next.
 */
#include "reader/merge.h"

#include <stdlib.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/ticks.h"
#include "probity.h"

/* ---- The heap of open blocks -------------------------------------------------------------------
 */

/* Breaks ties: equal times keep the order of trace, thread and block. */
static int is_tie_before(const struct probity_open_block *a, const struct probity_open_block *b)
{
    if (a->trace->number != b->trace->number)
        return a->trace->number < b->trace->number;
    if (a->data.thread != b->data.thread)
        return a->data.thread < b->data.thread;
    return a->order < b->order;
}

static inline int is_before(const struct probity_open_entry *a, const struct probity_open_entry *b)
{
    if (__builtin_expect(a->key != b->key, 1))
        return a->key < b->key;
    return is_tie_before(a->block, b->block);
}

void probity_merge_replace_first(struct probity_merge *merge, struct probity_open_entry entry)
{
    struct probity_open_entry *open = merge->open;
    size_t count = merge->open_count, at = 0, child;

    probity_assert(count > 0);
    while ((child = 2 * at + 1) < count) {
        child += child + 1 < count && is_before(&open[child + 1], &open[child]);
        if (!is_before(&open[child], &entry))
            break;
        open[at] = open[child];
        at = child;
    }
    open[at] = entry;
}

static int heap_push(struct probity_merge *merge, struct probity_open_entry entry)
{
    probity_assert(entry.block != NULL);
    void *open = probity_array_room(merge->open, sizeof *merge->open,
                                    merge->open_count, &merge->open_capacity);
    if (open == NULL)
        return PROBITY_ERROR_MEMORY;
    merge->open = open;
    probity_assert(merge->open_count < merge->open_capacity);
    size_t at = merge->open_count++;
    for (; at > 0 && is_before(&entry, &merge->open[(at - 1) / 2]); at = (at - 1) / 2)
        merge->open[at] = merge->open[(at - 1) / 2];
    merge->open[at] = entry;
    return 0;
}

static void heap_remove_first(struct probity_merge *merge)
{
    struct probity_open_entry last = merge->open[--merge->open_count];

    probity_assert(merge->open_count < merge->open_capacity);
    if (merge->open_count > 0)
        probity_merge_replace_first(merge, last);
}

/* ---- Progress of the merge ---------------------------------------------------------------------
 */

/* Reports progress. Between two SYNCs, the scan passes many blocks, which then wait to be read.
 * Late blocks may wait before the scan reaches them. */
static __attribute__((noinline)) void report_progress(const struct probity_merge *merge)
{
    uint64_t done = 0, total = 0, waiting = merge->queue.trace_bytes;

    for (size_t i = 0; i < merge->trace_count; i++) {
        const struct probity_trace *trace = &merge->traces[i];
        total += trace->facts.file_bytes;
        done += trace->is_done ? trace->facts.file_bytes : trace->scan.offset;
    }
    merge->progress(merge->progress_context, done > waiting ? done - waiting : 0, total);
}

/* Advances the scan cursor that is furthest behind. Returns the same as probity_trace_advance(). */
static int advance_cursor(struct probity_merge *merge)
{
    struct probity_trace *least = NULL;
    uint64_t least_key = 0;

    probity_assert(merge->trace_count > 0);
    for (size_t i = 0; i < merge->trace_count; i++) {
        struct probity_trace *trace = &merge->traces[i];
        if (trace->is_done)
            continue;
        uint64_t key = probity_trace_key(trace, trace->safe_tick);
        if (least == NULL || key < least_key) {
            least = trace;
            least_key = key;
        }
    }
    int error = least != NULL ? probity_trace_advance(least, &merge->queue) : 0;
    if (merge->progress != NULL)
        report_progress(merge);
    merge->all_done = 1;
    merge->safe = UINT64_MAX;
    for (size_t i = 0; error >= 0 && i < merge->trace_count; i++) {
        struct probity_trace *trace = &merge->traces[i];
        if (trace->is_done)
            continue;
        uint64_t key = probity_trace_key(trace, trace->safe_tick);
        merge->all_done = 0;
        merge->safe = key < merge->safe ? key : merge->safe;
    }
    return error;
}

static int open_first_waiting(struct probity_merge *merge)
{
    enum { PROGRESS_LOADS = 16 };
    struct probity_waiting waiting = probity_queue_pop(&merge->queue);
    struct probity_open_block *block;

    if (merge->progress != NULL &&
        (++merge->opened % PROGRESS_LOADS == 0 || merge->queue.count == 0))
        report_progress(merge);
    int got = probity_open_block_load(merge, &waiting, &block);

    if (got <= 0)
        return got;
    uint64_t key = probity_trace_key(block->trace, block->record.tick);
    return heap_push(merge, (struct probity_open_entry){key, block});
}

void probity_merge_set_limit(struct probity_merge *merge)
{
    uint64_t limit = merge->safe;

    for (size_t i = 1; i < 3 && i < merge->open_count; i++)
        limit = merge->open[i].key < limit ? merge->open[i].key : limit;
    if (merge->queue.count > 0 && merge->queue.items[0].key < limit)
        limit = merge->queue.items[0].key;
    merge->limit = limit;
}

#ifdef PROBITY_DEBUG
int probity_merge_is_valid(const struct probity_merge *merge)
{
    enum { CHECKED = 64 };
    size_t count = merge->open_count < CHECKED ? merge->open_count : CHECKED;

    for (size_t i = 0; i < count; i++) {
        const struct probity_open_entry *entry = &merge->open[i];
        if (entry->block->slot >= merge->threads.count ||
            (i > 0 && is_before(entry, &merge->open[(i - 1) / 2])))
            return 0;
    }
    return merge->open_count <= merge->open_capacity;
}
#endif

/* Moves the block with the next event to open[0]. Returns 1, 0 if there are no more events,
 * PROBITY_READER_WAITS if the next event has not arrived yet, or an error. */
static __attribute__((noinline)) int
settle(struct probity_merge *merge)
{
    for (;;) {
        uint64_t first = merge->open_count > 0 ? merge->open[0].key : UINT64_MAX;
        int is_waiting = merge->queue.count > 0 && merge->queue.items[0].key <= first;
        int is_empty = merge->open_count == 0 && !is_waiting;
        int error = 0;

        probity_assert(!merge->running);
        if (is_waiting)
            first = merge->queue.items[0].key;
        if (is_empty && merge->all_done)
            return 0;
        if (!merge->all_done && (is_empty || first >= merge->safe))
            error = advance_cursor(merge);
        else if (is_waiting)
            error = open_first_waiting(merge);
        else
            break;
        if (error < 0 || (error == PROBITY_READER_WAITS && (is_empty || first >= merge->safe)))
            return error;
    }
    probity_assert(probity_merge_is_valid(merge));
    probity_merge_set_limit(merge);
    return 1;
}

/* ---- Events ------------------------------------------------------------------------------------
 */

void probity_merge_start_block(struct probity_merge *merge, struct probity_open_block *block)
{
    struct probity_event *event = &merge->event;

    probity_assert(block == merge->open[0].block);
    event->trace = block->trace->number;
    event->thread = block->data.thread;
    event->tid = block->data.tid;
    event->pid = block->trace->facts.info.pid;
    event->thread_slot = block->slot;
    event->cpu_known = (block->data.flags & PROBITY_DATA_CPU_KNOWN) != 0;
    event->wall_known = (block->trace->facts.info.flags & PROBITY_INFO_WALL_TIME) != 0;
    event->late = (block->data.flags & PROBITY_DATA_LATE) != 0;
    event->cpu_ns = 0;
    block->trace->emitted_tick = block->record.tick;
}

void probity_event_clear(struct probity_event *event)
{
    event->id = 0;
    event->is_site = 0;
    event->name = NULL;
    event->name_bytes = 0;
    event->payload = NULL;
    event->payload_bytes = 0;
    event->function = NULL;
    event->format = NULL;
    event->is_raised = 0;
    event->values = NULL;
    event->value_bytes = 0;
    event->role = 0;
    event->has_correlation = 0;
    event->has_object = 0;
    event->has_place = 0;
    event->correlation = 0;
    event->object = 0;
    event->place = 0;
    event->entered_tick = 0;
    event->entered_wall_ns = 0;
}

/* Takes a site's name, or the function that the site is the enter or leave of. NULL: the site has
 * no name. */
static inline void name_event(struct probity_event *event, const struct probity_name *name)
{
    event->name = name != NULL ? name->bytes : NULL;
    event->name_bytes = name != NULL ? name->length : 0;
    if (name == NULL || name->function == NULL)
        return;
    event->function = name->function;
    probity_assert(event->is_site);
    event->kind = probity_function_event(name->function, event->id);
    event->id = name->function->number;
    event->is_site = 0;
}

/* Stores what an event declares. */
static int take_declaration(struct probity_trace *trace, const struct probity_record *record)
{
    const uint8_t *payload = record->payload;
    size_t bytes = record->payload_bytes;

    if (record->kind == PROBITY_EVENT_PROBE_NAME && bytes >= 4) {
        trace->has_probe_names = 1;
        return probity_names_set(&trace->names, 2 * (uint64_t)probity_get_u32(payload), payload + 4,
                                 bytes - 4);
    }
    if (record->kind == PROBITY_EVENT_SITE && bytes >= 10) {
        size_t length = probity_get_u16(payload + 8);
        length = length < bytes - 10 ? length : bytes - 10;
        return probity_names_set(&trace->names, 2 * (uint64_t)probity_get_u32(payload) + 1,
                                 payload + 10, length);
    }
    if (record->kind == PROBITY_EVENT_FUNCTION)
        return probity_functions_declare(&trace->functions, &trace->names, trace->number,
                                         &trace->facts.info.text[PROBITY_TAG_PROGRAM], payload,
                                         bytes);
    if (record->kind == PROBITY_EVENT_FORMAT)
        return probity_functions_declare_format(&trace->functions, payload, bytes);
    if (record->kind == PROBITY_EVENT_SITES_SWITCHED)
        return probity_switched_take(&trace->switched, &trace->names, payload, bytes);
    return 0;
}

/* Finds the function by either of its two sites. */
static void find_function(struct probity_trace *trace, struct probity_event *event, uint32_t site)
{
    const struct probity_name *name = probity_names_find(&trace->names, 2 * (uint64_t)site + 1);

    event->function = name != NULL ? name->function : NULL;
    probity_assert(name == NULL || name->code == 2 * (uint64_t)site + 1);
    event->id = event->function != NULL ? event->function->number : site;
}

/* Decodes ENTER, LEAVE, MESSAGE, PARAMETERS and CHECKPOINT: site number, format number, tick,
 * values; each kind has some of them. Fields missing from a short payload stay cleared. */
static void decode_values(struct probity_trace *trace, struct probity_event *event)
{
    const uint8_t *at = event->payload;
    size_t left = event->payload_bytes;

    probity_assert(event->payload != NULL);
    if (event->kind != PROBITY_EVENT_MESSAGE && event->kind != PROBITY_EVENT_PARAMETERS) {
        if (left < 4)
            return;
        find_function(trace, event, probity_get_u32(at));
        if (event->kind == PROBITY_EVENT_ENTER && event->function != NULL &&
            event->function->has_entries_only)
            event->kind = PROBITY_READER_ENTRY;
        at += 4;
        left -= 4;
    }
    size_t fixed = event->kind == PROBITY_EVENT_CHECKPOINT ? 12 : 4;
    if (left < fixed)
        return;
    event->format = probity_functions_format(&trace->functions, probity_get_u32(at));
    event->is_raised = event->kind == PROBITY_EVENT_LEAVE &&
                       probity_get_u32(at) == PROBITY_FORMAT_RAISED;
    if (event->kind == PROBITY_EVENT_CHECKPOINT) {
        uint64_t entered = probity_get_u64(at + 4);
        event->entered_tick = entered < event->tick ? entered : event->tick;
        if (entered != 0)
            event->entered_wall_ns = probity_clockmap_wall(trace->clock, event->entered_tick);
    }
    probity_assert(left >= fixed);
    event->values = at + fixed;
    event->value_bytes = left - fixed;
}

/* Turns a hit with ids into a hit. If the payload is too short, it remains an event. */
static void find_site(const struct probity_trace *trace, struct probity_event *event,
                      uint64_t code)
{
    const struct probity_name *name = probity_names_find(&trace->names, code);

    event->id = (uint32_t)(code >> 1);
    event->is_site = (int)(code & 1);
    if (name != NULL && name->function == NULL) {
        event->name = name->bytes;
        event->name_bytes = name->length;
    }
}

static void decode_hit(struct probity_trace *trace, struct probity_event *event)
{
    struct probity_hit_with hit;

    if (!probity_hit_with_parse(event->payload, event->payload_bytes, &hit))
        return;
    event->kind = PROBITY_EVENT_HIT;
    event->role = hit.role;
    event->has_correlation = hit.has_correlation;
    event->has_object = hit.has_object;
    event->has_place = hit.has_place;
    event->correlation = hit.correlation;
    event->object = hit.object;
    event->place = hit.place;
    find_site(trace, event, hit.code);
    if (__builtin_expect(trace->switched.count > 0, 0))
        probity_switched_adjust(&trace->switched, event);
}

/* Whether the event, with its ids decoded, has an exact CPU time. Declarations and similar events
 * are recorded without checking whether the thread was off the CPU: their CPU time may be too high,
 * and must not raise that of later records. */
static int is_moment(const struct probity_event *event)
{
    return event->kind == PROBITY_EVENT_HIT || event->kind == PROBITY_READER_ENTRY ||
           (event->kind >= PROBITY_EVENT_ENTER && event->kind <= PROBITY_EVENT_RESUME);
}

static void take_removed(struct probity_trace *trace, const struct probity_function *function)
{
    probity_function_set_least(function);
    if (++trace->removed_functions > trace->facts.removed_functions)
        trace->facts.removed_functions = trace->removed_functions;
}

static void take_budget(struct probity_trace *trace, struct probity_event *event)
{
    struct probity_budget_event budget;

    probity_assert(event->kind == PROBITY_EVENT_BUDGET);
    if (probity_budget_event_get(event->payload, event->payload_bytes, &budget) != 0)
        return;
    if (budget.what == PROBITY_BUDGET_WHAT_EXCEEDED || budget.what == PROBITY_BUDGET_WHAT_TOTAL) {
        trace->facts.budget = budget;
        return;
    }
    if (budget.what == PROBITY_BUDGET_WHAT_HITS) {
        find_site(trace, event, 2 * (uint64_t)budget.site + 1);
        if (++trace->counted_hits > trace->facts.counted_hits)
            trace->facts.counted_hits = trace->counted_hits;
        return;
    }
    find_function(trace, event, budget.site);
    if (budget.what == PROBITY_BUDGET_WHAT_REMOVED)
        take_removed(trace, event->function);
}

static __attribute__((noinline)) int
fill_rare(struct probity_merge *merge, struct probity_open_block *block,
          struct probity_thread_seen *seen)
{
    struct probity_event *event = &merge->event;
    const struct probity_record *record = &block->record;

    probity_event_clear(event);
    if (__builtin_expect((block->data.flags & PROBITY_DATA_HAS_EVENTS) == 0, 0))
        block->trace->has_unmarked_events = 1;
    event->payload = record->payload;
    event->payload_bytes = record->payload_bytes;
    if (record->kind >= PROBITY_EVENT_ENTER && record->kind <= PROBITY_EVENT_CHECKPOINT)
        decode_values(block->trace, event);
    if (record->kind == PROBITY_EVENT_HIT_WITH)
        decode_hit(block->trace, event);
    if (is_moment(event) && event->cpu_known)
        seen->cpu_ns = event->cpu_ns;
    int error = take_declaration(block->trace, record);
    if (record->kind == PROBITY_EVENT_FUNCTION && event->payload_bytes >= 4)
        find_function(block->trace, event, probity_get_u32(event->payload));
    if (record->kind == PROBITY_EVENT_BUDGET)
        take_budget(block->trace, event);
    if (record->kind == PROBITY_EVENT_SITES_SWITCHED && event->payload_bytes >= 8)
        find_site(block->trace, event, 2 * (uint64_t)probity_get_u32(event->payload + 4) + 1);
    return error;
}

/* Returns the CPU time of the record, which never decreases: successive readings of the CPU clock
 * have independent errors. */
static inline uint64_t cpu_of(const struct probity_open_block *block,
                              const struct probity_thread_seen *seen)
{
    uint64_t on = block->record.tick - block->data.first_tick - block->record.off;
    uint64_t cpu_ns = block->data.cpu_ns + probity_ns_of_ticks(on, block->data.rate);

    cpu_ns = (int64_t)cpu_ns > 0 ? cpu_ns : 0;
    return cpu_ns > seen->cpu_ns ? cpu_ns : seen->cpu_ns;
}

/* Builds the event of open[0]. Returns 1 or an error. */
static __attribute__((noinline)) int
fill_event(struct probity_merge *merge, struct probity_open_block *block)
{
    struct probity_event *event = &merge->event;
    const struct probity_record *record = &block->record;
    struct probity_trace *trace = block->trace;
    struct probity_thread_seen *seen = &merge->threads.seen[block->slot];

    probity_assert(block->slot < merge->threads.count);
    event->tick = record->tick;
    event->wall_ns = probity_clockmap_wall(trace->clock, record->tick);
    event->kind = record->kind < UINT32_MAX && record->kind != PROBITY_READER_ENTRY
                      ? (uint32_t)record->kind
                      : UINT32_MAX;
    if (event->cpu_known)
        event->cpu_ns = cpu_of(block, seen);
    if (record->kind != PROBITY_EVENT_HIT)
        return fill_rare(merge, block, seen) == 0 ? 1 : PROBITY_ERROR_MEMORY;
    if (event->cpu_known)
        seen->cpu_ns = event->cpu_ns;
    if (event->payload != NULL) /* left by the previous event */
        probity_event_clear(event);
    event->id = (uint32_t)(record->code >> 1);
    event->is_site = (int)(record->code & 1);
    event->name = NULL;
    event->function = NULL;
    if (event->is_site || trace->has_probe_names)
        name_event(event, probity_names_get(&trace->names, record->code));
    return 1;
}

/* The same for most hits: the site was named recently, and the time is near the previous one.
 * Functions for all other cases are tail calls, so that no register need be saved for them. */
static inline int fill_plain(struct probity_merge *merge, struct probity_open_block *block)
{
    struct probity_event *event = &merge->event;
    const struct probity_record *record = &block->record;
    struct probity_trace *trace = block->trace;
    const struct probity_clock_line *line = &trace->clock->line;
    uint64_t ticks = record->tick - line->start, code = record->code;
    const struct probity_name *name = trace->names.recent[code % PROBITY_NAMES_RECENT];

    if (__builtin_expect(record->kind != PROBITY_EVENT_HIT || ticks >= line->span ||
                             event->payload != NULL || !(code & 1) || name == NULL ||
                             name->code != code, 0))
        return fill_event(merge, block);
    event->tick = record->tick;
    event->wall_ns = line->base_ns + probity_clock_line_at(line, ticks);
    event->kind = PROBITY_EVENT_HIT;
    if (event->cpu_known) {
        struct probity_thread_seen *seen = &merge->threads.seen[block->slot];
        seen->cpu_ns = event->cpu_ns = cpu_of(block, seen);
    }
    event->id = (uint32_t)(code >> 1);
    event->is_site = 1;
    event->function = NULL;
    name_event(event, name);
    return 1;
}

/* Returns 1 if the event is in the range, 0 if not, -1 if all later events are outside it too. */
static int range_judge(const struct probity_merge *merge)
{
    uint64_t wall_ns = merge->event.wall_ns;

    if (merge->to_ns != 0 && wall_ns >= merge->to_ns)
        return merge->may_stop_early ? -1 : 0;
    return wall_ns >= merge->from_ns;
}

/* Takes the next event of any block. Returns 1, 0 at the end, or an error. */
static int step_to_block(struct probity_merge *merge)
{
    int got = settle(merge);

    if (got != 1)
        return got;
    merge->running = 1;
    probity_merge_start_block(merge, merge->open[0].block);
    return fill_plain(merge, merge->open[0].block);
}

/* Advances to the next event after a record of open[0]. has_more: whether its next record is
 * prepared. Returns the same as step_to_block(). */
static int step_from(struct probity_merge *merge, struct probity_open_block *block, int has_more)
{
    if (has_more) {
        uint64_t key = probity_trace_key(block->trace, block->record.tick);
        if (key < merge->limit) {
            merge->open[0].key = key;
            return fill_plain(merge, block);
        }
        probity_merge_replace_first(merge, (struct probity_open_entry){key, block});
    } else {
        heap_remove_first(merge);
        probity_open_block_recycle(merge, block);
    }
    merge->running = 0;
    return step_to_block(merge);
}

static int step(struct probity_merge *merge)
{
    struct probity_open_block *block;

    if (!merge->running)
        return step_to_block(merge);
    probity_assert(merge->open_count > 0);
    block = merge->open[0].block;
    return step_from(merge, block, probity_open_block_step(block));
}

/* Whether the event is the next record of its thread, or the loss of records before it, which ends
 * open scopes. */
static int take_next(struct probity_merge *merge)
{
    struct probity_thread_seen *seen = &merge->threads.seen[merge->event.thread_slot];
    int is_new = merge->event.thread_slot >= merge->next_slots;

    if (merge->event.kind == PROBITY_EVENT_LOST)
        return !seen->is_past && !is_new;
    if (seen->is_past || !probity_event_is_record(merge->event.kind))
        return 0;
    seen->is_past = 1;
    merge->next_threads -= !is_new;
    return !is_new;
}

/* Whether the event is requested: 1, 0, or -1 if no later event is either. */
static int judge(struct probity_merge *merge)
{
    if (merge->is_next_only)
        return take_next(merge);
    if (merge->is_skipping && merge->open[0].key < merge->skip_key)
        return 0;
    /* Profiling and sites are switched for all threads. */
    if (merge->open[0].block->is_of_other_lane && merge->event.kind != PROBITY_EVENT_PROFILING &&
        merge->event.kind != PROBITY_EVENT_SITES_SWITCHED)
        return 0;
    return (merge->from_ns | merge->to_ns) != 0 ? range_judge(merge) : 1;
}

/* Takes events until one is requested. got: result of the latest step. */
static int next_wanted(struct probity_merge *merge, int got)
{
    int judged;

    while (got == 1 && (judged = judge(merge)) != 1) {
        if (judged < 0)
            return 0;
        got = step(merge);
    }
    return got;
}

/* Continues with the declarations when no thread needs another record. */
static __attribute__((noinline)) int
next_of_threads(struct probity_merge *merge)
{
    int got = merge->next_threads > 0 ? next_wanted(merge, step(merge)) : 0;

    if (got != 0)
        return got;
    merge->is_next_only = 0;
    got = probity_merge_skip_rest(merge);
    merge->skip_key = merge->next_key;
    return got == 0 ? next_wanted(merge, step(merge)) : got;
}

static __attribute__((noinline)) int
next_from(struct probity_merge *merge, struct probity_open_block *block, int has_more)
{
    return next_wanted(merge, step_from(merge, block, has_more));
}

static __attribute__((noinline)) int
next_any(struct probity_merge *merge)
{
    return next_wanted(merge, step(merge));
}

/* Takes the next record of a block whose records are all requested, if it does not have the
 * expected form. */
static __attribute__((noinline)) int
next_rare(struct probity_merge *merge, struct probity_open_block *block)
{
    int has_more = probity_open_block_step_coded(block);

    if (!has_more || block->record.tick >= merge->limit)
        return next_from(merge, block, has_more);
    merge->open[0].key = block->record.tick;
    return fill_plain(merge, block);
}

/* Functions for unusual cases are tail calls. */
int probity_merge_next(struct probity_merge *merge, const struct probity_event **ret_event)
{
    *ret_event = &merge->event;
    if (__builtin_expect(!merge->running || merge->is_skipping ||
                             (merge->from_ns | merge->to_ns) != 0, 0))
        return merge->is_next_only ? next_of_threads(merge) : next_any(merge);
    struct probity_open_block *block = merge->open[0].block;
    probity_assert(merge->open_count > 0);
    if (__builtin_expect(block->is_of_other_lane || block->trace->by_wall, 0))
        return next_any(merge);
    if (__builtin_expect(!probity_unpack_expected(&block->unpacker, &block->record), 0))
        return next_rare(merge, block);
    uint64_t tick = block->record.tick;
    block->taken++;
    if (__builtin_expect(tick > block->horizon || tick >= merge->limit, 0))
        return next_from(merge, block, tick <= block->horizon);
    merge->open[0].key = tick;
    return fill_plain(merge, block);
}

/* Returns the merge time of the latest event, whose block may have ended with it. */
static uint64_t latest_key(struct probity_merge *merge)
{
    const struct probity_event *event = &merge->event;

    if (merge->running)
        return merge->open[0].key;
    return event->tick != 0 ? probity_trace_key(&merge->traces[event->trace], event->tick) : 0;
}

int probity_merge_skip_rest(struct probity_merge *merge)
{
    int error = 0, is_at_start = merge->event.tick == 0 && !merge->running;

    merge->skip_key = latest_key(merge);
    merge->is_skipping = 1;
    for (size_t i = 0; i < merge->open_count; i++)
        probity_open_block_recycle(merge, merge->open[i].block);
    merge->open_count = merge->queue.count = 0;
    merge->queue.trace_bytes = 0;
    merge->running = 0;
    merge->safe = UINT64_MAX;
    merge->all_done = 1;
    for (size_t i = 0; error == 0 && i < merge->trace_count; i++)
        error = probity_trace_skip_rest(&merge->traces[i], is_at_start, &merge->queue);
    return error;
}

void probity_merge_next_only(struct probity_merge *merge)
{
    merge->is_next_only = merge->is_skipping = 1;
    merge->next_key = latest_key(merge);
    merge->next_threads = merge->next_slots = merge->threads.count;
    if (merge->running)
        (void)take_next(merge);
    for (size_t i = 0; i < merge->trace_count; i++)
        merge->traces[i].wanted = &merge->threads;
}

void probity_merge_release(struct probity_merge *merge)
{
    struct probity_open_block *block;

    for (size_t i = 0; i < merge->open_count; i++)
        probity_open_block_recycle(merge, merge->open[i].block);
    while ((block = merge->free_blocks) != NULL) {
        merge->free_blocks = block->next_free;
        free(block->bytes);
        free(block);
    }
    free(merge->open);
    probity_queue_release(&merge->queue);
    probity_threads_release(&merge->threads);
}
