/* SPDX-License-Identifier: MIT
 *
 * survey.c: the first pass over a trace, block headers only unless told otherwise. It finds what
 * the merge must know beforehand (blocks that come late, words that are in the file already) and
 * what `info` tells.
 */
#include <stdlib.h>

#include "probity.h"
#include "reader/threads.h"
#include "reader/trace.h"

enum {
    LATE_KEPT_MAX = 65536, /* further late blocks are handed on where they stand */
    PROGRESS_BLOCKS = 4096
};

struct survey {
    struct probity_trace *trace;
    struct probity_trace_facts *facts;
    struct probity_threads threads;
    struct probity_clockmap clock;
    int is_joined; /* the clock's anchors are kept to be joined with those of other traces */
    uint64_t watermark; /* the newest */
    int has_records, first_is_new, ended;
    int is_counting; /* decodes what must be decoded to tell hits from events */
};

static void note_damage(struct survey *survey, uint64_t offset, uint64_t bytes)
{
    struct probity_trace_facts *facts = survey->facts;

    if (facts->damages++ == 0)
        facts->damage_offset = offset;
    facts->damaged_bytes += bytes;
}

/* The pairs around the first and the newest record stay, so that their times are those that the
 * merge will tell, and those around all that may still come: nothing before the watermark. */
static int take_anchor(struct survey *survey, const struct probity_anchor *anchor,
                       uint64_t watermark)
{
    struct probity_trace_facts *facts = survey->facts;
    uint64_t bound = ((uint64_t)anchor->width_ns + 1) / 2;
    int error = probity_clockmap_add(&survey->clock, anchor);

    facts->clock_bound_ns = bound > facts->clock_bound_ns ? bound : facts->clock_bound_ns;
    if (error != 0 || survey->is_joined)
        return error;
    if (survey->first_is_new && survey->clock.count > 1 && anchor->ticks > facts->first_tick) {
        facts->first_wall_ns = probity_clockmap_wall(&survey->clock, facts->first_tick);
        survey->first_is_new = 0;
    }
    uint64_t needed = survey->has_records ? facts->last_tick : anchor->ticks;
    needed = watermark < needed ? watermark : needed;
    if (survey->first_is_new && facts->first_tick < needed)
        needed = facts->first_tick;
    probity_clockmap_forget(&survey->clock, needed < anchor->ticks ? needed : anchor->ticks);
    return 0;
}

static void take_span(struct survey *survey, uint64_t first_tick, uint64_t last_tick)
{
    struct probity_trace_facts *facts = survey->facts;

    if (!survey->has_records || first_tick < facts->first_tick) {
        facts->first_tick = first_tick;
        survey->first_is_new = 1;
    }
    if (!survey->has_records || last_tick > facts->last_tick)
        facts->last_tick = last_tick;
    survey->has_records = 1;
}

/* Where hits are counted the span is theirs and that of scopes, as nothing else is shown. */
static int take_records(struct survey *survey, const struct probity_data *data,
                        const uint8_t *payload, size_t bytes)
{
    struct probity_tally *tally = &survey->trace->tally;
    uint32_t slot;
    int error = probity_threads_slot(&survey->threads, 0, data->thread, data->tid, &slot);

    if (error == 0 && !survey->is_counting && data->records > 0)
        take_span(survey, data->first_tick, data->last_tick);
    if (error != 0 || !survey->is_counting)
        return error;
    error = probity_tally_add(tally, slot, data, payload, bytes);
    if (tally->has_span)
        take_span(survey, tally->first_tick, tally->last_tick);
    return error;
}

static int add_late_place(struct probity_late_places *late, uint64_t offset)
{
    if (late->count == late->capacity) {
        size_t capacity = 2 * late->capacity + 64;
        uint64_t *offsets = realloc(late->offsets, capacity * sizeof *offsets);
        if (offsets == NULL)
            return PROBITY_ERROR_MEMORY;
        late->offsets = offsets;
        late->capacity = capacity;
    }
    late->offsets[late->count++] = offset;
    return 0;
}

static int take_late(struct survey *survey, const struct probity_scan_item *item,
                     const struct probity_data *data)
{
    struct probity_trace *trace = survey->trace;

    survey->facts->late_blocks++;
    if (trace->late.count == LATE_KEPT_MAX) {
        survey->facts->late_records_unordered += data->records;
        return 0;
    }
    int error = add_late_place(&trace->late, item->offset);
    return error != 0
               ? error
               : probity_waiting_list_add(
                     &trace->extras,
                     &(struct probity_waiting){data->first_tick, data->first_tick, item->offset,
                                               (uint32_t)item->bytes, trace->number});
}

