/* SPDX-License-Identifier: MIT
 *
 * drainer.c: drains a live spool from another process.
 *
 *     copy chunks ─► DATA ... SYNC ─► drained, free ─► committed, watermark, beat
 *
 * Chunks are copied, as by any reader (src/reader/spool_tail.h); the first pass skips words that
 * are already in the file. Only headers are modified, and only after the write, so a kill at any
 * arrow neither loses nor duplicates records. The program's cursors are not visible here, so the
 * watermark is an estimate: a record reserved before the watermark and stored later is written in a
 * block marked late.
 */
#include "writer/drainer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/parent.h"
#include "base/sigbus_guard.h"
#include "base/ticks.h"
#include "probity.h"
#include "reader/file.h"
#include "reader/scan.h"
#include "reader/spool_tail.h"
#include "writer/append.h"

enum { MARGIN_NS = 1000000, HOLE_WAIT_NS = 1000000000 };

/* Values to be stored in a chunk's header once its block is in the file. */
struct commit {
    uint64_t index;
    uint32_t end;
    int is_done;
};

/* Writable mapping of the headers of a segment and its chunks. The owner may truncate the file at
 * any time. */
struct headers {
    void *map;
    struct probity_sigbus_guard watch;
};

struct probity_drainer {
    struct probity_append append;
    struct probity_info info;
    uint8_t *info_bytes;
    struct probity_parent parent;
    struct probity_attach_query query;
    struct probity_place place;
    int lock; /* segment 0, locked as a drainer */
    struct probity_spool_header *header;
    struct headers **headers; /* one for each segment */
    uint32_t segments, chunks, chunk_words;
    uint64_t serial; /* that of the next block */
    struct probity_sync newest;
    uint64_t hole_since; /* tick at which a hole was first found; 0: none */
    int is_first;
    uint32_t wake_seen; /* before the last pass */
    struct commit *commits;
    size_t commit_count, commit_capacity;
};

/* ---- Opening a spool ---------------------------------------------------------------------------
 */

/* Opens a regular file of this user, not a link. */
static int open_own(const struct probity_parent *parent, const struct probity_recover_file *only,
                    int *ret_file)
{
    struct stat status;
    int file = probity_os_open_regular(parent->directory, parent->name, O_RDWR | O_NOFOLLOW);

    if (file < 0)
        return errno == ELOOP || errno == EINVAL ? PROBITY_ERROR_ARGUMENT : PROBITY_ERROR_OPEN;
    if (fstat(file, &status) != 0 || status.st_uid != geteuid()) {
        close(file);
        return PROBITY_ERROR_ARGUMENT;
    }
    if (only != NULL && (status.st_dev != only->device || status.st_ino != only->inode)) {
        close(file);
        errno = ESTALE;
        return PROBITY_ERROR_OPEN;
    }
    *ret_file = file;
    return 0;
}

static int take_info(struct probity_drainer *drainer, const struct probity_scan_item *item)
{
    size_t bytes = item->header.payload_bytes;

    if (item->kind != PROBITY_SCAN_BLOCK || item->header.type != PROBITY_BLOCK_INFO)
        return PROBITY_ERROR_DAMAGED;
    drainer->info_bytes = malloc(bytes + 1);
    if (drainer->info_bytes == NULL)
        return PROBITY_ERROR_MEMORY;
    memcpy(drainer->info_bytes, item->payload, bytes);
    int error = probity_info_get(drainer->info_bytes, bytes, &drainer->info);
    drainer->newest = (struct probity_sync){.anchor = drainer->info.anchor};
    return error;
}

static int read_info(struct probity_drainer *drainer)
{
    struct probity_scan scan;
    struct probity_scan_item item;
    int64_t size = probity_file_size(drainer->append.descriptor);

    if (size < 0)
        return (int)size;
    int error = probity_scan_init(&scan, drainer->append.descriptor, (uint64_t)size, 1);
    if (error == 0) {
        int got = probity_scan_next(&scan, &item);
        error = got > 0 ? take_info(drainer, &item) : got < 0 ? got : PROBITY_ERROR_DAMAGED;
        drainer->append.bytes_min = got > 0 ? item.offset + item.bytes : 0;
    }
    probity_scan_release(&scan);
    return error;
}

