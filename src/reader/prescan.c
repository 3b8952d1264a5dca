/* SPDX-License-Identifier: MIT
 *
 * prescan.c: the first pass over a trace; reads block headers only, unless requested otherwise.
 * Finds what the merge needs in advance (late blocks, and words that are already in the file), and
 * the facts for `info`.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "probity.h"
#include "reader/file.h"
#include "reader/threads.h"
#include "reader/trace.h"

enum {
    LATE_KEPT_MAX = 65536, /* further late blocks are passed on in file order */
    PROGRESS_BLOCKS = 4096
};

/* The span of DATA blocks since the last SYNC, according to their headers. */
struct claimed_span {
    uint64_t first_tick, last_tick;
    struct probity_scan_item first, last; /* the blocks that have these ticks */
    struct probity_scan_item begin;       /* the first of all blocks */
    int has_records;
};

struct prescan {
    struct probity_trace *trace;
    struct probity_trace_facts *facts;
    struct probity_threads_seen threads;
    struct probity_clockmap clock;
    int is_joined; /* keep the clock's anchors, to join them with those of other traces */
    struct claimed_span claimed;
    uint64_t watermark, anchor_tick; /* the latest ones */
    int has_records, first_is_new, ended, has_sync;
    int is_counting; /* decode enough to distinguish hits from events */
    int has_lanes;
};

/* Keeps the pairs of anchors around the first and the latest record, so that their times match
 * those of the merge, and the pairs around all records still to come, which are not older than the
 * watermark. */
static int take_anchor(struct prescan *prescan, const struct probity_anchor *anchor,
                       uint64_t watermark)
{
    struct probity_trace_facts *facts = prescan->facts;
    uint64_t bound = ((uint64_t)anchor->width_ns + 1) / 2;
    int error = probity_clockmap_add(&prescan->clock, anchor);

    probity_assert(prescan->clock.count <= prescan->clock.capacity);
    facts->clock_bound_ns = bound > facts->clock_bound_ns ? bound : facts->clock_bound_ns;
    if (error != 0 || prescan->is_joined)
        return error;
    if (prescan->first_is_new && prescan->clock.count > 1 && anchor->ticks > facts->first_tick) {
        facts->first_wall_ns = probity_clockmap_wall(&prescan->clock, facts->first_tick);
        prescan->first_is_new = 0;
    }
    uint64_t needed = prescan->has_records ? facts->last_tick : anchor->ticks;
    needed = watermark < needed ? watermark : needed;
    if (prescan->first_is_new && facts->first_tick < needed)
        needed = facts->first_tick;
    probity_clockmap_forget(&prescan->clock, needed < anchor->ticks ? needed : anchor->ticks);
    return 0;
}

static void take_span(struct prescan *prescan, uint64_t first_tick, uint64_t last_tick)
{
    struct probity_trace_facts *facts = prescan->facts;

    if (!prescan->has_records || first_tick < facts->first_tick) {
        facts->first_tick = first_tick;
        prescan->first_is_new = 1;
    }
    if (!prescan->has_records || last_tick > facts->last_tick)
        facts->last_tick = last_tick;
    prescan->has_records = 1;
}

/* Takes the span that a block's header claims; it is used once the next SYNC has been read. */
static void claim_span(struct prescan *prescan, const struct probity_data *data,
                       const struct probity_scan_item *item)
{
    struct claimed_span *claimed = &prescan->claimed;

    if (!claimed->has_records)
        claimed->begin = *item;
    if (!claimed->has_records || data->first_tick < claimed->first_tick) {
        claimed->first_tick = data->first_tick;
        claimed->first = *item;
    }
    if (!claimed->has_records || data->last_tick > claimed->last_tick) {
        claimed->last_tick = data->last_tick;
        claimed->last = *item;
    }
    claimed->has_records = 1;
}