static int take_data(struct survey *survey, struct probity_scan *scan,
                     const struct probity_scan_item *item)
{
    struct probity_trace *trace = survey->trace;
    struct probity_trace_facts *facts = survey->facts;
    struct probity_data data;

    if (probity_data_get(item->payload, item->header.payload_bytes, &data) != 0) {
        note_damage(survey, item->offset, item->bytes);
        return 0;
    }
    facts->data_blocks++;
    facts->records += data.records;
    facts->holes += data.holes;
    int error = take_records(survey, &data, item->payload, item->header.payload_bytes);
    /* Older than a watermark without being marked: late all the same. */
    if (error == 0 && ((data.flags & PROBITY_DATA_LATE) || data.first_tick < survey->watermark))
        error = take_late(survey, item, &data);
    if (error != 0 || !trace->has_rest ||
        !probity_rest_overlaps(&trace->rest, &data))
        return error;
    /* Only a block whose records can be had takes them from the spool. */
    int whole = probity_scan_verify(scan, item);
    return whole == 1 ? probity_rest_cover(&trace->rest, &data) : whole < 0 ? whole : 0;
}

/* Recording ended before its program did. */
static void take_failure(struct survey *survey, uint32_t system_error, uint64_t tick)
{
    struct probity_trace_facts *facts = survey->facts;
    uint64_t start = facts->info.anchor.ticks;

    facts->has_failed = 1;
    facts->failed_errno = system_error <= INT32_MAX ? (int)system_error : 0;
    facts->failed_after_ns = tick > start ? probity_trace_ns_of_ticks(facts, tick - start) : 0;
}

static int take_sync(struct survey *survey, const struct probity_scan_item *item)
{
    struct probity_trace_facts *facts = survey->facts;
    struct probity_sync sync;

    if (probity_sync_get(item->payload, item->header.payload_bytes, &sync) != 0) {
        note_damage(survey, item->offset, item->bytes);
        return 0;
    }
    facts->totals = sync.totals;
    survey->watermark = sync.watermark > survey->watermark ? sync.watermark : survey->watermark;
    facts->totals_records_missing =
        sync.totals.records > facts->records ? sync.totals.records - facts->records : 0;
    if (item->header.type == PROBITY_BLOCK_END) {
        facts->end_reason = sync.reason;
        if (sync.reason == PROBITY_END_FAILED)
            take_failure(survey, sync.failed_errno, sync.failed_tick);
        survey->ended = 1;
    }
    int error = probity_drops_see(&survey->trace->drops, sync.anchor.realtime_ns, &sync.totals);
    return error == 0 ? take_anchor(survey, &sync.anchor, sync.watermark) : error;
}

static void take_cost(struct survey *survey, const struct probity_scan_item *item)
{
    struct probity_cost cost;

    if (probity_cost_get(item->payload, item->header.payload_bytes, &cost) != 0)
        note_damage(survey, item->offset, item->bytes);
    else if (cost.rows > 0)
        survey->facts->cost[cost.moment] = cost;
}

static int take_item(struct survey *survey, struct probity_scan *scan,
                     const struct probity_scan_item *item)
{
    struct probity_trace_facts *facts = survey->facts;

    if (item->kind == PROBITY_SCAN_CUT) {
        facts->cut_bytes = item->bytes;
        return 0;
    }
    if (item->kind == PROBITY_SCAN_DAMAGE || survey->ended) {
        note_damage(survey, item->offset, item->bytes);
        return 0;
    }
    facts->blocks++;
    if (item->header.type == PROBITY_BLOCK_DATA)
        return take_data(survey, scan, item);
    if (item->header.type == PROBITY_BLOCK_SYNC || item->header.type == PROBITY_BLOCK_END)
        return take_sync(survey, item);
    if (item->header.type == PROBITY_BLOCK_PROFILE)
        return probity_profile_parts_add(&survey->trace->profile, item);
    if (item->header.type == PROBITY_BLOCK_SITES)
        return probity_sites_places_add(&survey->trace->sites, item);
    if (item->header.type == PROBITY_BLOCK_COST)
        take_cost(survey, item);
    return 0;
}