static int keep_map(struct probity_drainer *drainer, uint32_t number, int file, size_t bytes)
{
    struct headers **all = probity_array_append(drainer->headers, sizeof *all, number);

    probity_assert(number == drainer->segments && bytes >= PROBITY_SPOOL_HEADER_BYTES);
    if (all == NULL)
        return PROBITY_ERROR_MEMORY;
    drainer->headers = all;
    struct headers *headers = malloc(sizeof *headers); /* must not move: it has a guard */
    if (headers == NULL)
        return PROBITY_ERROR_MEMORY;
    headers->map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (headers->map == MAP_FAILED) {
        free(headers);
        return PROBITY_ERROR_SYSTEM;
    }
    probity_sigbus_guard_begin(&headers->watch, drainer->place.text, headers->map, bytes);
    all[number] = headers;
    drainer->segments = number + 1;
    return 0;
}

/* Maps the headers of segment `number` writable. They are checked against the trace and segment 0
 * here, and not trusted later. */
static int map_headers(struct probity_drainer *drainer, uint32_t number, int file)
{
    struct probity_spool_header header;
    struct stat status;

    probity_assert(number == 0 || drainer->chunks > 0);
    if (pread(file, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        memcmp(header.magic, PROBITY_SPOOL_MAGIC, sizeof header.magic) != 0 ||
        memcmp(header.session, drainer->info.session, 16) != 0 || header.segment != number)
        return PROBITY_ERROR_FORMAT;
    if (number == 0) {
        drainer->chunks = header.chunks;
        drainer->chunk_words = header.chunk_words;
    }
    uint64_t bytes = PROBITY_SPOOL_HEADER_BYTES +
                     (uint64_t)drainer->chunks * sizeof(struct probity_chunk_header);
    if (header.chunks != drainer->chunks || drainer->chunks == 0 || fstat(file, &status) != 0 ||
        bytes > (uint64_t)status.st_size)
        return PROBITY_ERROR_DAMAGED;
    return keep_map(drainer, number, file, bytes);
}

/* Maps segments that the program has added. Stops at one that cannot be mapped. */
static void map_further(struct probity_drainer *drainer)
{
    uint32_t count = __atomic_load_n(&drainer->header->segments, __ATOMIC_ACQUIRE);
    size_t bytes;
    int error = 0;

    while (error == 0 && drainer->segments < count &&
           drainer->segments < PROBITY_SPOOL_SEGMENTS_MAX) {
        uint32_t number = drainer->segments;
        int file = probity_place_open(&drainer->place, number, 1, &bytes);
        if (file < 0)
            return;
        error = map_headers(drainer, number, file);
        close(file);
    }
}

static int take_spool(struct probity_drainer *drainer)
{
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = PROBITY_SPOOL_LOCK_DRAINER,
                         .l_len = 1};
    struct probity_attach attach;
    size_t bytes;
    int error = probity_spool_tail_query(drainer->append.descriptor, drainer->parent.directory,
                                         &drainer->info, &drainer->query);

    drainer->query.writable = 1;
    if (error == 0)
        error = probity_attach_find(&drainer->query, NULL, &attach);
    if (error != 0)
        return error == PROBITY_ERROR_OPEN || error == PROBITY_ERROR_FORMAT ? PROBITY_ERROR_STATE
                                                                            : error;
    drainer->place = attach.place; /* owned by the drainer now */
    attach.place = (struct probity_place){.directory = -1};
    probity_attach_close(&attach);
    drainer->lock = probity_place_open(&drainer->place, 0, 1, &bytes);
    if (drainer->lock < 0)
        return PROBITY_ERROR_STATE;
    error = map_headers(drainer, 0, drainer->lock);
    if (error != 0)
        return error;
    drainer->header = drainer->headers[0]->map;
    if (__atomic_load_n(&drainer->header->writer, __ATOMIC_ACQUIRE) !=
            PROBITY_SPOOL_WRITER_EXTERNAL ||
        fcntl(drainer->lock, F_OFD_SETLK, &lock) != 0)
        return PROBITY_ERROR_STATE;
    return 0;
}

int probity_drainer_open(const char *trace_path, const struct probity_recover_file *only,
                         struct probity_drainer **ret_drainer)
{
    struct probity_drainer *drainer = calloc(1, sizeof *drainer);

    if (drainer == NULL)
        return PROBITY_ERROR_MEMORY;
    drainer->lock = drainer->append.descriptor = -1;
    drainer->place.directory = drainer->parent.directory = -1;
    drainer->is_first = 1;
    int error = probity_parent_open(trace_path, &drainer->parent) != 0 ? PROBITY_ERROR_OPEN : 0;
    if (error == 0)
        error = open_own(&drainer->parent, only, &drainer->append.descriptor);
    if (error == 0)
        error = read_info(drainer);
    if (error == 0)
        error = take_spool(drainer);
    if (error == 0)
        drainer->append.has_links = 1;
    if (error != 0)
        probity_drainer_close(drainer);
    else
        *ret_drainer = drainer;
    return error;
}