/* Takes the span of the intact blocks since the last SYNC. */
static int take_intact_span(struct prescan *prescan, uint64_t end_offset)
{
    const struct probity_scan_item *begin = &prescan->claimed.begin;
    struct probity_scan scan;
    struct probity_scan_item item;
    struct probity_data data;
    int got = probity_scan_init_range(&scan, &prescan->trace->range, end_offset, 1);

    scan.offset = begin->offset;
    scan.serial = begin->header.serial;
    while (got >= 0 && (got = probity_scan_next(&scan, &item)) > 0) {
        if (item.kind == PROBITY_SCAN_BLOCK && item.header.type == PROBITY_BLOCK_DATA &&
            probity_data_get(item.payload, item.header.payload_bytes, &data) == 0 &&
            data.records > 0)
            take_span(prescan, data.first_tick, data.last_tick);
    }
    probity_scan_release(&scan);
    return got < 0 ? got : 0;
}

/* Checks the span. A damaged header may claim any time, and shares of the recording ("50%") depend
 * on the span. So a time before the start, or after the anchor of the following SYNC, must be that
 * of an intact block. In a recovered trace, intact blocks may be later. */
static int settle_span(struct prescan *prescan, struct probity_scan *scan, uint64_t anchor_tick,
                       uint64_t end_offset)
{
    struct claimed_span *claimed = &prescan->claimed;
    int whole = 1;

    if (!claimed->has_records)
        return 0;
    claimed->has_records = 0;
    if (claimed->first_tick < prescan->facts->info.anchor.ticks)
        whole = probity_scan_verify(scan, &claimed->first);
    if (whole == 1 && claimed->last_tick > anchor_tick)
        whole = probity_scan_verify(scan, &claimed->last);
    if (whole == 0)
        return take_intact_span(prescan, end_offset);
    if (whole == 1)
        take_span(prescan, claimed->first_tick, claimed->last_tick);
    return whole < 0 ? whole : 0;
}

/* Takes the records of a block. If hits are counted, the span covers only hits and scopes, because
 * only these are shown. item: NULL for a chunk of the spool. */
static int take_records(struct prescan *prescan, const struct probity_data *data,
                        const uint8_t *payload, size_t bytes, const struct probity_scan_item *item)
{
    struct probity_hit_count *tally = &prescan->trace->tally;
    uint32_t slot;
    int error = probity_threads_slot(&prescan->threads, 0, data->thread, data->tid, &slot);

    if (error == 0 && prescan->has_lanes)
        error = probity_lanes_add(&prescan->trace->lanes, data);
    int has_span = error == 0 && !prescan->is_counting && data->records > 0;
    if (has_span && item != NULL)
        claim_span(prescan, data, item);
    else if (has_span)
        take_span(prescan, data->first_tick, data->last_tick);
    if (error != 0 || !prescan->is_counting)
        return error;
    error = probity_hit_count_add(tally, slot, data, payload, bytes);
    if (tally->has_span)
        take_span(prescan, tally->first_tick, tally->last_tick);
    return error;
}

static int add_late_place(struct probity_late_places *late, uint64_t offset)
{
    void *offsets =
        probity_array_room(late->offsets, sizeof *late->offsets, late->count, &late->capacity);
    if (offsets == NULL)
        return PROBITY_ERROR_MEMORY;
    late->offsets = offsets;
    probity_assert(late->count < late->capacity);
    late->offsets[late->count++] = offset;
    return 0;
}

static int take_late(struct prescan *prescan, const struct probity_scan_item *item,
                     const struct probity_data *data)
{
    struct probity_trace *trace = prescan->trace;

    prescan->facts->late_blocks++;
    if (trace->late.count == LATE_KEPT_MAX) {
        prescan->facts->late_records_unordered += data->records;
        return 0;
    }
    probity_assert(trace->late.count < LATE_KEPT_MAX);
    int error = add_late_place(&trace->late, item->offset);
    return error != 0
               ? error
               : probity_waiting_list_add(
                     &trace->extras,
                     &(struct probity_waiting){data->first_tick, data->first_tick, item->offset,
                                               (uint32_t)item->bytes, trace->number});
}

