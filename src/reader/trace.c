/* SPDX-License-Identifier: MIT
 *
 * trace.c: opens one trace and moves the scan cursor from SYNC to SYNC. Passes the blocks in
 * between to the merge, with the tick up to which it may advance.
 */
#include "reader/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "probity.h"
#include "reader/file.h"

/* Reads the first block, which is needed to decode the others. */
static int read_info(struct probity_trace *trace)
{
    struct probity_scan scan;
    struct probity_scan_item item;
    int got = probity_scan_init_range(&scan, &trace->range, trace->facts.file_bytes, 0);

    if (got == 0)
        got = probity_scan_next(&scan, &item);
    if (got >= 0 && (got == 0 || item.kind != PROBITY_SCAN_BLOCK ||
                     item.header.type != PROBITY_BLOCK_INFO))
        got = PROBITY_ERROR_DAMAGED;
    if (got > 0) {
        trace->info_bytes = malloc((size_t)item.header.payload_bytes + 1);
        got = trace->info_bytes == NULL ? PROBITY_ERROR_MEMORY : 0;
    }
    if (got == 0) {
        probity_assert(item.header.payload_bytes <= PROBITY_BLOCK_PAYLOAD_MAX);
        memcpy(trace->info_bytes, item.payload, item.header.payload_bytes);
        got = probity_info_get(trace->info_bytes, item.header.payload_bytes, &trace->facts.info);
    }
    probity_scan_release(&scan);
    return got;
}

static int start(struct probity_trace *trace, const struct probity_reader_options *options)
{
    int error = probity_trace_measure(trace);

    if (error == 0)
        error = read_info(trace);
    if (error == 0)
        error = probity_trace_look(trace, options);
    trace->is_followed = trace->is_followed && trace->facts.state == PROBITY_TRACE_LIVE;
    if (error == 0)
        error = probity_scan_init_range(&trace->scan, &trace->range, trace->facts.file_bytes, 0);
    if (trace->is_followed && trace->scan.size > trace->rest.header.committed)
        trace->scan.size = trace->rest.header.committed;
    trace->own_clock.nominal_rate = trace->has_rest ? trace->rest.rate : trace->facts.info.rate;
    if (error == 0)
        error = probity_clockmap_add(&trace->own_clock, &trace->facts.info.anchor);
    return error;
}

void probity_trace_share_clock(struct probity_trace *trace, struct probity_clockmap *clock)
{
    struct probity_trace_facts *facts = &trace->facts;

    probity_assert(clock != NULL);
    trace->clock = clock;
    if (facts->first_tick == 0 && facts->last_tick == 0)
        return;
    facts->first_wall_ns = probity_clockmap_wall(clock, facts->first_tick);
    facts->last_wall_ns = probity_clockmap_wall(clock, facts->last_tick);
}

int probity_trace_open(const char *path, uint32_t number,
                       const struct probity_reader_options *options,
                       struct probity_trace *ret_trace)
{
    struct probity_trace trace = {.number = number, .range = {.file = -1}, .hint_file = -1,
                                  .horizon = UINT64_MAX, .index = {.file = -1},
                                  .sched = {.range = {.file = -1}},
                                  .is_settled = options->settled};
    int error = probity_range_open(path, &trace.range);

    if (error != 0)
        return error;
    trace.path = strdup(path);
    trace.facts.path = trace.path;
    error = trace.path == NULL ? PROBITY_ERROR_MEMORY : start(&trace, options);
    if (error != 0)
        probity_trace_release(&trace);
    else
        *ret_trace = trace;
    if (error == 0)
        ret_trace->clock = &ret_trace->own_clock;
    if (error == 0 && ret_trace->sched.range.file >= 0)
        ret_trace->facts.sched = &ret_trace->sched.info;
    return error;
}

