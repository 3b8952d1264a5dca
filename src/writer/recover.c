/* SPDX-License-Identifier: MIT
 *
 * recover.c: appends to a trace what its dead program left in the spool, then an END block, then
 * removes the spool.
 *
 *     lock ─► scan the file ─► cut the torn tail ─► DATA ... SYNC ... END ─► fsync ─► spool
 *     closed, unlinked
 *
 * A kill at any arrow leaves a file whose blocks cover some of the spool's words and the spool
 * itself: the next run finds by (chunk serial, words) what is there already. A failed write cuts
 * the file back to where it was.
 */
#include "writer/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/block.h"
#include "probity.h"
#include "reader/file.h"
#include "reader/rest.h"
#include "reader/scan.h"
#include "writer/profile.h"

struct recovery {
    int file;
    uint64_t size;        /* of the file as found */
    uint64_t end;         /* of its last valid block; the next block goes here */
    uint64_t serial;      /* of the next block */
    uint8_t *info_bytes, *profile_block;
    struct probity_info info;
    struct probity_rest rest;
    int has_rest, has_end;
    struct probity_sync newest; /* the file's newest SYNC, or what INFO says */
    uint64_t records_since;     /* in DATA blocks behind it */
    uint64_t last_tick;
    struct probity_recover_result *result;
};

static int keep_info(struct recovery *recovery, const struct probity_scan_item *item)
{
    size_t bytes = item->header.payload_bytes;

    recovery->info_bytes = malloc(bytes + 1);
    if (recovery->info_bytes == NULL)
        return PROBITY_ERROR_MEMORY;
    memcpy(recovery->info_bytes, item->payload, bytes);
    int error = probity_info_get(recovery->info_bytes, bytes, &recovery->info);
    recovery->newest = (struct probity_sync){.anchor = recovery->info.anchor};
    return error;
}

static int open_trace(struct recovery *recovery, const char *path)
{
    struct probity_scan scan;
    struct probity_scan_item item;

    recovery->file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (recovery->file < 0)
        return PROBITY_ERROR_OPEN;
    int64_t size = probity_file_size(recovery->file);
    int got = size < 0 ? (int)size
                       : probity_scan_init(&scan, recovery->file, (uint64_t)size, 0);
    if (size < 0)
        return got;
    if (got == 0)
        got = probity_scan_next(&scan, &item);
    if (got > 0)
        got = item.kind == PROBITY_SCAN_BLOCK && item.header.type == PROBITY_BLOCK_INFO
                  ? keep_info(recovery, &item)
                  : PROBITY_ERROR_DAMAGED;
    else if (got == 0)
        got = PROBITY_ERROR_DAMAGED;
    probity_scan_release(&scan);
    return got;
}

static char *text_copy(const struct probity_text *text)
{
    if (text->bytes == NULL || text->length == 0 || memchr(text->bytes, 0, text->length) != NULL)
        return NULL;
    return strndup(text->bytes, text->length);
}

/* Takes the spool for this process, if it is there and its program is gone. */
static int take_spool(struct recovery *recovery)
{
    struct probity_attach attach;
    char *path = text_copy(&recovery->info.text[PROBITY_TAG_SPOOL]);

    if (path == NULL)
        return 0;
    int error = probity_attach_open(path, recovery->info.session, recovery->info.boot, 1, &attach);
    free(path);
    if (error == PROBITY_ERROR_OPEN || error == PROBITY_ERROR_FORMAT)
        return 0; /* none, or another's */
    recovery->result->is_spool_cut = error == PROBITY_ERROR_DAMAGED;
    if (error != 0)
        return error;
    /* Looked at before the lock, so as not to take it from a program that is about to. */
    if (probity_attach_is_alive(&attach) || probity_attach_lock(&attach) != 0 ||
        probity_attach_is_alive(&attach))
        error = PROBITY_ERROR_STATE;
    recovery->result->is_taken = error != 0 && !probity_attach_has_process(&attach);
    if (error == 0)
        error = probity_rest_adopt(&attach, &recovery->info, &recovery->rest);
    if (error != 0)
        probity_attach_close(&attach);
    recovery->has_rest = error == 0;
    return error;
}

static int take_data(struct recovery *recovery, const struct probity_scan_item *item)
{
    struct probity_data data;

    if (probity_data_get(item->payload, item->header.payload_bytes, &data) != 0)
        return 0;
    recovery->records_since += data.records;
    if (data.last_tick > recovery->last_tick)
        recovery->last_tick = data.last_tick;
    return recovery->has_rest ? probity_rest_cover(&recovery->rest, &data) : 0;
}

static void take_sync(struct recovery *recovery, const struct probity_scan_item *item)
{
    struct probity_sync sync;

    if (probity_sync_get(item->payload, item->header.payload_bytes, &sync) != 0)
        return;
    recovery->newest = sync;
    recovery->records_since = 0;
    recovery->has_end |= item->header.type == PROBITY_BLOCK_END;
}