static int take_data(struct prescan *prescan, struct probity_scan *scan,
                     const struct probity_scan_item *item)
{
    struct probity_trace *trace = prescan->trace;
    struct probity_trace_facts *facts = prescan->facts;
    struct probity_data data;

    if (probity_data_get(item->payload, item->header.payload_bytes, &data) != 0) {
        probity_trace_note_damage(prescan->trace, item->offset, item->bytes);
        return 0;
    }
    facts->data_blocks++;
    facts->records += data.records;
    facts->holes += data.holes;
    int error = take_records(prescan, &data, item->payload, item->header.payload_bytes, item);
    /* A block older than the watermark is late even if it is not marked as late. */
    if (error == 0 && ((data.flags & PROBITY_DATA_LATE) || data.first_tick < prescan->watermark))
        error = take_late(prescan, item, &data);
    if (error != 0 || !trace->has_rest ||
        !probity_spool_tail_overlaps(&trace->rest, &data))
        return error;
    /* A block replaces its words in the tail of the spool only if its records can be read. */
    int whole = probity_scan_verify(scan, item);
    return whole == 1 ? probity_spool_tail_cover(&trace->rest, &data) : whole < 0 ? whole : 0;
}

/* Takes a failure that ended the recording before the program ended. */
static void take_failure(struct prescan *prescan, uint32_t system_error, uint64_t tick)
{
    struct probity_trace_facts *facts = prescan->facts;
    uint64_t start = facts->info.anchor.ticks;

    facts->has_failed = 1;
    facts->failed_errno = system_error <= INT32_MAX ? (int)system_error : 0;
    facts->failed_after_ns = tick > start ? probity_trace_ns_of_ticks(facts, tick - start) : 0;
}

/* Takes a SYNC. scan: NULL for a SYNC in an index. */
static int take_sync(struct prescan *prescan, struct probity_scan *scan,
                     const struct probity_scan_item *item)
{
    struct probity_trace_facts *facts = prescan->facts;
    struct probity_sync sync;

    probity_assert(item->payload != NULL);
    if (probity_sync_get(item->payload, item->header.payload_bytes, &sync) != 0) {
        probity_trace_note_damage(prescan->trace, item->offset, item->bytes);
        return 0;
    }
    prescan->has_sync = 1;
    facts->totals = sync.totals;
    prescan->watermark = sync.watermark > prescan->watermark ? sync.watermark : prescan->watermark;
    facts->totals_records_missing =
        sync.totals.records > facts->records ? sync.totals.records - facts->records : 0;
    if (item->header.type == PROBITY_BLOCK_END) {
        facts->end_reason = sync.reason;
        if (sync.reason == PROBITY_END_FAILED)
            take_failure(prescan, sync.failed_errno, sync.failed_tick);
        prescan->ended = 1;
    }
    prescan->anchor_tick = sync.anchor.ticks;
    int error = settle_span(prescan, scan, sync.anchor.ticks, item->offset);
    if (error == 0)
        error = probity_drops_see(&prescan->trace->drops, sync.anchor.realtime_ns, &sync.totals);
    return error == 0 ? take_anchor(prescan, &sync.anchor, sync.watermark) : error;
}

static void take_cost(struct prescan *prescan, const struct probity_scan_item *item)
{
    struct probity_cost cost;

    if (probity_cost_get(item->payload, item->header.payload_bytes, &cost) != 0)
        probity_trace_note_damage(prescan->trace, item->offset, item->bytes);
    else if (cost.rows > 0)
        prescan->facts->cost[cost.moment] = cost;
}

/* Takes a DUMP block; only the first one counts. */
static int take_dump(struct prescan *prescan, const struct probity_scan_item *item)
{
    struct probity_trace *trace = prescan->trace;
    size_t bytes = item->header.payload_bytes, at;
    struct probity_dump dump;

    if (trace->dump != NULL)
        return 0;
    if (probity_dump_get(item->payload, bytes, &dump, &at) != 0) {
        probity_trace_note_damage(prescan->trace, item->offset, item->bytes);
        return 0;
    }
    trace->dump = malloc(bytes);
    if (trace->dump == NULL)
        return PROBITY_ERROR_MEMORY;
    memcpy(trace->dump, item->payload, bytes);
    prescan->facts->dump = trace->dump;
    prescan->facts->dump_bytes = bytes;
    return 0;
}