void probity_drainer_close(struct probity_drainer *drainer)
{
    size_t bytes =
        PROBITY_SPOOL_HEADER_BYTES + drainer->chunks * sizeof(struct probity_chunk_header);
    int kept_errno = errno;

    for (uint32_t i = 0; i < drainer->segments; i++) {
        probity_sigbus_guard_end(&drainer->headers[i]->watch);
        munmap(drainer->headers[i]->map, bytes);
        free(drainer->headers[i]);
    }
    if (drainer->lock >= 0)
        close(drainer->lock);
    if (drainer->append.descriptor >= 0)
        close(drainer->append.descriptor);
    free(drainer->headers);
    free(drainer->commits);
    probity_place_close(&drainer->place);
    probity_parent_close(&drainer->parent);
    free(drainer->info_bytes);
    free(drainer);
    errno = kept_errno;
}

/* ---- A pass ------------------------------------------------------------------------------------
 */

static struct probity_chunk_header *chunk_at(const struct probity_drainer *drainer, uint64_t index)
{
    probity_assert(index / drainer->chunks < drainer->segments);
    return probity_spool_chunk(drainer->headers[index / drainer->chunks]->map,
                               (uint32_t)(index % drainer->chunks));
}

/* Finds the end of the file, and which words of the spool the file contains: the previous drainer
 * may have been killed between its write and the following stores. */
static int read_file(struct probity_drainer *drainer, struct probity_spool_tail *rest)
{
    struct probity_scan scan;
    struct probity_scan_item item;
    struct probity_data data;
    struct probity_sync sync;
    int64_t size = probity_file_size(drainer->append.descriptor);
    int got = size < 0 ? (int)size
                       : probity_scan_init(&scan, drainer->append.descriptor, (uint64_t)size, 1);
    uint64_t since = 0;

    if (size < 0)
        return got;
    while (got >= 0 && (got = probity_scan_next(&scan, &item)) > 0) {
        if (item.kind != PROBITY_SCAN_BLOCK)
            continue;
        drainer->append.committed = item.offset + item.bytes;
        drainer->serial = item.header.serial + 1;
        if (item.header.type == PROBITY_BLOCK_DATA &&
            probity_data_get(item.payload, item.header.payload_bytes, &data) == 0) {
            since += data.records;
            got = probity_spool_tail_cover(rest, &data);
        } else if (item.header.type == PROBITY_BLOCK_SYNC &&
                   probity_sync_get(item.payload, item.header.payload_bytes, &sync) == 0) {
            drainer->newest = sync;
            since = 0;
        } else if (item.header.type == PROBITY_BLOCK_END) {
            got = PROBITY_ERROR_STATE;
        }
    }
    probity_scan_release(&scan);
    drainer->newest.totals.records += since;
    if (got == 0 && (uint64_t)size > drainer->append.committed &&
        ftruncate(drainer->append.descriptor, (off_t)drainer->append.committed) != 0)
        got = PROBITY_ERROR_WRITE;
    return got;
}

static int note(struct probity_drainer *drainer, struct commit commit)
{
    void *commits = probity_array_room(drainer->commits, sizeof *drainer->commits,
                                       drainer->commit_count, &drainer->commit_capacity);
    if (commits == NULL)
        return PROBITY_ERROR_MEMORY;
    drainer->commits = commits;
    drainer->commits[drainer->commit_count++] = commit;
    return 0;
}

static int put_block(struct probity_drainer *drainer, const uint8_t *block, size_t bytes)
{
    int error = probity_append_bytes(&drainer->append, block, bytes);

    probity_assert(probity_block_is_valid(block, bytes));
    errno = error != 0 ? drainer->append.error : errno;
    drainer->serial += error == 0;
    return error;
}