/* Every checksum is verified: only whole blocks take words from the spool. */
static int scan_file(struct recovery *recovery)
{
    struct probity_scan scan;
    struct probity_scan_item item;
    int64_t size = probity_file_size(recovery->file);

    if (size < 0)
        return (int)size;
    recovery->size = (uint64_t)size;
    int got = probity_scan_init(&scan, recovery->file, recovery->size, 1);
    if (got == 0) {
        while (got >= 0 && (got = probity_scan_next(&scan, &item)) > 0) {
            if (item.kind != PROBITY_SCAN_BLOCK)
                continue;
            recovery->end = item.offset + item.bytes;
            recovery->serial = item.header.serial + 1;
            if (item.header.type == PROBITY_BLOCK_DATA)
                got = take_data(recovery, &item);
            else if (item.header.type == PROBITY_BLOCK_SYNC ||
                     item.header.type == PROBITY_BLOCK_END)
                take_sync(recovery, &item);
        }
    }
    probity_scan_release(&scan);
    return got;
}

/* ---- Appending ---------------------------------------------------------------------------------
 */

static int append(struct recovery *recovery, const uint8_t *block, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t put = pwrite(recovery->file, block + done, bytes - done,
                             (off_t)(recovery->end + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return PROBITY_ERROR_WRITE;
        done += (size_t)put;
    }
    recovery->end += bytes;
    recovery->serial++;
    return 0;
}

static int append_chunk(struct recovery *recovery, size_t index)
{
    struct probity_rest *rest = &recovery->rest;
    struct probity_drain_output output;
    struct probity_data data;
    uint8_t *payload = rest->block + PROBITY_BLOCK_HEADER_BYTES;

    probity_rest_pack(rest, index, recovery->serial, &output);
    if (output.records == 0)
        return 0;
    uint32_t payload_bytes = (uint32_t)(output.block_bytes - PROBITY_BLOCK_HEADER_BYTES);
    if (probity_data_get(payload, payload_bytes, &data) == 0 &&
        data.first_tick < recovery->newest.watermark) {
        data.flags |= PROBITY_DATA_LATE; /* the file has promised that there is no such record */
        probity_data_put(payload, &data);
        probity_block_seal(rest->block, PROBITY_BLOCK_DATA, recovery->serial, payload_bytes);
    }
    recovery->records_since += output.records;
    recovery->result->records += output.records;
    recovery->result->holes += output.holes;
    if (output.last_tick > recovery->last_tick)
        recovery->last_tick = output.last_tick;
    return append(recovery, rest->block, output.block_bytes);
}

static int append_sync(struct recovery *recovery, const struct probity_sync *sync, uint16_t type)
{
    uint8_t block[PROBITY_BLOCK_HEADER_BYTES + PROBITY_END_FAILED_BYTES];
    uint8_t *payload = block + PROBITY_BLOCK_HEADER_BYTES;
    uint32_t bytes = PROBITY_SYNC_BYTES;

    if (sync->reason == PROBITY_END_FAILED) {
        probity_end_failed_put(payload, sync);
        bytes = PROBITY_END_FAILED_BYTES;
    } else {
        probity_sync_put(payload, sync);
    }
    probity_block_seal(block, type, recovery->serial, bytes);
    return append(recovery, block, PROBITY_BLOCK_HEADER_BYTES + bytes);
}

/* Anchors that only the spool has, then END with the spool's counters. */
static int append_end(struct recovery *recovery)
{
    const struct probity_rest *rest = &recovery->rest;
    const struct probity_spool_header *header = &rest->header;
    struct probity_sync sync = recovery->newest;
    int error = 0;

    sync.totals = (struct probity_totals){
        sync.totals.records + recovery->records_since, header->dropped_full,
        header->dropped_memory, header->dropped_write, header->stalls, header->stall_ticks,
        header->unmeasured_ticks_max, (uint32_t)header->threads};
    for (size_t i = 0; error == 0 && i < rest->anchor_count; i++) {
        if (rest->anchors[i].ticks <= sync.anchor.ticks)
            continue;
        sync.anchor = rest->anchors[i];
        error = append_sync(recovery, &sync, PROBITY_BLOCK_SYNC);
    }
    sync.watermark = recovery->last_tick > sync.watermark ? recovery->last_tick : sync.watermark;
    sync.reason = header->failed ? PROBITY_END_FAILED : PROBITY_END_RECOVERED;
    sync.failed_errno = header->failed_errno;
    sync.failed_tick = header->failed_tick;
    recovery->result->has_failed = header->failed != 0;
    return error == 0 ? append_sync(recovery, &sync, PROBITY_BLOCK_END) : error;
}

static uint8_t *profile_room(void *context)
{
    const struct recovery *recovery = context;

    return recovery->profile_block + PROBITY_BLOCK_HEADER_BYTES;
}

static int put_profile(void *context, uint32_t payload_bytes)
{
    struct recovery *recovery = context;

    probity_block_seal(recovery->profile_block, PROBITY_BLOCK_PROFILE, recovery->serial,
                       payload_bytes);
    return append(recovery, recovery->profile_block, PROBITY_BLOCK_HEADER_BYTES + payload_bytes);
}

/* What the program has counted is newer than any profile in the file. */
static int append_profile(struct recovery *recovery)
{
    const struct probity_rest *rest = &recovery->rest;
    struct probity_profile_sink sink = {.room = profile_room,
                                        .put = put_profile,
                                        .context = recovery,
                                        .bytes = PROBITY_LIMIT_BATCH_BYTES,
                                        .tick = recovery->last_tick,
                                        .rate = rest->rate};
    struct probity_cells cells;
    int error = 0;

    recovery->profile_block = malloc(PROBITY_BLOCK_HEADER_BYTES + sink.bytes);
    if (recovery->profile_block == NULL)
        return PROBITY_ERROR_MEMORY;
    for (uint64_t i = 0; error == 0 && i < rest->attach.chunk_count; i++) {
        if (probity_attach_cells(&rest->attach, i, &cells))
            error = probity_profile_add(&sink, &cells);
    }
    return error == 0 ? probity_profile_finish(&sink) : error;
}

static int fold(struct recovery *recovery)
{
    uint64_t start = recovery->end;
    int error = 0;

    if (recovery->end < recovery->size && ftruncate(recovery->file, (off_t)recovery->end) != 0)
        return PROBITY_ERROR_WRITE;
    recovery->result->torn_bytes = recovery->size - recovery->end;
    for (size_t i = 0; error == 0 && i < recovery->rest.count; i++)
        error = append_chunk(recovery, i);
    if (error == 0)
        error = append_profile(recovery);
    if (error == 0)
        error = append_end(recovery);
    if (error == 0 && probity_attach_is_cut(&recovery->rest.attach)) {
        recovery->result->is_spool_cut = 1;
        error = PROBITY_ERROR_DAMAGED;
    }
    if (error == 0 && fsync(recovery->file) != 0 && errno != EINVAL)
        error = PROBITY_ERROR_WRITE;
    if (error != 0) {
        int kept_errno = errno;
        if (ftruncate(recovery->file, (off_t)start) != 0)
            kept_errno = errno; /* whole blocks and a torn one are there now: still readable */
        errno = kept_errno;
    }
    return error;
}

static int recover(struct recovery *recovery, const char *path)
{
    int error = open_trace(recovery, path);

    if (error == 0)
        error = take_spool(recovery);
    if (error == 0)
        error = scan_file(recovery);
    if (error != 0)
        return error;
    char *csv = text_copy(&recovery->info.text[PROBITY_TAG_CSV]);
    if (csv != NULL && strlen(csv) < sizeof recovery->result->csv_path)
        memcpy(recovery->result->csv_path, csv, strlen(csv) + 1);
    free(csv);
    recovery->result->was_closed = recovery->has_end;
    recovery->result->has_spool = recovery->has_rest;
    if (recovery->has_rest && !recovery->has_end) {
        recovery->result->is_short = recovery->rest.header.committed > recovery->size;
        error = recovery->result->is_short ? PROBITY_ERROR_DAMAGED : fold(recovery);
    }
    if (error == 0 && recovery->has_rest)
        error = probity_attach_retire(&recovery->rest.attach);
    return error;
}

static void release(struct recovery *recovery)
{
    int kept_errno = errno;

    if (recovery->has_rest)
        probity_rest_release(&recovery->rest);
    if (recovery->file >= 0)
        close(recovery->file);
    free(recovery->info_bytes);
    free(recovery->profile_block);
    errno = kept_errno;
}

int probity_recover_discard(const char *trace_path, struct probity_recover_result *ret_result)
{
    struct recovery recovery = {.file = -1, .result = ret_result};

    memset(ret_result, 0, sizeof *ret_result);
    int error = open_trace(&recovery, trace_path);
    if (error == 0)
        error = take_spool(&recovery);
    else if (error != PROBITY_ERROR_OPEN && error != PROBITY_ERROR_READ)
        error = 0; /* no trace, so it has no spool */
    if (error == 0 && recovery.has_rest)
        error = probity_attach_retire(&recovery.rest.attach);
    release(&recovery);
    return error;
}

int probity_recover(const char *trace_path, struct probity_recover_result *ret_result)
{
    struct recovery recovery = {.file = -1, .result = ret_result};

    memset(ret_result, 0, sizeof *ret_result);
    int error = recover(&recovery, trace_path);
    release(&recovery);
    return error;
}
