/* SPDX-License-Identifier: MIT
 *
 * ahead_hits.c: the fast path of reading ahead, and of runs: unpacks hits, enters and leaves of one
 * word directly into a batch, and switches between open blocks. probity_merge_next() does
 * everything else. The results are the same as if it did everything. Runs in the second thread, if
 * there is one.
 */
#include "base/assert.h"
#include "base/ticks.h"
#include "reader/ahead_items.h"

/* The block that is being unpacked. */
struct cursor {
    struct probity_open_block *block;
    const uint8_t *at, *end;
    uint64_t tick, previous, cpu_ns;
    uint64_t cpu_tick; /* the tick at which its CPU time, less the time off the CPU, would begin */
    struct probity_clock_line line;
    uint64_t changes; /* changes: of the trace's names, + 1 */
    uint32_t trace;
    uint16_t run;
};

/* Which events to take. */
struct span {
    uint64_t from_ns, end_ns;
    uint64_t bound; /* key from which on another block may come first */
};

uint16_t probity_ahead_put_run(struct probity_ahead_places *places,
                               struct probity_ahead_room *room,
                               const struct probity_open_block *block)
{
    uint16_t place = block->serial % PROBITY_AHEAD_RUNS;

    probity_assert(block->serial != 0);
    if (__builtin_expect(places->runs[place] == block->serial, 1))
        return place;
    const struct probity_info *info = &block->trace->facts.info;
    probity_assert(room->end - room->at >= (ptrdiff_t)sizeof(struct probity_ahead_run));
    struct probity_ahead_run *run = probity_ahead_put(room, ITEM_RUN, sizeof *run);
    places->runs[place] = block->serial;
    run->head.run = place;
    run->trace = block->trace->number;
    run->thread = block->data.thread;
    run->thread_slot = block->slot;
    run->tid = block->data.tid;
    run->pid = info->pid;
    run->cpu_known = (block->data.flags & PROBITY_DATA_CPU_KNOWN) != 0;
    run->wall_known = (info->flags & PROBITY_INFO_WALL_TIME) != 0;
    run->late = (block->data.flags & PROBITY_DATA_LATE) != 0;
    return place;
}

static void put_new_code(struct probity_ahead_room *room, struct probity_trace *trace,
                         uint64_t code, uint32_t place)
{
    struct probity_run_code *item = probity_ahead_put(room, ITEM_CODE, sizeof *item);
    const struct probity_name *name = NULL;

    probity_assert(place < PROBITY_AHEAD_CODES);
    if ((code & 1) || trace->has_probe_names)
        name = probity_names_find(&trace->names, code);
    item->place = place;
    item->id = (uint32_t)(code >> 1);
    item->is_site = code & 1;
    item->kind = PROBITY_EVENT_HIT;
    item->name = name != NULL ? name->bytes : NULL;
    item->name_bytes = name != NULL ? name->length : 0;
    item->function = name != NULL ? name->function : NULL;
    if (item->function == NULL)
        return;
    item->kind = (uint16_t)probity_function_event(item->function, item->id);
    item->id = item->function->number;
    item->is_site = 0;
}

uint32_t probity_ahead_put_new_code(struct probity_ahead_places *places,
                                    struct probity_ahead_room *room, struct probity_trace *trace,
                                    uint64_t code)
{
    uint32_t place = probity_ahead_place_of(trace->number, code);

    places->codes[place].key = probity_ahead_key_of(trace->number, code);
    places->codes[place].changes = trace->names.changes + 1;
    put_new_code(room, trace, code, place);
    return place;
}

static void load(struct cursor *cursor, struct probity_merge *merge,
                 struct probity_open_block *block)
{
    probity_assert(block->slot < merge->threads.count);
    cursor->block = block;
    cursor->at = block->unpacker.at;
    cursor->end = block->unpacker.end;
    cursor->tick = block->unpacker.tick;
    cursor->previous = block->unpacker.previous;
    cursor->cpu_ns = merge->threads.seen[block->slot].cpu_ns;
    cursor->cpu_tick = block->data.first_tick + block->unpacker.off;
    cursor->line = block->trace->clock->line;
    cursor->changes = block->trace->names.changes + 1;
    cursor->trace = block->trace->number;
}

static void save(const struct cursor *cursor, struct probity_merge *merge)
{
    struct probity_open_block *block = cursor->block;

    probity_assert(cursor->at <= cursor->end);
    block->unpacker.at = cursor->at;
    block->unpacker.tick = cursor->tick;
    block->unpacker.previous = cursor->previous;
    merge->threads.seen[block->slot].cpu_ns = cursor->cpu_ns;
}

static inline uint64_t cpu_ns_at(const struct probity_open_block *block, uint64_t cpu_tick,
                                 uint64_t tick, uint64_t least_ns)
{
    uint64_t cpu_ns =
        block->data.cpu_ns + probity_ns_of_ticks(tick - cpu_tick, block->data.rate);

    cpu_ns = (int64_t)cpu_ns > 0 ? cpu_ns : 0;
    return cpu_ns > least_ns ? cpu_ns : least_ns;
}