static int take_item(struct prescan *prescan, struct probity_scan *scan,
                     const struct probity_scan_item *item)
{
    struct probity_trace_facts *facts = prescan->facts;

    if (item->kind == PROBITY_SCAN_CUT) {
        facts->cut_bytes = item->bytes;
        return 0;
    }
    if (item->kind == PROBITY_SCAN_DAMAGE || prescan->ended) {
        probity_trace_note_damage(prescan->trace, item->offset, item->bytes);
        return 0;
    }
    facts->blocks++;
    if (item->header.type == PROBITY_BLOCK_DATA)
        return take_data(prescan, scan, item);
    if (item->header.type == PROBITY_BLOCK_SYNC || item->header.type == PROBITY_BLOCK_END)
        return take_sync(prescan, scan, item);
    if (item->header.type == PROBITY_BLOCK_PROFILE)
        return probity_profile_parts_add(&prescan->trace->profile, item);
    if (item->header.type == PROBITY_BLOCK_SITES)
        return probity_sites_places_add(&prescan->trace->sites, item);
    if (item->header.type == PROBITY_BLOCK_DUMP)
        return take_dump(prescan, item);
    if (item->header.type == PROBITY_BLOCK_COST)
        take_cost(prescan, item);
    return 0;
}

/* Packs a chunk of the spool, because only its records show when it begins: a probe may read its
 * clock before its chunk is opened. */
static int take_chunk(struct prescan *prescan, size_t index)
{
    struct probity_trace *trace = prescan->trace;
    struct probity_trace_facts *facts = prescan->facts;
    const uint8_t *payload = trace->rest.block + PROBITY_BLOCK_HEADER_BYTES;
    struct probity_drain_output output;
    struct probity_data data;

    probity_assert(index < trace->rest.count);
    probity_spool_tail_pack(&trace->rest, index, 0, &output);
    facts->holes += trace->rest.is_alive ? 0 : output.holes;
    if (output.records == 0 ||
        probity_data_get(payload, output.block_bytes - PROBITY_BLOCK_HEADER_BYTES, &data) != 0)
        return 0;
    facts->spool_chunks++;
    facts->spool_records += output.records;
    int error =
        take_records(prescan, &data, payload, output.block_bytes - PROBITY_BLOCK_HEADER_BYTES,
                     NULL);
    return error != 0
               ? error
               : probity_waiting_list_add(
                     &trace->extras, &(struct probity_waiting){data.first_tick, data.first_tick,
                                                               index, 0, trace->number});
}

/* Treats the contents of the spool as part of the file; its counters are newer than those of the
 * last SYNC. */
static int take_rest(struct prescan *prescan)
{
    struct probity_trace *trace = prescan->trace;
    struct probity_totals *totals = &prescan->facts->totals;
    const struct probity_spool_header *header = &trace->rest.header;
    size_t anchors = trace->rest.anchor_count;

    totals->dropped_full = header->dropped_full;
    totals->dropped_memory = header->dropped_memory;
    totals->dropped_write = header->dropped_write;
    totals->stalls = header->stalls;
    totals->stall_ticks = header->stall_ticks;
    totals->unmeasured_ticks_max = header->unmeasured_ticks_max;
    totals->threads = (uint32_t)header->threads;
    if (header->failed)
        take_failure(prescan, header->failed_errno, header->failed_tick);
    int error = probity_drops_see(&trace->drops, anchors > 0
                                      ? trace->rest.anchors[anchors - 1].realtime_ns
                                      : trace->drops.seen_ns, totals);
    for (size_t i = 0; error == 0 && i < anchors; i++)
        error = take_anchor(prescan, &trace->rest.anchors[i], 0);
    for (size_t i = 0; error == 0 && i < trace->rest.count; i++)
        error = take_chunk(prescan, i);
    return error;
}

