/* SPDX-License-Identifier: MIT
 *
 * check.c: validates a trace as strictly as doc/trace-format.md allows: anything that the merge
 * silently skips is an error here.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/ticks.h"
#include "format/sites.h"
#include "probity.h"
#include "reader/check_names.h"
#include "reader/file.h"
#include "reader/functions.h"
#include "reader/reader.h"
#include "reader/scan.h"
#include "reader/threads.h"
#include "spool/layout.h"

/* The end of a thread's latest block, by slot. */
struct thread_place {
    uint64_t chunk;
    uint32_t end_word;
};

struct check {
    struct probity_check_result result;
    const struct probity_check_listener *listener;
    uint64_t offset; /* that of the current block */
    struct probity_threads_seen threads;
    struct thread_place *places;
    uint32_t place_capacity;
    uint64_t watermark, anchor_ticks;
    struct probity_totals totals;
    struct probity_check_names names;
    uint64_t rate;
    int has_info, has_end;
    int declares_all; /* the version requires that all sites and formats are declared */
};

static void fault(struct check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void fault(struct check *check, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    check->result.faults++;
    check->listener->report(check->listener->context, check->offset, text);
}

/* Checks that each word of a chunk appears once, in order. A late block fills a hole that was
 * skipped before. */
static int check_words(struct check *check, const struct probity_data *data)
{
    uint32_t slot;
    int error = probity_threads_slot(&check->threads, 0, data->thread, data->tid, &slot);

    if (error != 0)
        return error;
    if (slot >= check->place_capacity) {
        void *places = probity_array_grow(check->places, sizeof *check->places, slot,
                                          &check->place_capacity);
        if (places == NULL)
            return PROBITY_ERROR_MEMORY;
        check->places = places;
    }
    if (check->threads.seen[slot].tid != data->tid)
        fault(check, "thread %" PRIu32 " has thread id %" PRIu32 ", previously %" PRIu32,
              data->thread, data->tid, check->threads.seen[slot].tid);
    probity_assert(slot < check->place_capacity);
    struct thread_place *place = &check->places[slot];
    if (data->flags & PROBITY_DATA_LATE)
        return 0;
    if (place->chunk == data->chunk && data->first_word < place->end_word)
        fault(check, "words %" PRIu32 " to %" PRIu32 " of chunk %" PRIu64 " occur twice",
              data->first_word, place->end_word, data->chunk);
    *place = (struct thread_place){data->chunk, data->end_word};
    return 0;
}

/* Whether it has number, line, and three texts with their lengths; more may follow. */
static int is_site_whole(const struct probity_record *record)
{
    size_t at = 8;

    for (int text = 0; text < 3; text++) {
        if (record->payload_bytes < at + 2)
            return 0;
        at += 2 + (size_t)probity_get_u16(record->payload + at);
    }
    return at <= record->payload_bytes;
}

/* Returns the size of the fields of a kind, before its values. */
static size_t fixed_bytes(uint64_t kind)
{
    static const uint8_t bytes[PROBITY_EVENT_SITES_SWITCHED + 1] = {
        [PROBITY_EVENT_PROBE_NAME] = 4,  [PROBITY_EVENT_STALL] = 8,
        [PROBITY_EVENT_ENTER] = 8,       [PROBITY_EVENT_LEAVE] = 8,
        [PROBITY_EVENT_MESSAGE] = 4,     [PROBITY_EVENT_PARAMETERS] = 4,
        [PROBITY_EVENT_CHECKPOINT] = 16, [PROBITY_EVENT_LEVELS] = 3,
        [PROBITY_EVENT_PROFILING] = 1,   [PROBITY_EVENT_UNWOUND] = 4,
        [PROBITY_EVENT_LOST] = 8,        [PROBITY_EVENT_BUDGET] = 24,
        [PROBITY_EVENT_SITES_SWITCHED] = 8};

    return kind <= PROBITY_EVENT_SITES_SWITCHED ? bytes[kind] : 0;
}

static void check_event(struct check *check, const struct probity_record *record, uint64_t place)
{
    const uint8_t *payload = record->payload;
    size_t bytes = record->payload_bytes;

    if (bytes < fixed_bytes(record->kind))
        fault(check, "record %" PRIu64 ": an event of kind %" PRIu64 " with %zu bytes", place,
              record->kind, bytes);
    if (record->kind == PROBITY_EVENT_SITE && !is_site_whole(record))
        fault(check, "record %" PRIu64 ": a site's text exceeds its event", place);
    if (record->kind == PROBITY_EVENT_FUNCTION && !probity_function_is_whole(payload, bytes))
        fault(check, "record %" PRIu64 ": a function's text exceeds its event", place);
    struct probity_mapping_event mapping;
    if (record->kind == PROBITY_EVENT_MAPPING &&
        probity_mapping_event_get(payload, bytes, &mapping) != 0)
        fault(check, "record %" PRIu64 ": a mapping's text exceeds its event", place);
    if (record->kind == PROBITY_EVENT_FORMAT && !probity_format_is_whole(payload, bytes))
        fault(check, "record %" PRIu64 ": a format's values exceed its event", place);
}

static int check_stream(struct check *check, const struct probity_data *data,
                        const uint8_t *stream, size_t bytes)
{
    struct probity_unpacker unpacker;
    struct probity_record record = {0};
    uint64_t records = 0, before = data->first_tick;
    int got, error = 0;

    probity_unpacker_init(&unpacker, stream, bytes, data->first_tick);
    while (error == 0 && (got = probity_unpack(&unpacker, &record)) > 0) {
        if (record.tick < before)
            fault(check, "record %" PRIu64 " is older than the previous one", records);
        if (record.kind != PROBITY_EVENT_HIT)
            check_event(check, &record, records);
        error = probity_check_names_take(&check->names, &record, check->offset);
        before = record.tick;
        records++;
    }
    check->result.records += records;
    if (error != 0)
        return error;
    if (got < 0)
        fault(check, "the stream cannot be decoded after record %" PRIu64, records);
    if (records != data->records)
        fault(check, "%" PRIu64 " records in the stream, %" PRIu32 " in its header", records,
              data->records);
    if (records > 0 && before != data->last_tick)
        fault(check, "last tick is %" PRIu64 ", the header says %" PRIu64, before, data->last_tick);
    return 0;
}

static int check_data(struct check *check, const struct probity_scan_item *item)
{
    struct probity_data data;

    if (probity_data_get(item->payload, item->header.payload_bytes, &data) != 0) {
        fault(check, "invalid fixed part of a DATA block");
        return 0;
    }
    if (data.first_tick < check->watermark && !(data.flags & PROBITY_DATA_LATE))
        fault(check, "first tick %" PRIu64 " is older than the watermark %" PRIu64, data.first_tick,
              check->watermark);
    if (data.end_word > PROBITY_CHUNK_WORDS_MAX)
        fault(check, "word %" PRIu32 " is outside of any chunk", data.end_word);
    int error = check_stream(check, &data, item->payload + PROBITY_DATA_FIXED_BYTES,
                             item->header.payload_bytes - PROBITY_DATA_FIXED_BYTES);
    return error != 0 ? error : check_words(check, &data);
}

/* Checks that totals never decrease, and that the count of records matches the preceding blocks. */
static void check_totals(struct check *check, const struct probity_totals *now)
{
    const struct probity_totals *before = &check->totals;

    if (now->records != check->result.records)
        fault(check, "%" PRIu64 " records in the preceding blocks, the total is %" PRIu64,
              check->result.records, now->records);
    if (now->dropped_full < before->dropped_full || now->dropped_memory < before->dropped_memory ||
        now->dropped_write < before->dropped_write || now->stalls < before->stalls ||
        now->stall_ticks < before->stall_ticks ||
        now->unmeasured_ticks_max < before->unmeasured_ticks_max || now->threads < before->threads)
        fault(check, "a total decreased");
    check->totals = *now;
}

static void check_sync(struct check *check, const struct probity_scan_item *item)
{
    struct probity_sync sync;

    if (probity_sync_get(item->payload, item->header.payload_bytes, &sync) != 0) {
        fault(check, "SYNC or END block is too short");
        return;
    }
    if (sync.anchor.ticks < check->anchor_ticks)
        fault(check, "anchor at tick %" PRIu64 " is older than the previous one",
              sync.anchor.ticks);
    if (sync.watermark < check->watermark)
        fault(check, "watermark %" PRIu64 " is older than the previous one", sync.watermark);
    check_totals(check, &sync.totals);
    check->anchor_ticks = sync.anchor.ticks;
    check->watermark = sync.watermark;
    if (item->header.type == PROBITY_BLOCK_END)
        check->has_end = 1;
}

/* Checks that the rows fill the block. Their values come from a running program and cannot be
 * checked. */
static int check_profile(struct check *check, const struct probity_scan_item *item)
{
    const uint8_t *at = item->payload, *end = at + item->header.payload_bytes;
    struct probity_profile_part part;
    struct probity_profile_row row;

    if (probity_profile_part_get(at, item->header.payload_bytes, &part) != 0) {
        fault(check, "PROFILE block is too short");
        return 0;
    }
    at += PROBITY_PROFILE_FIXED_BYTES;
    for (uint32_t i = 0; i < part.rows; i++) {
        at = probity_profile_row_get(at, end, &row);
        if (at == NULL) {
            fault(check, "invalid row %" PRIu32 " of a PROFILE block", i);
            return 0;
        }
        int error = probity_check_names_take_row(&check->names, row.site, check->offset);
        if (error != 0)
            return error;
    }
    return 0;
}

static void check_cost(struct check *check, const struct probity_scan_item *item)
{
    struct probity_cost cost;

    if (probity_cost_get(item->payload, item->header.payload_bytes, &cost) != 0)
        fault(check, "rows exceed their COST block");
}

static void check_dump(struct check *check, const struct probity_scan_item *item)
{
    struct probity_dump dump;
    struct probity_dump_reason reason;
    size_t at, bytes = item->header.payload_bytes;

    if (probity_dump_get(item->payload, bytes, &dump, &at) != 0) {
        fault(check, "DUMP block is too short");
        return;
    }
    if (dump.reasons == 0)
        fault(check, "DUMP block without a reason");
    if (dump.wanted > dump.end || dump.had > dump.end)
        fault(check, "the window of a DUMP block ends before it begins");
    for (uint32_t i = 0; i < dump.reasons; i++) {
        if (probity_dump_reason_get(item->payload, bytes, &at, &reason) != 0) {
            fault(check, "invalid reason %" PRIu32 " of a DUMP block", i);
            return;
        }
    }
}

static void check_sites(struct check *check, const struct probity_scan_item *item)
{
    const uint8_t *at = item->payload + PROBITY_SITES_FIXED_BYTES;
    const uint8_t *end = item->payload + item->header.payload_bytes;
    struct probity_listed row = {0};
    uint32_t rows, left_out;

    if (probity_sites_head_get(item->payload, item->header.payload_bytes, &rows, &left_out) != 0) {
        fault(check, "SITES block is too short");
        return;
    }
    for (uint32_t i = 0; i < rows; i++) {
        at = probity_sites_row_get(at, end, &row);
        if (at == NULL) {
            fault(check, "invalid row %" PRIu32 " of a SITES block", i);
            return;
        }
    }
}

static int check_info(struct check *check, const struct probity_scan_item *item)
{
    struct probity_info info;

    if (check->has_info)
        fault(check, "a second INFO block");
    else if (probity_info_get(item->payload, item->header.payload_bytes, &info) != 0)
        return PROBITY_ERROR_DAMAGED;
    else {
        check->anchor_ticks = info.anchor.ticks;
        check->rate = info.rate;
    }
    check->has_info = 1;
    return 0;
}

static int check_item(struct check *check, const struct probity_scan_item *item)
{
    check->offset = item->offset;
    if (item->kind == PROBITY_SCAN_CUT) {
        check->result.cut_offset = item->offset;
        check->result.cut_bytes = item->bytes;
        return check->has_info ? 0 : PROBITY_ERROR_DAMAGED;
    }
    if (item->kind == PROBITY_SCAN_DAMAGE) {
        fault(check, "%s: %" PRIu64 " bytes",
              check->has_end ? "data after the END block" : item->why, item->bytes);
        return check->has_info ? 0 : PROBITY_ERROR_DAMAGED;
    }
    if (!check->has_info && item->header.type != PROBITY_BLOCK_INFO)
        return PROBITY_ERROR_DAMAGED;
    check->result.blocks++;
    if (check->has_end)
        fault(check, "a block after the END block");
    switch (item->header.type) {
    case PROBITY_BLOCK_INFO: return check_info(check, item);
    case PROBITY_BLOCK_DATA: return check_data(check, item);
    case PROBITY_BLOCK_SYNC:
    case PROBITY_BLOCK_END: check_sync(check, item); return 0;
    case PROBITY_BLOCK_PROFILE: return check_profile(check, item);
    case PROBITY_BLOCK_SITES: check_sites(check, item); return 0;
    case PROBITY_BLOCK_COST: check_cost(check, item); return 0;
    case PROBITY_BLOCK_DUMP: check_dump(check, item); return 0;
    default: return 0;
    }
}

static int check_blocks(struct check *check, const struct probity_range *range)
{
    enum { MINOR_DECLARES_ALL = 4 };
    struct probity_scan scan;
    struct probity_scan_item item;
    int64_t size = probity_range_size(range);

    if (size < 0)
        return (int)size;
    check->result.bytes = (uint64_t)size;
    uint8_t header[PROBITY_FILE_HEADER_BYTES];
    check->declares_all = probity_range_read(range, header, sizeof header, 0) ==
                              (ssize_t)sizeof header &&
                          probity_get_u16(header + 14) >= MINOR_DECLARES_ALL;
    int got = probity_scan_init_range(&scan, range, (uint64_t)size, 1);
    if (got == 0) {
        while ((got = probity_scan_next(&scan, &item)) > 0) {
            got = check_item(check, &item);
            if (got < 0)
                break;
            if (check->listener->progress != NULL)
                check->listener->progress(check->listener->context, item.offset, scan.size);
        }
    }
    probity_scan_release(&scan);
    if (got == 0 && !check->has_info)
        got = PROBITY_ERROR_DAMAGED;
    return got;
}

static void report_name(void *context, uint64_t offset, const char *text)
{
    struct check *check = context;

    check->offset = offset;
    fault(check, "%s", text);
}

/* Checks names only if nothing is missing: in a trace that has lost records or is still being
 * written, these may be declarations. */
static void check_names(struct check *check)
{
    enum { SLACK_NS = 1000 }; /* far more than a clock may be read early */
    const struct probity_totals *totals = &check->totals;

    if (check->has_end && check->result.faults == 0 && check->result.cut_bytes == 0 &&
        totals->dropped_full == 0 && totals->dropped_memory == 0 && totals->dropped_write == 0)
        probity_check_names_judge(&check->names, probity_ticks_of_ns(SLACK_NS, check->rate),
                                  check->declares_all, report_name, check);
}

int probity_check_file(const char *path, const struct probity_check_listener *listener,
                       struct probity_check_result *ret_result)
{
    struct check check = {.listener = listener};
    struct probity_range range;
    int error = probity_range_open(path, &range);

    if (error != 0)
        return error;
    error = check_blocks(&check, &range);
    close(range.file);
    if (error == 0)
        check_names(&check);
    probity_check_names_release(&check.names);
    probity_threads_release(&check.threads);
    free(check.places);
    if (error == 0) {
        check.result.has_end = check.has_end;
        *ret_result = check.result;
    }
    return error;
}