/* Marks blocks with records older than the watermark as late. */
static void mark_late(const struct probity_drainer *drainer, uint8_t *block, size_t bytes)
{
    uint8_t *payload = block + PROBITY_BLOCK_HEADER_BYTES;
    struct probity_data data;

    probity_assert(bytes > PROBITY_BLOCK_HEADER_BYTES);
    if (probity_data_get(payload, bytes - PROBITY_BLOCK_HEADER_BYTES, &data) != 0 ||
        data.first_tick >= drainer->newest.watermark)
        return;
    data.flags |= PROBITY_DATA_LATE;
    probity_data_put(payload, &data);
    probity_block_seal(block, PROBITY_BLOCK_DATA, drainer->serial,
                       (uint32_t)(bytes - PROBITY_BLOCK_HEADER_BYTES));
}

/* Drains one chunk of the copy; *hold: a tick that the watermark must not pass. */
static int drain_chunk(struct probity_drainer *drainer, struct probity_spool_tail *rest, size_t i,
                       uint64_t *hold)
{
    const struct probity_spool_tail_chunk *taken = &rest->chunks[i];
    const struct probity_chunk_header *header = chunk_at(drainer, taken->index);
    struct probity_drain_output output;
    int error = 0;

    probity_spool_tail_pack(rest, i, drainer->serial, &output);
    if (output.records > 0) {
        mark_late(drainer, rest->block, output.block_bytes);
        error = put_block(drainer, rest->block, output.block_bytes);
        drainer->newest.totals.records += output.records;
    }
    uint32_t end = output.end > taken->first ? output.end : taken->first;
    probity_assert(end <= taken->chunk.end);
    int is_full = taken->chunk.state == PROBITY_CHUNK_FULL;
    uint32_t used = __atomic_load_n(&header->used, __ATOMIC_RELAXED);
    if (end < taken->chunk.end || (is_full && end < used)) {
        uint64_t tick = output.records > 0 ? output.last_tick : taken->chunk.base_tick;
        *hold = tick < *hold ? tick : *hold;
    }
    /* Held: the file has a block after a hole; the rest is written at the end. */
    struct commit commit = {taken->index, end, is_full && end >= used && !taken->chunk.is_held};
    return error == 0 ? note(drainer, commit) : error;
}

/* Handles full chunks with nothing left to drain, and therefore no copy: they were drained to their
 * end while open, or by a drainer that was killed before it freed them. */
static int note_drained(struct probity_drainer *drainer)
{
    uint64_t count = (uint64_t)drainer->segments * drainer->chunks;
    int error = 0;

    for (uint64_t i = 0; error == 0 && i < count; i++) {
        const struct probity_chunk_header *header = chunk_at(drainer, i);
        /* Acquire: `used` was stored before. */
        if (__atomic_load_n(&header->state, __ATOMIC_ACQUIRE) != PROBITY_CHUNK_FULL ||
            (__atomic_load_n(&header->flags, __ATOMIC_RELAXED) & PROBITY_CHUNK_HELD) != 0)
            continue;
        uint32_t drained = __atomic_load_n(&header->drained, __ATOMIC_RELAXED);
        if (drained >= __atomic_load_n(&header->used, __ATOMIC_RELAXED))
            error = note(drainer, (struct commit){i, drained, 1});
    }
    return error;
}

/* Writes a SYNC with the latest anchor taken by the program, because this process may be in another
 * time namespace. */
static int put_sync(struct probity_drainer *drainer, const struct probity_spool_tail *rest)
{
    uint8_t block[PROBITY_BLOCK_HEADER_BYTES + PROBITY_SYNC_BYTES];
    const struct probity_spool_header *header = &rest->header;
    struct probity_sync *sync = &drainer->newest;

    if (rest->anchor_count > 0 &&
        rest->anchors[rest->anchor_count - 1].ticks > sync->anchor.ticks)
        sync->anchor = rest->anchors[rest->anchor_count - 1];
    sync->totals = (struct probity_totals){
        sync->totals.records, header->dropped_full, header->dropped_memory, header->dropped_write,
        header->stalls, header->stall_ticks, header->unmeasured_ticks_max,
        (uint32_t)header->threads};
    probity_sync_put(block + PROBITY_BLOCK_HEADER_BYTES, sync);
    probity_block_seal(block, PROBITY_BLOCK_SYNC, drainer->serial, PROBITY_SYNC_BYTES);
    return put_block(drainer, block, sizeof block);
}