/* A chunk of the spool is packed once here, because only its records tell when it begins: a probe
 * may have read its clock before the chunk was opened. */
static int take_chunk(struct survey *survey, size_t index)
{
    struct probity_trace *trace = survey->trace;
    struct probity_trace_facts *facts = survey->facts;
    const uint8_t *payload = trace->rest.block + PROBITY_BLOCK_HEADER_BYTES;
    struct probity_drain_output output;
    struct probity_data data;

    probity_rest_pack(&trace->rest, index, 0, &output);
    facts->holes += trace->rest.is_alive ? 0 : output.holes;
    if (output.records == 0 ||
        probity_data_get(payload, output.block_bytes - PROBITY_BLOCK_HEADER_BYTES, &data) != 0)
        return 0;
    facts->spool_chunks++;
    facts->spool_records += output.records;
    int error =
        take_records(survey, &data, payload, output.block_bytes - PROBITY_BLOCK_HEADER_BYTES);
    return error != 0
               ? error
               : probity_waiting_list_add(
                     &trace->extras, &(struct probity_waiting){data.first_tick, data.first_tick,
                                                               index, 0, trace->number});
}

/* What is in the spool counts with the file; its counters are newer than those of the last SYNC. */
static int take_rest(struct survey *survey)
{
    struct probity_trace *trace = survey->trace;
    struct probity_totals *totals = &survey->facts->totals;
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
        take_failure(survey, header->failed_errno, header->failed_tick);
    int error = probity_drops_see(&trace->drops, anchors > 0
                                      ? trace->rest.anchors[anchors - 1].realtime_ns
                                      : trace->drops.seen_ns, totals);
    for (size_t i = 0; error == 0 && i < anchors; i++)
        error = take_anchor(survey, &trace->rest.anchors[i], 0);
    for (size_t i = 0; error == 0 && i < trace->rest.count; i++)
        error = take_chunk(survey, i);
    return error;
}

/* ---- Counting once more, where the trace has functions -----------------------------------------
 */

static int count_block(struct survey *survey, const uint8_t *payload, size_t bytes)
{
    struct probity_data data;
    uint32_t slot;

    if (probity_data_get(payload, bytes, &data) != 0)
        return 0;
    int error = probity_threads_slot(&survey->threads, 0, data.thread, data.tid, &slot);
    return error != 0 ? error
                      : probity_tally_add(&survey->trace->tally, slot, &data, payload, bytes);
}

static int count_rest(struct survey *survey)
{
    struct probity_rest *rest = &survey->trace->rest;
    struct probity_drain_output output;
    int error = 0;

    for (size_t i = 0; error == 0 && i < rest->count; i++) {
        probity_rest_pack(rest, i, 0, &output);
        if (output.records > 0)
            error = count_block(survey, rest->block + PROBITY_BLOCK_HEADER_BYTES,
                                output.block_bytes - PROBITY_BLOCK_HEADER_BYTES);
    }
    return error;
}

static int count_again(struct survey *survey, const struct probity_reader_options *options)
{
    struct probity_trace *trace = survey->trace;
    struct probity_scan scan;
    struct probity_scan_item item;
    uint64_t items = 0;
    int is_end = 0, got = probity_scan_init(&scan, trace->file, trace->facts.file_bytes, 1);

    while (got >= 0 && !is_end && (got = probity_scan_next(&scan, &item)) > 0) {
        is_end = item.kind == PROBITY_SCAN_BLOCK && item.header.type == PROBITY_BLOCK_END;
        if (item.kind == PROBITY_SCAN_BLOCK && item.header.type == PROBITY_BLOCK_DATA)
            got = count_block(survey, item.payload, item.header.payload_bytes);
        if (options->progress != NULL && ++items % PROGRESS_BLOCKS == 0)
            options->progress(options->progress_context, item.offset, scan.size);
    }
    probity_scan_release(&scan);
    if (got >= 0 && trace->has_rest)
        got = count_rest(survey);
    return got < 0 ? got : 0;
}

/* ---- The end -----------------------------------------------------------------------------------
 */

static int compare_ticks(const void *left, const void *right)
{
    const struct probity_waiting *a = left, *b = right;

    return a->tick < b->tick ? -1 : a->tick > b->tick;
}