/* ---- Counting again if the trace has functions -------------------------------------------------
 */

static int count_block(struct prescan *prescan, const uint8_t *payload, size_t bytes)
{
    struct probity_data data;
    uint32_t slot;

    if (probity_data_get(payload, bytes, &data) != 0)
        return 0;
    int error = probity_threads_slot(&prescan->threads, 0, data.thread, data.tid, &slot);
    return error != 0 ? error
                      : probity_hit_count_add(&prescan->trace->tally, slot, &data, payload, bytes);
}

static int count_rest(struct prescan *prescan)
{
    struct probity_spool_tail *rest = &prescan->trace->rest;
    struct probity_drain_output output;
    int error = 0;

    for (size_t i = 0; error == 0 && i < rest->count; i++) {
        probity_spool_tail_pack(rest, i, 0, &output);
        if (output.records > 0)
            error = count_block(prescan, rest->block + PROBITY_BLOCK_HEADER_BYTES,
                                output.block_bytes - PROBITY_BLOCK_HEADER_BYTES);
    }
    return error;
}

static int count_again(struct prescan *prescan, const struct probity_reader_options *options)
{
    struct probity_trace *trace = prescan->trace;
    struct probity_scan scan;
    struct probity_scan_item item;
    uint64_t items = 0;
    int is_end = 0, got = probity_scan_init_range(&scan, &trace->range, trace->facts.file_bytes, 1);

    while (got >= 0 && !is_end && (got = probity_scan_next(&scan, &item)) > 0) {
        is_end = item.kind == PROBITY_SCAN_BLOCK && item.header.type == PROBITY_BLOCK_END;
        if (item.kind == PROBITY_SCAN_BLOCK && item.header.type == PROBITY_BLOCK_DATA)
            got = count_block(prescan, item.payload, item.header.payload_bytes);
        if (options->progress != NULL && ++items % PROGRESS_BLOCKS == 0)
            options->progress(options->progress_context, item.offset, scan.size);
    }
    probity_scan_release(&scan);
    if (got >= 0 && trace->has_rest)
        got = count_rest(prescan);
    return got < 0 ? got : 0;
}

/* ---- The end -----------------------------------------------------------------------------------
 */

static void conclude(struct prescan *prescan)
{
    struct probity_trace *trace = prescan->trace;
    struct probity_trace_facts *facts = prescan->facts;
    const struct probity_info *info = &facts->info;

    probity_assert(prescan->clock.count > 0);
    prescan->clock.nominal_rate = trace->has_rest ? trace->rest.rate : info->rate;
    prescan->clock.line.span = 0;
    if (prescan->first_is_new)
        facts->first_wall_ns = probity_clockmap_wall(&prescan->clock, facts->first_tick);
    if (prescan->has_records)
        facts->last_wall_ns = probity_clockmap_wall(&prescan->clock, facts->last_tick);
    facts->clock_steps = prescan->clock.steps;
    facts->least_wall_ns = prescan->clock.least_ns;
    if (facts->first_wall_ns > 0 && facts->first_wall_ns < facts->least_wall_ns)
        facts->least_wall_ns = facts->first_wall_ns;
    facts->threads = trace->tally.count > 0 ? 0 : prescan->threads.count;
    for (size_t i = 0; i < trace->tally.count; i++)
        facts->threads += trace->tally.threads[i].has_records;
    facts->drops = trace->drops.items;
    facts->drop_count = trace->drops.count;
    facts->hits = trace->tally.hits;
    facts->enters = trace->tally.enters;
    facts->budget = trace->tally.budget;
    facts->modes = trace->tally.modes;
    facts->counted_functions = trace->tally.counted_functions;
    facts->removed_functions = trace->tally.removed_functions;
    facts->counted_hits = trace->tally.counted_hits;
    facts->switched_sites = trace->tally.switched_sites;
    facts->thread_list = trace->tally.threads;
    facts->thread_list_count = trace->tally.count;
    if (info->flags & PROBITY_INFO_CPU_TIME) {
        uint64_t ticks = facts->totals.unmeasured_ticks_max;
        ticks = ticks > info->gap_ticks ? ticks : info->gap_ticks;
        facts->cpu_bound_ns = probity_trace_ns_of_ticks(facts, ticks);
    }
    if (trace->extras.count > 1)
        qsort(trace->extras.items, trace->extras.count, sizeof *trace->extras.items,
              probity_waiting_compare);
}

