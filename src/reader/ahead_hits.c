/* SPDX-License-Identifier: MIT
 *
 * ahead_hits.c: the fast path of reading ahead: unpacks hits, enters and leaves of one word
 * directly into a batch, and switches between open blocks. probity_merge_next() does everything
 * else; the results are the same as if it did all. Runs in the second thread.
 */
#include "base/assert.h"
#include "base/ticks.h"
#include "reader/ahead_items.h"

/* The block that is being unpacked, in registers. */
struct cursor {
    struct probity_open_block *block;
    const uint8_t *at, *end;
    uint64_t tick, previous, cpu_ns;
    struct probity_clock_line line;
    uint16_t run;
};

/* Events to take. */
struct span {
    uint64_t from_ns, end_ns;
    uint64_t bound; /* key at which another block may come first */
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
    struct probity_ahead_code *item = probity_ahead_put(room, ITEM_CODE, sizeof *item);
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

/* Traces have few codes, mostly small ones. */
uint32_t probity_ahead_put_code(struct probity_ahead_places *places,
                                struct probity_ahead_room *room, struct probity_trace *trace,
                                uint64_t code)
{
    uint64_t key = code << 16 | trace->number;
    uint32_t place = (uint32_t)(code + 64 * trace->number) % PROBITY_AHEAD_CODES;

    if (__builtin_expect(places->codes[place].key == key &&
                             places->codes[place].changes == trace->names.changes + 1, 1))
        return place;
    places->codes[place].key = key;
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
    cursor->line = block->trace->clock->line;
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

static inline uint64_t cpu_ns_at(const struct probity_open_block *block, uint64_t tick,
                                 uint64_t off, uint64_t least_ns)
{
    uint64_t on = tick - block->data.first_tick - off;
    uint64_t cpu_ns = block->data.cpu_ns + probity_ns_of_ticks(on, block->data.rate);

    cpu_ns = (int64_t)cpu_ns > 0 ? cpu_ns : 0;
    return cpu_ns > least_ns ? cpu_ns : least_ns;
}

/* Unpacks a hit. Returns the end of its bytes, or NULL if it is something else. */
static inline const uint8_t *unpack(const struct cursor *cursor, uint64_t expected,
                                    uint64_t *ret_tick, uint64_t *ret_code)
{
    uint64_t delta, code = expected;
    const uint8_t *at = NULL;

    if (cursor->at != cursor->end)
        at = probity_varint_get(cursor->at, cursor->end, &delta);
    if (at != NULL && (delta & 1))
        at = probity_varint_get(at, cursor->end, &code);
    if (at == NULL || code < PROBITY_STREAM_CODE_FIRST ||
        code - PROBITY_STREAM_CODE_FIRST > PROBITY_STREAM_CODE_MAX ||
        __builtin_add_overflow(cursor->tick, delta >> 1, ret_tick))
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

static inline void put_hit(struct probity_ahead_places *places, struct probity_ahead_room *room,
                           struct cursor *cursor, uint64_t tick, uint64_t off, uint64_t code,
                           uint64_t wall_ns)
{
    struct probity_open_block *block = cursor->block;
    uint32_t place = probity_ahead_put_code(places, room, block->trace, code);
    struct probity_ahead_event *item = (struct probity_ahead_event *)(void *)room->at;

    probity_assert(room->end - room->at >= (ptrdiff_t)sizeof *item);
    item->head = (struct probity_ahead_item){ITEM_EVENT, cursor->run, place};
    item->tick = tick;
    item->wall_ns = wall_ns;
    item->cpu_ns = 0;
    if (block->data.flags & PROBITY_DATA_CPU_KNOWN)
        item->cpu_ns = cursor->cpu_ns = cpu_ns_at(block, tick, off, cursor->cpu_ns);
    room->at += sizeof *item;
}

/* Switches to the next block, after the current block's next hit. Returns 1
 * once its first hit is written; 0 leaves it to the merge. */
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
    if (record->kind != PROBITY_EVENT_HIT || !wall_at(cursor, span, record->tick, &wall_ns))
        return 0;
    probity_merge_set_limit(merge);
    block->trace->emitted_tick = record->tick;
    merge->running = 1;
    cursor->run = probity_ahead_put_run(places, room, block);
    put_hit(places, room, cursor, record->tick, record->off, record->code, wall_ns);
    return 1;
}

/* The next record of the current block comes after one of another block. */
static void keep_record(struct cursor *cursor, const uint8_t *after, uint64_t tick, uint64_t code)
{
    struct probity_open_block *block = cursor->block;

    probity_assert(code >= PROBITY_STREAM_CODE_FIRST);
    block->record.tick = tick;
    block->record.off = block->unpacker.off;
    block->record.kind = PROBITY_EVENT_HIT;
    block->record.code = code - PROBITY_STREAM_CODE_FIRST;
    cursor->at = after;
    cursor->tick = tick;
    cursor->previous = code;
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
    int is_going_on = merge->running && !merge->is_skipping, by_wall = merge->by_wall;

    if (!is_going_on)
        return;
    load(&cursor, merge, merge->open[0].block);
    cursor.run = probity_ahead_put_run(places, room, cursor.block);
    while (is_going_on && room->end - room->at >= PROBITY_AHEAD_EVENT_BYTES_MAX) {
        struct probity_open_block *block = cursor.block;
        uint64_t *expected = &block->unpacker.table[probity_stream_slot(cursor.previous)];
        uint64_t tick, code, wall_ns;
        const uint8_t *after = unpack(&cursor, *expected, &tick, &code);
        if (after == NULL || tick > block->horizon || !wall_at(&cursor, &span, tick, &wall_ns))
            break;
        uint64_t key = by_wall ? wall_ns : tick;
        *expected = code;
        block->taken++;
        if (key >= merge->limit) {
            keep_record(&cursor, after, tick, code);
            save(&cursor, merge);
            is_going_on = change_block(&cursor, merge, places, room, &span, key);
            continue;
        }
        put_hit(places, room, &cursor, tick, block->unpacker.off, code - PROBITY_STREAM_CODE_FIRST,
                wall_ns);
        cursor.at = after;
        cursor.tick = tick;
        cursor.previous = code;
        merge->open[0].key = key;
    }
    if (!is_going_on)
        return;
    save(&cursor, merge);
    probity_merge_start_block(merge, cursor.block);
}
