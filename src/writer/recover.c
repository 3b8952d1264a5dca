/* SPDX-License-Identifier: MIT
 *
 * recover.c: appends the spool of a dead program to its trace, followed by an END block; then
 * removes the spool.
 *
 *     lock ─► scan the file ─► cut the torn tail ─► DATA ... SYNC ... END ─► fsync ─► spool
 *     closed, unlinked
 *
 * After a kill at any arrow, the spool still exists, and the file has some of its words: the next
 * run identifies these by (chunk serial, words). After a failed write, the file is truncated to its
 * previous size.
 */
#include "writer/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/os.h"
#include "base/parent.h"
#include "format/block.h"
#include "probity.h"
#include "reader/file.h"
#include "reader/scan.h"
#include "reader/spool_tail.h"
#include "writer/profile.h"

struct recovery {
    int file;
    struct probity_parent parent; /* the trace's directory */
    int is_trusted;               /* recover other users' traces, and copies, too */
    const struct probity_recover_file *only; /* NULL: any file of that name */
    uint64_t size;        /* size of the file when it was opened */
    uint64_t end;         /* end of its last valid block; the next block goes here */
    uint64_t serial;      /* that of the next block */
    uint8_t *info_bytes, *profile_block;
    struct probity_info info;
    struct probity_spool_tail rest;
    int has_rest, has_end;
    int has_begun; /* there is a SYNC or DATA block, or there may be one */
    struct probity_sync newest; /* the file's newest SYNC, or else that of INFO */
    uint64_t records_since;     /* number of records in DATA blocks after it */
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
    recovery->has_begun = !probity_file_is_only_begun(recovery->file, &recovery->info);
    return error;
}