/* Unpacks a delta, and the code if it is not the expected one. Returns the end of their bytes, or
 * NULL if they do not have this form. */
static inline const uint8_t *unpack_numbers(const uint8_t *at, const uint8_t *end,
                                            uint64_t *ret_delta, uint64_t *code)
{
    if (__builtin_expect(end - at >= 2 * PROBITY_VARINT_BYTES_MAX, 1)) {
        at = probity_varint_get_short(at, ret_delta);
        return at != NULL && (*ret_delta & 1) ? probity_varint_get_short(at, code) : at;
    }
    at = at != end ? probity_varint_get(at, end, ret_delta) : NULL;
    return at != NULL && (*ret_delta & 1) ? probity_varint_get(at, end, code) : at;
}

/* Unpacks a hit. Returns the end of its bytes, or NULL if it is not a hit of this form. */
static inline const uint8_t *unpack(const struct cursor *cursor, uint64_t expected,
                                    uint64_t *ret_tick, uint64_t *ret_code)
{
    uint64_t delta, code = expected;
    const uint8_t *at = unpack_numbers(cursor->at, cursor->end, &delta, &code);

    if (__builtin_expect(at == NULL || code - PROBITY_STREAM_CODE_FIRST > PROBITY_STREAM_CODE_MAX ||
                             __builtin_add_overflow(cursor->tick, delta >> 1, ret_tick), 0))
        return NULL;
    *ret_code = code;
    return at;
}

/* Whether the wall time at a tick can be computed here, and is in the span: 1 or 0. */
static inline int wall_at(const struct cursor *cursor, const struct span *span, uint64_t tick,
                          uint64_t *ret_wall_ns)
{
    uint64_t ticks = tick - cursor->line.start;

    *ret_wall_ns = cursor->line.base_ns + probity_clock_line_at(&cursor->line, ticks);
    return ticks < cursor->line.span && *ret_wall_ns >= span->from_ns &&
           *ret_wall_ns < span->end_ns;
}

/* Writes a hit, for which there is room. */
static inline void put_hit(struct probity_ahead_places *places, struct probity_ahead_room *room,
                           struct cursor *cursor, uint64_t tick, uint64_t code, uint64_t wall_ns)
{
    const struct probity_open_block *block = cursor->block;
    uint32_t place = probity_ahead_place_of(cursor->trace, code);

    if (__builtin_expect(places->codes[place].key != probity_ahead_key_of(cursor->trace, code) ||
                             places->codes[place].changes != cursor->changes, 0))
        probity_ahead_put_new_code(places, room, block->trace, code);
    struct probity_run_event *item = (struct probity_run_event *)(void *)room->at;
    item->head = (struct probity_run_item){ITEM_EVENT, cursor->run, place};
    item->tick = tick;
    item->wall_ns = wall_ns;
    item->cpu_ns = 0;
    if (block->data.flags & PROBITY_DATA_CPU_KNOWN)
        item->cpu_ns = cursor->cpu_ns = cpu_ns_at(block, cursor->cpu_tick, tick, cursor->cpu_ns);
    room->at += sizeof *item;
}

/* Stores the next record of the block, which comes after a record of another block. */
static void keep_record(struct cursor *cursor, uint64_t tick, uint64_t code)
{
    struct probity_open_block *block = cursor->block;

    probity_assert(code >= PROBITY_STREAM_CODE_FIRST);
    block->record.tick = tick;
    block->record.off = block->unpacker.off;
    block->record.kind = PROBITY_EVENT_HIT;
    block->record.code = code - PROBITY_STREAM_CODE_FIRST;
}

enum stop { STOP_FULL, STOP_RARE, STOP_OTHER_FIRST };

/* Whether the wall time of all ticks of the line up to `last` is in the span. */
static int is_in_span(const struct probity_clock_line *line, const struct span *span, uint64_t last)
{
    uint64_t ticks = last - line->start;
    probity_clock_product last_ns = (probity_clock_product)ticks * line->fraction >> 64;

    last_ns += (probity_clock_product)ticks * line->whole + line->base_ns;
    return (span->from_ns == 0 && span->end_ns == UINT64_MAX) ||
           (line->base_ns >= span->from_ns && last_ns < span->end_ns);
}

/* Returns the end of the ticks, from the current one on, in which a hit needs no check, since it is
 * the next event and in the span. 0: each hit is checked. */
static uint64_t unchecked_end(const struct cursor *cursor, const struct probity_merge *merge,
                              const struct span *span)
{
    const struct probity_clock_line *line = &cursor->line;
    uint64_t last = cursor->block->data.last_tick, end = line->start + line->span;

    if (merge->by_wall || cursor->tick < line->start || end < line->span || last < line->start)
        return 0;
    end = last < end ? last : end;
    end = cursor->block->horizon < end ? cursor->block->horizon : end;
    end = merge->limit < end ? merge->limit : end;
    return is_in_span(line, span, end) ? end : 0;
}