/* In the order of doc/spool.md, "Order of the writer's stores". */
static void commit(struct probity_drainer *drainer)
{
    struct probity_spool_header *header = drainer->header;
    uint32_t freed = 0;

    for (size_t i = 0; i < drainer->commit_count; i++) {
        const struct commit *done = &drainer->commits[i];
        struct probity_chunk_header *chunk = chunk_at(drainer, done->index);
        /* Release: the block is in the file. */
        __atomic_store_n(&chunk->drained, done->end, __ATOMIC_RELEASE);
        if (!done->is_done)
            continue;
        __atomic_store_n(&chunk->state, PROBITY_CHUNK_FREE, __ATOMIC_RELEASE);
        freed++;
    }
    drainer->commit_count = 0;
    __atomic_store_n(&header->committed, drainer->append.committed, __ATOMIC_RELEASE);
    __atomic_store_n(&header->watermark, drainer->newest.watermark, __ATOMIC_RELEASE);
    /* A drainer that was killed may have freed chunks without notifying anyone. */
    if (freed > 0 || drainer->is_first) {
        __atomic_add_fetch(&header->freed, 1, __ATOMIC_RELEASE);
        probity_os_wake_shared(&header->freed, INT32_MAX);
    }
}

/* A hole may hold back the watermark for a second: after a jump, it may never be filled. */
static void set_watermark(struct probity_drainer *drainer, uint64_t now, uint64_t hold,
                          uint64_t rate)
{
    uint64_t watermark = now - probity_ticks_of_ns(MARGIN_NS, rate);

    if (hold == UINT64_MAX)
        drainer->hole_since = 0;
    else if (drainer->hole_since == 0)
        drainer->hole_since = now;
    if (hold < watermark && now - drainer->hole_since < probity_ticks_of_ns(HOLE_WAIT_NS, rate))
        watermark = hold;
    if (watermark > drainer->newest.watermark)
        drainer->newest.watermark = watermark;
}

static int drain(struct probity_drainer *drainer, struct probity_spool_tail *rest, uint64_t now)
{
    uint64_t hold = UINT64_MAX, before;
    int error = drainer->is_first ? read_file(drainer, rest) : 0;

    before = drainer->append.committed;
    for (size_t i = 0; error == 0 && i < rest->count; i++) {
        if (rest->chunks[i].index / drainer->chunks < drainer->segments)
            error = drain_chunk(drainer, rest, i, &hold);
    }
    if (error == 0)
        error = note_drained(drainer);
    if (error != 0)
        return error;
    set_watermark(drainer, now, hold, rest->rate);
    if (drainer->append.committed != before)
        error = put_sync(drainer, rest);
    if (error == 0)
        commit(drainer);
    drainer->is_first = 0;
    return error;
}

static int is_cut(const struct probity_drainer *drainer)
{
    int is_cut = 0;

    for (uint32_t i = 0; i < drainer->segments; i++)
        is_cut |= drainer->headers[i]->watch.is_cut;
    return is_cut;
}

int probity_drainer_pass(struct probity_drainer *drainer)
{
    struct probity_spool_header *header = drainer->header;
    uint32_t asked = __atomic_load_n(&header->flush_asked, __ATOMIC_ACQUIRE);
    uint64_t now = probity_clock_ticks(drainer->info.clock);
    struct probity_spool_tail rest;

    probity_assert(drainer->header != NULL && drainer->segments > 0);
    drainer->wake_seen = __atomic_load_n(&header->wake, __ATOMIC_ACQUIRE);
    __atomic_add_fetch(&header->beat, 1, __ATOMIC_RELEASE);
    map_further(drainer);
    int error = probity_spool_tail_take(&drainer->query, &drainer->info, &rest);
    if (error != 0)
        return error == PROBITY_ERROR_OPEN ? 0 : error;
    int is_over = !rest.is_alive;
    rest.stop_at_hole = 1;
    /* A ring is written when recording ends: until then, the program overwrites its chunks. */
    if (!is_over && drainer->info.mode != PROBITY_MODE_RING - PROBITY_MODE_BLOCK)
        error = drain(drainer, &rest, now);
    probity_spool_tail_release(&rest);
    if (error == 0) {
        __atomic_store_n(&header->flush_done, asked, __ATOMIC_RELEASE);
        probity_os_wake_shared(&header->flush_done, INT32_MAX);
    }
    if (is_cut(drainer))
        return PROBITY_ERROR_DAMAGED;
    return error != 0 ? error : !is_over;
}

uint64_t probity_drainer_began_ns(const struct probity_drainer *drainer)
{
    return drainer->info.anchor.realtime_ns;
}

void probity_drainer_wait(const struct probity_drainer *drainer, int64_t timeout_ns)
{
    const uint32_t *wake = &drainer->header->wake;

    probity_os_wait_shared(wake, drainer->wake_seen, timeout_ns);
}