void probity_trace_release(struct probity_trace *trace)
{
    if (trace->has_rest)
        probity_spool_tail_release(&trace->rest);
    probity_scan_release(&trace->scan);
    probity_clockmap_release(&trace->own_clock);
    probity_clockmap_release(&trace->prescanned);
    probity_names_release(&trace->names);
    probity_switched_release(&trace->switched);
    probity_functions_release(&trace->functions);
    probity_hit_count_release(&trace->tally);
    probity_profile_parts_release(&trace->profile);
    probity_sites_places_release(&trace->sites);
    probity_drops_release(&trace->drops);
    probity_lanes_release(&trace->lanes);
    probity_index_release(&trace->index);
    probity_sched_file_release(&trace->sched);
    free(trace->pending.items);
    free(trace->extras.items);
    free(trace->late.offsets);
    free(trace->info_bytes);
    free(trace->dump);
    free(trace->path);
    if (trace->range.file >= 0)
        close(trace->range.file);
    if (trace->hint_file >= 0)
        close(trace->hint_file);
    memset(trace, 0, sizeof *trace);
    trace->range.file = trace->hint_file = trace->index.file = trace->sched.range.file = -1;
}

/* Passes on blocks that may open before the scan cursor's new position. */
static int flush(struct probity_trace *trace, struct probity_queue *queue)
{
    struct probity_waiting_list *pending = &trace->pending, *extras = &trace->extras;
    int error = 0;

    probity_assert(extras->next <= extras->count);
    for (size_t i = 0; error == 0 && i < pending->count; i++) {
        pending->items[i].key = probity_trace_key(trace, pending->items[i].tick);
        error = probity_queue_push(queue, &pending->items[i]);
    }
    pending->count = 0;
    for (; error == 0 && extras->next < extras->count; extras->next++) {
        struct probity_waiting *extra = &extras->items[extras->next];
        if (extra->tick > trace->safe_tick && !trace->is_done)
            break;
        extra->key = probity_trace_key(trace, extra->tick);
        error = probity_queue_push(queue, extra);
    }
    return error;
}

/* Whether a block is one of those passed on by time. Offsets increase from call to call. */
static int is_handed_on(struct probity_late_places *late, uint64_t offset)
{
    probity_assert(late->next <= late->count);
    while (late->next < late->count && late->offsets[late->next] < offset)
        late->next++;
    return late->next < late->count && late->offsets[late->next] == offset;
}

static int pass_data(struct probity_trace *trace, const struct probity_scan_item *item)
{
    struct probity_data data;

    probity_assert(item->header.type == PROBITY_BLOCK_DATA);
    if (probity_data_get(item->payload, item->header.payload_bytes, &data) != 0)
        return 0;
    if (is_handed_on(&trace->late, item->offset))
        return 0;
    if (trace->lane != 0 && !(data.flags & PROBITY_DATA_HAS_EVENTS) &&
        !probity_lanes_have(&trace->lanes, trace->lane, data.thread))
        return 0;
    if (trace->wanted != NULL) {
        int64_t slot = probity_threads_find(trace->wanted, trace->number, data.thread);
        if (slot < 0 || trace->wanted->seen[slot].is_past)
            return 0;
    }
    return probity_waiting_list_add(
        &trace->pending, &(struct probity_waiting){0, data.first_tick, item->offset,
                                                   (uint32_t)item->bytes, trace->number});
}

/* Passes a SYNC: all records before the watermark have been seen, and those before the anchor have
 * their final wall time. */
static int pass_sync(struct probity_trace *trace, const struct probity_scan_item *item)
{
    struct probity_sync sync;

    if (probity_sync_get(item->payload, item->header.payload_bytes, &sync) != 0)
        return 0;
    if (trace->own_clock.count > 16)
        probity_clockmap_forget(&trace->own_clock, trace->emitted_tick);
    int error = probity_clockmap_add(&trace->own_clock, &sync.anchor);
    trace->watermark = sync.watermark > trace->watermark ? sync.watermark : trace->watermark;
    probity_assert(trace->own_clock.count > 0);
    uint64_t safe = trace->own_clock.anchors[trace->own_clock.count - 1].ticks;
    safe = sync.watermark < safe ? sync.watermark : safe;
    trace->safe_tick = safe > trace->safe_tick ? safe : trace->safe_tick;
    return error;
}