/* Whether a hit is in the span, and may be taken from its block. */
static inline int is_usual(const struct cursor *cursor, const struct span *span, uint64_t tick,
                           uint64_t *ret_wall_ns)
{
    return wall_at(cursor, span, tick, ret_wall_ns) && tick <= cursor->block->horizon;
}

/* Unpacks hits of the current block. Returns STOP_OTHER_FIRST, with the key of the next hit, which
 * is kept, if another block comes first. The copies of the cursor and the room are in registers. */
static inline enum stop put_block(struct cursor *cursor, struct probity_merge *merge,
                                  struct probity_ahead_places *places,
                                  struct probity_ahead_room *room, const struct span *span,
                                  uint64_t *ret_key)
{
    const uint64_t end = unchecked_end(cursor, merge, span);
    struct cursor now = *cursor;
    struct probity_ahead_room left = *room;
    uint64_t *table = now.block->unpacker.table, tick, code, wall_ns, key = merge->open[0].key;
    enum stop stop = STOP_FULL;
    uint32_t taken = 0;

    while (stop == STOP_FULL && left.end - left.at >= PROBITY_AHEAD_EVENT_BYTES_MAX) {
        uint64_t *expected = &table[probity_stream_slot(now.previous)];
        const uint8_t *after = unpack(&now, *expected, &tick, &code);
        if (__builtin_expect(after == NULL, 0) ||
            (__builtin_expect(tick >= end, 0) && !is_usual(&now, span, tick, &wall_ns))) {
            stop = STOP_RARE;
            break;
        }
        wall_ns = now.line.base_ns + probity_clock_line_at(&now.line, tick - now.line.start);
        *expected = code;
        taken++;
        now.at = after;
        now.tick = tick;
        now.previous = code;
        key = tick;
        if (__builtin_expect(tick >= end, 0))
            key = merge->by_wall ? wall_ns : tick;
        if (__builtin_expect(tick < end || key < merge->limit, 1))
            put_hit(places, &left, &now, tick, code - PROBITY_STREAM_CODE_FIRST, wall_ns);
        else
            stop = STOP_OTHER_FIRST;
    }
    if (stop == STOP_OTHER_FIRST)
        keep_record(&now, tick, code);
    else
        merge->open[0].key = key;
    *cursor = now;
    *room = left;
    now.block->taken += taken;
    *ret_key = key;
    return stop;
}

/* Switches to the next block, after the next hit of the current block. Returns 1 when the first hit
 * of the new block is written; 0 if this is left to the merge. */
static int change_block(struct cursor *cursor, struct probity_merge *merge,
                        struct probity_ahead_places *places, struct probity_ahead_room *room,
                        const struct span *span, uint64_t key)
{
    uint64_t wall_ns;

    probity_assert(merge->open_count > 0);
    probity_merge_replace_first(merge, (struct probity_open_entry){key, cursor->block});
    merge->running = 0;
    if (merge->open[0].key >= span->bound)
        return 0;
    struct probity_open_block *block = merge->open[0].block;
    const struct probity_record *record = &block->record;
    load(cursor, merge, block);
    if (record->kind != PROBITY_EVENT_HIT || block->is_of_other_lane ||
        !wall_at(cursor, span, record->tick, &wall_ns))
        return 0;
    probity_merge_set_limit(merge);
    block->trace->emitted_tick = record->tick;
    merge->running = 1;
    cursor->run = probity_ahead_put_run(places, room, block);
    cursor->cpu_tick = block->data.first_tick + record->off;
    put_hit(places, room, cursor, record->tick, record->code, wall_ns);
    return 1;
}

static struct span span_of(const struct probity_merge *merge, uint64_t end_ns)
{
    struct span span = {merge->from_ns, end_ns, merge->all_done ? UINT64_MAX : merge->safe};

    probity_assert(merge->trace_count > 0);
    if (merge->to_ns != 0 && merge->to_ns < end_ns)
        span.end_ns = merge->to_ns;
    if (merge->queue.count > 0 && merge->queue.items[0].key < span.bound)
        span.bound = merge->queue.items[0].key;
    return span;
}

void probity_ahead_hits(struct probity_merge *merge, struct probity_ahead_places *places,
                        uint64_t end_ns, struct probity_ahead_room *room)
{
    const struct span span = span_of(merge, end_ns);
    struct cursor cursor;
    enum stop stop = STOP_FULL;
    uint64_t key;

    if (!merge->running || merge->is_skipping || merge->open[0].block->is_of_other_lane)
        return;
    load(&cursor, merge, merge->open[0].block);
    cursor.run = probity_ahead_put_run(places, room, cursor.block);
    while (room->end - room->at >= PROBITY_AHEAD_EVENT_BYTES_MAX && stop != STOP_RARE) {
        stop = put_block(&cursor, merge, places, room, &span, &key);
        if (stop != STOP_OTHER_FIRST)
            break;
        save(&cursor, merge);
        if (!change_block(&cursor, merge, places, room, &span, key))
            return;
    }
    save(&cursor, merge);
    probity_merge_start_block(merge, cursor.block);
}