/* Opens the file, which must not be a link and must belong to this user. */
static int open_file(struct recovery *recovery, const char *path)
{
    const struct probity_parent *parent = &recovery->parent;
    struct probity_recover_result *result = recovery->result;
    struct stat status;

    if (probity_parent_open(path, &recovery->parent) != 0 ||
        fstatat(parent->directory, parent->name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return PROBITY_ERROR_OPEN;
    result->is_link = S_ISLNK(status.st_mode);
    result->is_foreign = status.st_uid != geteuid() && !recovery->is_trusted;
    if (result->is_link || result->is_foreign)
        return PROBITY_ERROR_STATE;
    recovery->file = probity_os_open_regular(parent->directory, parent->name, O_RDWR | O_NOFOLLOW);
    if (recovery->file < 0)
        return errno == EINVAL ? PROBITY_ERROR_FORMAT : PROBITY_ERROR_OPEN;
    /* Checks the open file: by now, the name may refer to another one. */
    if (fstat(recovery->file, &status) != 0)
        return PROBITY_ERROR_READ;
    result->is_foreign = status.st_uid != geteuid() && !recovery->is_trusted;
    result->device = status.st_dev;
    result->inode = status.st_ino;
    if (recovery->only != NULL && (status.st_dev != recovery->only->device ||
                                   status.st_ino != recovery->only->inode)) {
        errno = ESTALE;
        return PROBITY_ERROR_OPEN;
    }
    return result->is_foreign ? PROBITY_ERROR_STATE : 0;
}

static int open_trace(struct recovery *recovery, const char *path)
{
    struct probity_scan scan;
    struct probity_scan_item item;
    int got = open_file(recovery, path);
    int64_t size = got == 0 ? probity_file_size(recovery->file) : got;

    if (size < 0)
        return (int)size;
    got = probity_scan_init(&scan, recovery->file, (uint64_t)size, 0);
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

static int take_data(struct recovery *recovery, const struct probity_scan_item *item)
{
    struct probity_data data;

    if (probity_data_get(item->payload, item->header.payload_bytes, &data) != 0)
        return 0;
    recovery->records_since += data.records;
    if (data.last_tick > recovery->last_tick)
        recovery->last_tick = data.last_tick;
    return recovery->has_rest ? probity_spool_tail_cover(&recovery->rest, &data) : 0;
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

/* Verifies every checksum, because words are taken from the spool only if they are not in a valid
 * block. */
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
            recovery->has_begun |= item.header.type == PROBITY_BLOCK_DATA ||
                                   item.header.type == PROBITY_BLOCK_SYNC;
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

/* Handles a spool that does not exist. Either it had no name yet when the program was killed: then
 * the lock on the trace is free, and is taken before the file is read. Or recording has ended,
 * perhaps after the first block was read: then the program may still hold the lock. */
static int take_start(struct recovery *recovery)
{
    struct flock first = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    if (recovery->has_begun || fcntl(recovery->file, F_OFD_SETLK, &first) == 0)
        return 0;
    recovery->result->is_unknown = errno != EAGAIN && errno != EACCES;
    int error = scan_file(recovery);
    return error == 0 && !recovery->has_end ? PROBITY_ERROR_STATE : error;
}

/* Takes the locks of the spool if it exists and its program has ended. */
static int take_spool(struct recovery *recovery)
{
    struct probity_attach_query query;
    struct probity_attach attach;
    enum probity_attach_owner owner;

    probity_assert(!recovery->has_rest);
    if (recovery->info.text[PROBITY_TAG_SPOOL].length == 0)
        return 0;
    int error = probity_spool_tail_query(recovery->file, recovery->parent.directory,
                                         &recovery->info, &query);
    query.writable = 1;
    query.takes_copies = recovery->is_trusted && recovery->only == NULL;
    if (error == 0)
        error = probity_attach_find(&query, &recovery->result->is_copy, &attach);
    if (error == PROBITY_ERROR_OPEN || error == PROBITY_ERROR_FORMAT)
        return take_start(recovery); /* no spool, or that of another session */
    recovery->result->is_spool_cut = error == PROBITY_ERROR_DAMAGED;
    if (error != 0)
        return error;
    error = probity_attach_lock(&attach, &owner);
    recovery->result->is_taken = owner == PROBITY_ATTACH_RECOVERING;
    recovery->result->is_unknown = owner == PROBITY_ATTACH_UNKNOWN;
    if (error == 0)
        error = probity_spool_tail_adopt(&attach, &recovery->info, &recovery->rest);
    if (error != 0)
        probity_attach_close(&attach);
    recovery->has_rest = error == 0;
    return error;
}

/* ---- Appending ---------------------------------------------------------------------------------
 */

static int append(struct recovery *recovery, const uint8_t *block, size_t bytes)
{
    size_t done = 0;

    probity_assert(probity_block_is_valid(block, bytes));
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
    struct probity_spool_tail *rest = &recovery->rest;
    struct probity_drain_output output;
    struct probity_data data;
    uint8_t *payload = rest->block + PROBITY_BLOCK_HEADER_BYTES;

    probity_assert(index < rest->count);
    probity_spool_tail_pack(rest, index, recovery->serial, &output);
    if (output.records == 0)
        return 0;
    uint32_t payload_bytes = (uint32_t)(output.block_bytes - PROBITY_BLOCK_HEADER_BYTES);
    if (probity_data_get(payload, payload_bytes, &data) == 0 &&
        data.first_tick < recovery->newest.watermark) {
        data.flags |= PROBITY_DATA_LATE; /* older than the watermark */
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

    probity_assert(type == PROBITY_BLOCK_SYNC || type == PROBITY_BLOCK_END);
    if (sync->reason == PROBITY_END_FAILED) {
        probity_end_failed_put(payload, sync);
        bytes = PROBITY_END_FAILED_BYTES;
    } else {
        probity_sync_put(payload, sync);
    }
    probity_block_seal(block, type, recovery->serial, bytes);
    return append(recovery, block, PROBITY_BLOCK_HEADER_BYTES + bytes);
}

/* Returns whether the program ended the recording and left the rest to recover. */
static int has_ended(const struct probity_spool_header *header)
{
    return header->state == PROBITY_SPOOL_LEFT && (header->end_reason == PROBITY_END_STOPPED ||
                                                   header->end_reason == PROBITY_END_EXIT);
}

/* Writes anchors that only the spool has, then END with the spool's counters. */
static int append_end(struct recovery *recovery)
{
    const struct probity_spool_tail *rest = &recovery->rest;
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
    sync.reason = header->failed        ? PROBITY_END_FAILED
                  : has_ended(header) ? header->end_reason
                                      : PROBITY_END_RECOVERED;
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

    probity_assert(payload_bytes <= PROBITY_LIMIT_BATCH_BYTES);
    probity_block_seal(recovery->profile_block, PROBITY_BLOCK_PROFILE, recovery->serial,
                       payload_bytes);
    return append(recovery, recovery->profile_block, PROBITY_BLOCK_HEADER_BYTES + payload_bytes);
}

/* Returns the time of the program's last record: calls in progress lasted until then. */
static uint64_t last_moment(const struct recovery *recovery)
{
    const struct probity_spool_tail *rest = &recovery->rest;
    uint64_t last = recovery->last_tick;
    struct probity_cells cells;

    if (recovery->newest.anchor.ticks > last)
        last = recovery->newest.anchor.ticks;
    for (size_t i = 0; i < rest->anchor_count; i++)
        last = rest->anchors[i].ticks > last ? rest->anchors[i].ticks : last;
    for (uint64_t i = 0; i < rest->attach.chunk_count; i++) {
        uint64_t newest =
            probity_attach_cells(&rest->attach, i, &cells) ? probity_cells_newest(&cells) : 0;
        last = newest > last ? newest : last;
    }
    return last;
}

/* Writes the profile: the counts in the spool are newer than any profile in the file. */
static int append_profile(struct recovery *recovery)
{
    const struct probity_spool_tail *rest = &recovery->rest;
    struct probity_profile_sink sink = {.room = profile_room,
                                        .put = put_profile,
                                        .context = recovery,
                                        .bytes = PROBITY_LIMIT_BATCH_BYTES,
                                        .tick = last_moment(recovery),
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

static int append_spool(struct recovery *recovery)
{
    uint64_t start = recovery->end;
    int error = 0;

    probity_assert(recovery->end <= recovery->size);
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
            kept_errno = errno; /* the file ends with a torn block: still readable */
        errno = kept_errno;
    }
    return error;
}

/* Derives the CSV file's name from the trace's name, if INFO states that a CSV file is
 * requested. */
static void name_csv(struct recovery *recovery, const char *path)
{
    static const char suffix[] = ".csv" PROBITY_TRACE_SUFFIX;
    size_t length = strlen(path), kept = length - (sizeof PROBITY_TRACE_SUFFIX - 1);
    char *csv_path = recovery->result->csv_path;

    if (recovery->info.text[PROBITY_TAG_CSV].length == 0 ||
        strlen(recovery->parent.name) < sizeof suffix - 1 ||
        strcmp(path + length - (sizeof suffix - 1), suffix) != 0 ||
        kept >= sizeof recovery->result->csv_path)
        return;
    memcpy(csv_path, path, kept);
    csv_path[kept] = 0;
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
    name_csv(recovery, path);
    recovery->result->was_closed = recovery->has_end;
    recovery->result->has_spool = recovery->has_rest;
    if (recovery->has_rest && !recovery->has_end) {
        recovery->result->is_short = recovery->rest.header.committed > recovery->size;
        error = recovery->result->is_short ? PROBITY_ERROR_DAMAGED : append_spool(recovery);
    } else if (!recovery->has_begun && !recovery->has_end && recovery->end == recovery->size &&
               !recovery->result->is_copy) {
        recovery->result->is_empty = 1;
        error = append_spool(recovery);
    }
    if (error == 0 && recovery->has_rest) {
        error = probity_attach_retire(&recovery->rest.attach);
        recovery->result->is_spool_kept = error != 0;
    }
    return error;
}

static void release(struct recovery *recovery)
{
    int kept_errno = errno;

    if (recovery->has_rest)
        probity_spool_tail_release(&recovery->rest);
    if (recovery->file >= 0)
        close(recovery->file);
    probity_parent_close(&recovery->parent);
    free(recovery->info_bytes);
    free(recovery->profile_block);
    errno = kept_errno;
}

int probity_recover_discard(const char *trace_path, struct probity_recover_result *ret_result)
{
    struct recovery recovery = {.file = -1, .parent = {.directory = -1}, .result = ret_result};

    memset(ret_result, 0, sizeof *ret_result);
    int error = open_trace(&recovery, trace_path);
    if (error == 0)
        error = take_spool(&recovery);
    else if (error != PROBITY_ERROR_OPEN && error != PROBITY_ERROR_READ)
        error = 0; /* not a trace, a link, or another user's: there is no spool to remove */
    if (error == 0 && recovery.has_rest)
        error = probity_attach_retire(&recovery.rest.attach);
    release(&recovery);
    return error;
}

int probity_recover(const char *trace_path, int is_trusted,
                    struct probity_recover_result *ret_result)
{
    return probity_recover_only(trace_path, NULL, is_trusted, ret_result);
}

int probity_recover_only(const char *trace_path, const struct probity_recover_file *only,
                         int is_trusted, struct probity_recover_result *ret_result)
{
    struct recovery recovery = {.file = -1, .parent = {.directory = -1}, .result = ret_result};

    memset(ret_result, 0, sizeof *ret_result);
    recovery.is_trusted = is_trusted;
    recovery.only = only;
    int error = recover(&recovery, trace_path);
    release(&recovery);
    return error;
}