static int finish(struct probity_trace *trace)
{
    int error = trace->is_followed ? probity_trace_conclude(trace) : 0;

    probity_assert(!trace->is_done);
    for (size_t i = 0; error == 0 && trace->has_rest && i < trace->rest.anchor_count; i++)
        error = probity_clockmap_add(&trace->own_clock, &trace->rest.anchors[i]);
    trace->is_done = 1;
    return error;
}

/* ---- With an index -----------------------------------------------------------------------------
 */

static int push_index_block(struct probity_trace *trace, const struct probity_index_block *block,
                            struct probity_queue *queue)
{
    const struct probity_waiting waiting = {
        probity_trace_key(trace, block->first_tick), block->first_tick,
        block->offset | PROBITY_WAITING_IN_INDEX, block->bytes, trace->number};

    probity_assert((block->offset & PROBITY_WAITING_IN_INDEX) == 0);
    return probity_queue_push(queue, &waiting);
}

int probity_trace_start_at_mark(struct probity_trace *trace, struct probity_queue *queue)
{
    struct probity_index *index = &trace->index;
    int error = 0;

    probity_assert(index->file >= 0);
    if (index->mark.offset == 0)
        return 0;
    trace->scan.offset = index->mark.offset;
    trace->scan.serial = index->mark.serial;
    if (trace->sched.count > 0) { /* only a closed trace has an index: there are no other extras */
        probity_sched_file_start_at(&trace->sched, index->mark.last_tick);
        trace->extras.count = 0;
        error = probity_trace_add_sched_blocks(trace);
    }
    for (size_t i = 0; error == 0 && i < index->declared.count; i++) {
        if (index->declared.items[i].offset < index->mark_place)
            error = push_index_block(trace, &index->declared.items[i], queue);
    }
    for (size_t i = 0; error == 0 && i < index->threads.count; i++) {
        if (index->threads.items[i].bytes != 0)
            error = push_index_block(trace, &index->threads.items[i], queue);
    }
    return error;
}

int probity_trace_skip_rest(struct probity_trace *trace, int is_at_start,
                            struct probity_queue *queue)
{
    const struct probity_index *index = &trace->index;
    uint64_t after = is_at_start ? 0 : index->mark_place;
    int error = 0;

    trace->is_done = 1;
    trace->pending.count = 0;
    for (size_t i = 0; error == 0 && i < index->declared.count; i++) {
        if (index->declared.items[i].offset > after)
            error = push_index_block(trace, &index->declared.items[i], queue);
    }
    return error;
}

/* ---- The scan cursor ---------------------------------------------------------------------------
 */

/* Called when the scan cursor has reached its limit. Returns 0 if it may continue, and 1 at the
 * end. */
static int go_on(struct probity_trace *trace)
{
    return trace->is_followed ? probity_trace_follow_on(trace) : 1;
}

int probity_trace_advance(struct probity_trace *trace, struct probity_queue *queue)
{
    struct probity_scan_item item;
    int got, is_sync = 0, error = 0, ends = 0;

    probity_assert(!trace->is_done);
    do {
        got = probity_scan_next(&trace->scan, &item);
        if (got < 0)
            return got;
        if (got == 0)
            ends = go_on(trace);
        /* A prescan has counted the damage that it found; an index does not show any. */
        if (got > 0 && item.kind != PROBITY_SCAN_BLOCK && trace->index.file >= 0)
            probity_trace_note_damage(trace, item.offset, item.bytes);
        if (got == 0 || item.kind != PROBITY_SCAN_BLOCK)
            continue;
        is_sync = item.header.type == PROBITY_BLOCK_SYNC || item.header.type == PROBITY_BLOCK_END;
        if (is_sync)
            error = pass_sync(trace, &item);
        else if (item.header.type == PROBITY_BLOCK_DATA)
            error = pass_data(trace, &item);
    } while (error == 0 && ends == 0 && !is_sync);
    if (ends < 0)
        return ends;
    if (error == 0 && (ends == 1 || (is_sync && item.header.type == PROBITY_BLOCK_END)))
        error = finish(trace);
    if (error == 0)
        error = flush(trace, queue);
    return error == 0 && ends == PROBITY_READER_WAITS ? PROBITY_READER_WAITS : error;
}