/* Whether the program was killed before its spool had a name, so that it recorded nothing
 * (doc/trace-format.md, "Start"). */
static int is_killed_at_start(const struct prescan *prescan)
{
    struct flock first = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    return !probity_range_is_member(&prescan->trace->range) &&
           probity_file_is_only_begun(prescan->trace->range.file, &prescan->facts->info) &&
           !prescan->has_sync && !prescan->has_records && prescan->facts->damages == 0 &&
           prescan->facts->cut_bytes == 0 &&
           fcntl(prescan->trace->range.file, F_OFD_GETLK, &first) == 0 && first.l_type == F_UNLCK;
}

static void judge_state(struct prescan *prescan)
{
    struct probity_trace *trace = prescan->trace;
    struct probity_trace_facts *facts = prescan->facts;

    if (prescan->ended)
        facts->state = PROBITY_TRACE_CLOSED;
    else if (!trace->has_rest)
        facts->state =
            is_killed_at_start(prescan) ? PROBITY_TRACE_KILLED : PROBITY_TRACE_UNFINISHED;
    else
        facts->state = trace->rest.is_alive ? PROBITY_TRACE_LIVE : PROBITY_TRACE_KILLED;
    /* If the spool exists, an incomplete block at the end of the file is no loss, because the spool
     * still has the words. */
    if (trace->has_rest && !prescan->ended) {
        facts->is_short = trace->rest.header.committed > facts->file_bytes;
        facts->cut_bytes = facts->is_short ? facts->cut_bytes : 0;
    }
}

static int walk(struct prescan *prescan, struct probity_scan *scan,
                const struct probity_reader_options *options)
{
    struct probity_scan_item item;
    uint64_t items = 0;
    int got;

    while ((got = probity_scan_next(scan, &item)) > 0) {
        got = take_item(prescan, scan, &item);
        if (got < 0)
            return got;
        if (options->progress != NULL && ++items % PROGRESS_BLOCKS == 0)
            options->progress(options->progress_context, item.offset, scan->size);
    }
    return got;
}

/* Reads the file, then the tail in the spool. */
static int read_all(struct prescan *prescan, struct probity_scan *scan,
                    const struct probity_reader_options *options)
{
    struct probity_trace *trace = prescan->trace;
    int error = take_anchor(prescan, &trace->facts.info.anchor, 0);

    prescan->anchor_tick = trace->facts.info.anchor.ticks;
    if (error != 0 || (error = walk(prescan, scan, options)) != 0 ||
        (error = settle_span(prescan, scan, prescan->anchor_tick, scan->size)) != 0)
        return error;
    judge_state(prescan);
    if (prescan->ended && trace->has_rest) {
        probity_spool_tail_release(&trace->rest); /* END: everything is in the file */
        trace->has_rest = 0;
        trace->horizon = UINT64_MAX;
    }
    if (trace->has_rest && (error = take_rest(prescan)) != 0)
        return error;
    if (probity_hit_count_again(&trace->tally) && (error = count_again(prescan, options)) != 0)
        return error;
    conclude(prescan);
    return 0;
}

int probity_trace_prescan(struct probity_trace *trace, const struct probity_reader_options *options)
{
    struct prescan prescan = {.trace = trace,
                            .facts = &trace->facts,
                            .is_joined = options->one_of_many,
                            .is_counting = options->prescan,
                            .has_lanes = options->has_lanes};
    struct probity_scan scan;
    int error = probity_scan_init_range(&scan, &trace->range, trace->facts.file_bytes,
                                        options->prescan);

    prescan.clock.nominal_rate = trace->facts.info.rate;
    probity_drops_begin(&trace->drops, trace->facts.info.anchor.realtime_ns);
    if (error == 0)
        error = read_all(&prescan, &scan, options);
    probity_scan_release(&scan);
    probity_threads_release(&prescan.threads);
    if (error == 0 && prescan.is_joined)
        trace->prescanned = prescan.clock;
    else
        probity_clockmap_release(&prescan.clock);
    return error;
}