static void conclude(struct survey *survey)
{
    struct probity_trace *trace = survey->trace;
    struct probity_trace_facts *facts = survey->facts;
    const struct probity_info *info = &facts->info;

    survey->clock.nominal_rate = trace->has_rest ? trace->rest.rate : info->rate;
    survey->clock.line.span = 0;
    if (survey->first_is_new)
        facts->first_wall_ns = probity_clockmap_wall(&survey->clock, facts->first_tick);
    if (survey->has_records)
        facts->last_wall_ns = probity_clockmap_wall(&survey->clock, facts->last_tick);
    facts->clock_steps = survey->clock.steps;
    facts->least_wall_ns = survey->clock.least_ns;
    if (facts->first_wall_ns > 0 && facts->first_wall_ns < facts->least_wall_ns)
        facts->least_wall_ns = facts->first_wall_ns;
    facts->threads = survey->threads.count;
    facts->drops = trace->drops.items;
    facts->drop_count = trace->drops.count;
    facts->hits = trace->tally.hits;
    facts->enters = trace->tally.enters;
    facts->thread_list = trace->tally.threads;
    facts->thread_list_count = trace->tally.count;
    if (info->flags & PROBITY_INFO_CPU_TIME) {
        uint64_t ticks = facts->totals.unmeasured_ticks_max;
        ticks = ticks > info->gap_ticks ? ticks : info->gap_ticks;
        facts->cpu_bound_ns = probity_trace_ns_of_ticks(facts, ticks);
    }
    if (trace->extras.count > 1)
        qsort(trace->extras.items, trace->extras.count, sizeof *trace->extras.items,
              compare_ticks);
}

static void judge_state(struct survey *survey)
{
    struct probity_trace *trace = survey->trace;
    struct probity_trace_facts *facts = survey->facts;

    if (survey->ended)
        facts->state = PROBITY_TRACE_CLOSED;
    else if (!trace->has_rest)
        facts->state = PROBITY_TRACE_UNFINISHED;
    else
        facts->state = trace->rest.is_alive ? PROBITY_TRACE_LIVE : PROBITY_TRACE_KILLED;
    /* A torn block at the end of a file that has its spool loses nothing: the words are there
     * still. */
    if (trace->has_rest && !survey->ended) {
        facts->is_short = trace->rest.header.committed > facts->file_bytes;
        facts->cut_bytes = facts->is_short ? facts->cut_bytes : 0;
    }
}

static int walk(struct survey *survey, struct probity_scan *scan,
                const struct probity_reader_options *options)
{
    struct probity_scan_item item;
    uint64_t items = 0;
    int got;

    while ((got = probity_scan_next(scan, &item)) > 0) {
        got = take_item(survey, scan, &item);
        if (got < 0)
            return got;
        if (options->progress != NULL && ++items % PROGRESS_BLOCKS == 0)
            options->progress(options->progress_context, item.offset, scan->size);
    }
    return got;
}

int probity_trace_survey(struct probity_trace *trace, const struct probity_reader_options *options)
{
    struct survey survey = {.trace = trace,
                            .facts = &trace->facts,
                            .is_joined = options->one_of_many,
                            .is_counting = options->survey};
    struct probity_scan scan;
    int error = probity_scan_init(&scan, trace->file, trace->facts.file_bytes, options->survey);

    survey.clock.nominal_rate = trace->facts.info.rate;
    probity_drops_begin(&trace->drops, trace->facts.info.anchor.realtime_ns);
    if (error == 0)
        error = take_anchor(&survey, &trace->facts.info.anchor, 0);
    if (error == 0)
        error = walk(&survey, &scan, options);
    if (error == 0)
        judge_state(&survey);
    if (error == 0 && survey.ended && trace->has_rest) {
        probity_rest_release(&trace->rest); /* END: all is in the file */
        trace->has_rest = 0;
        trace->horizon = UINT64_MAX;
    }
    if (error == 0 && trace->has_rest)
        error = take_rest(&survey);
    if (error == 0 && probity_tally_again(&trace->tally))
        error = count_again(&survey, options);
    if (error == 0)
        conclude(&survey);
    probity_scan_release(&scan);
    probity_threads_release(&survey.threads);
    if (error == 0 && survey.is_joined)
        trace->surveyed = survey.clock;
    else
        probity_clockmap_release(&survey.clock);
    return error;
}