/* ---- From an index -----------------------------------------------------------------------------
 */

/* Takes a block that the index only refers to. */
static int take_place(struct prescan *prescan, const struct probity_index_item *place)
{
    struct probity_scan_item item = {.kind = PROBITY_SCAN_BLOCK};
    uint32_t bytes;

    if (probity_index_place_get(place, &item.offset, &bytes) != 0)
        return 0;
    uint8_t *block = malloc((size_t)bytes + PROBITY_BLOCK_HEADER_BYTES);
    if (block == NULL)
        return PROBITY_ERROR_MEMORY;
    item.bytes = bytes;
    ssize_t got = probity_range_read(&prescan->trace->range, block, bytes, item.offset);
    int error = got < 0 ? (int)got : 0;
    if (got >= PROBITY_BLOCK_HEADER_BYTES && (size_t)got == bytes &&
        probity_block_header_get(block, &item.header) == 0 &&
        item.header.payload_bytes == bytes - PROBITY_BLOCK_HEADER_BYTES &&
        item.header.type != PROBITY_BLOCK_DATA && probity_block_is_whole(block, &item.header)) {
        item.payload = block + PROBITY_BLOCK_HEADER_BYTES;
        error = take_item(prescan, NULL, &item);
    } else if (error == 0) {
        probity_trace_note_damage(prescan->trace, item.offset, bytes);
    }
    free(block);
    return error;
}

static int take_index_item(struct prescan *prescan, const struct probity_index_item *from)
{
    struct probity_scan_item item = {.kind = PROBITY_SCAN_BLOCK};

    if (from->type == PROBITY_INDEX_PLACE)
        return take_place(prescan, from);
    if ((from->type != PROBITY_BLOCK_SYNC && from->type != PROBITY_BLOCK_END) || prescan->ended)
        return 0;
    prescan->facts->records = probity_get_u64(from->payload);
    item.payload = from->payload + PROBITY_INDEX_RECORDS_BYTES;
    item.header.type = (uint16_t)from->type;
    item.header.payload_bytes = from->payload_bytes - PROBITY_INDEX_RECORDS_BYTES;
    return take_sync(prescan, NULL, &item);
}

static void take_index_sum(struct prescan *prescan, const struct probity_index_sum *sum)
{
    struct probity_trace_facts *facts = prescan->facts;

    facts->blocks = sum->blocks;
    facts->data_blocks = sum->data_blocks;
    facts->records = sum->records;
    facts->holes = sum->holes;
    if (sum->data_blocks > 0)
        take_span(prescan, sum->first_tick, sum->last_tick);
}

int probity_trace_prescan_index(struct probity_trace *trace)
{
    struct prescan prescan = {.trace = trace, .facts = &trace->facts, .is_joined = 1};
    struct probity_index_cursor cursor;
    struct probity_index_item item;
    int got = 0, error = probity_index_start(&cursor, trace->index.file);

    prescan.clock.nominal_rate = trace->facts.info.rate;
    probity_drops_begin(&trace->drops, trace->facts.info.anchor.realtime_ns);
    if (error == 0)
        error = take_anchor(&prescan, &trace->facts.info.anchor, 0);
    while (error == 0 && (got = probity_index_next(&cursor, &item)) > 0)
        error = take_index_item(&prescan, &item);
    probity_index_stop(&cursor);
    error = error == 0 && got < 0 ? got : error;
    take_index_sum(&prescan, &trace->index.sum);
    if (error == 0) {
        judge_state(&prescan);
        conclude(&prescan);
        trace->facts.threads = trace->index.sum.threads;
    }
    trace->prescanned = prescan.clock;
    return error;
}
