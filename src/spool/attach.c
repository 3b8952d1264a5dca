/* SPDX-License-Identifier: MIT
 *
 * attach.c: finds, checks and maps the segments of a spool (doc/spool.md) in whatever process
 * wants to read it: a tool, or the program itself while it makes its CSV.
 */
#include "spool/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "probity.h"
#include "spool/segment.h"

const struct probity_spool_header *probity_attach_header(const struct probity_attach *attach)
{
    return attach->segments[0].map;
}

/* Opens a segment's file: a regular one of this user (or, for root, of anybody). */
static int segment_open(const char *path, int writable, size_t *ret_bytes)
{
    int flags = (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int file = open(path, flags);
    struct stat status;

    if (file < 0)
        return PROBITY_ERROR_OPEN;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
        (status.st_uid != geteuid() && geteuid() != 0) ||
        status.st_size < PROBITY_SPOOL_HEADER_BYTES) {
        close(file);
        return PROBITY_ERROR_FORMAT;
    }
    *ret_bytes = (size_t)status.st_size;
    return file;
}

/* What a segment must agree with. */
struct expected {
    const uint8_t *session, *boot;
    uint32_t number;
    uint32_t chunk_words, chunks; /* 0: segment 0 itself */
};

static int header_check(const struct probity_spool_header *header, size_t bytes,
                        const struct expected *expected)
{
    uint32_t words = header->chunk_words;

    if (memcmp(header->magic, PROBITY_SPOOL_MAGIC, sizeof header->magic) != 0)
        return PROBITY_ERROR_FORMAT;
    if (header->version != PROBITY_SPOOL_VERSION)
        return PROBITY_ERROR_VERSION;
    if (memcmp(header->session, expected->session, 16) != 0 ||
        memcmp(header->boot, expected->boot, 16) != 0)
        return PROBITY_ERROR_FORMAT;
    if (header->segment != expected->number || header->chunks == 0 ||
        words < PROBITY_CHUNK_WORDS_MIN || words > PROBITY_CHUNK_WORDS_MAX ||
        (words & (words - 1)) != 0 ||
        (expected->chunks != 0 &&
         (words != expected->chunk_words || header->chunks != expected->chunks)) ||
        probity_spool_segment_bytes(header->chunks, words) > bytes)
        return PROBITY_ERROR_DAMAGED;
    return 0;
}

static void segment_unmap(struct probity_attach_segment *segment)
{
    probity_cut_end(&segment->watch);
    munmap(segment->map, segment->bytes);
}

/* Maps an open segment. Its length is held against its header before anything else is believed. */
static int segment_map(int file, const char *path, size_t bytes, const struct expected *expected,
                       struct probity_attach_segment *segment)
{
    struct probity_spool_header header;

    segment->map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    segment->bytes = bytes;
    if (segment->map == MAP_FAILED)
        return PROBITY_ERROR_SYSTEM;
    probity_cut_begin(&segment->watch, path, segment->map, bytes);
    memcpy(&header, segment->map, sizeof header);
    int error = header_check(&header, bytes, expected);
    if (error != 0)
        segment_unmap(segment);
    segment->chunks = header.chunks;
    segment->chunk_words = header.chunk_words;
    return error;
}

/* Further segments. One that is missing or unfit ends the list: its records cannot be had. */
static int map_further(struct probity_attach *attach, struct expected expected, uint32_t count)
{
    size_t room = strlen(attach->path) + 16;
    char *path = malloc(room);

    if (path == NULL)
        return PROBITY_ERROR_MEMORY;
    for (uint32_t number = 1; number < count; number++) {
        size_t bytes;
        int file = probity_segment_path(attach->path, number, path, room) == 0
                       ? segment_open(path, 0, &bytes)
                       : -1;
        if (file < 0)
            break;
        struct probity_attach_segment *segment = &attach->segments[attach->segment_count];
        expected.number = number;
        if (segment_map(file, attach->path, bytes, &expected, segment) == 0) {
            attach->chunk_count += segment->chunks;
            attach->segment_count++;
        }
        close(file);
    }
    free(path);
    return 0;
}

int probity_attach_open(const char *path, const uint8_t session[16], const uint8_t boot[16],
                        int writable, struct probity_attach *ret_attach)
{
    struct expected expected = {.session = session, .boot = boot};
    struct probity_attach attach = {.file = -1};
    size_t bytes = 0;

    attach.file = segment_open(path, writable, &bytes);
    if (attach.file < 0)
        return attach.file;
    attach.path = strdup(path);
    attach.segments = calloc(PROBITY_SPOOL_SEGMENTS_MAX, sizeof *attach.segments);
    int error = attach.path == NULL || attach.segments == NULL ? PROBITY_ERROR_MEMORY : 0;
    if (error == 0)
        error = segment_map(attach.file, attach.path, bytes, &expected, &attach.segments[0]);
    if (error == 0) {
        struct probity_spool_header *header = attach.segments[0].map;
        uint32_t count = __atomic_load_n(&header->segments, __ATOMIC_ACQUIRE);
        attach.segment_count = 1;
        attach.chunk_words = expected.chunk_words = attach.segments[0].chunk_words;
        attach.chunk_count = expected.chunks = attach.segments[0].chunks;
        count = count < PROBITY_SPOOL_SEGMENTS_MAX ? count : PROBITY_SPOOL_SEGMENTS_MAX;
        error = map_further(&attach, expected, count);
    }
    if (error != 0) {
        probity_attach_close(&attach);
        return error;
    }
    *ret_attach = attach;
    return 0;
}

void probity_attach_close(struct probity_attach *attach)
{
    for (uint32_t i = 0; i < attach->segment_count; i++)
        segment_unmap(&attach->segments[i]);
    if (attach->file >= 0)
        close(attach->file);
    free(attach->segments);
    free(attach->path);
    *attach = (struct probity_attach){.file = -1};
}

int probity_attach_has_process(const struct probity_attach *attach)
{
    const struct probity_spool_header *header = probity_attach_header(attach);

    return header->process_start != 0 &&
           probity_os_process_start(header->pid) == header->process_start;
}

int probity_attach_is_alive(const struct probity_attach *attach)
{
    const struct probity_spool_header *header = probity_attach_header(attach);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (__atomic_load_n(&header->state, __ATOMIC_ACQUIRE) == PROBITY_SPOOL_CLOSED)
        return 0;
    /* Before the lock itself, which the writing thread takes first: else one that is taken between
     * the two looks would seem to have been let go of. */
    uint32_t was_locked = __atomic_load_n(&header->locked, __ATOMIC_ACQUIRE);
    /* On behalf of the open file, not of the process: the lock of a program that reads its own
     * trace counts as any other's. */
    int how = attach->is_locked ? F_GETLK : F_OFD_GETLK;
    if (fcntl(attach->file, how, &lock) == 0 && lock.l_type != F_UNLCK)
        return 1;
    return was_locked == 0 && probity_attach_has_process(attach);
}

/* Chunk `index` of all segments: its header and words. */
static const struct probity_chunk_header *chunk_at(const struct probity_attach *attach,
                                                   uint64_t index, const uint64_t **ret_words)
{
    const struct probity_attach_segment *segment = attach->segments;

    while (index >= segment->chunks) {
        index -= segment->chunks;
        segment++;
    }
    *ret_words = probity_spool_words(segment->map, segment->chunks, attach->chunk_words,
                                     (uint32_t)index);
    return probity_spool_chunk(segment->map, (uint32_t)index);
}

int probity_attach_chunk(const struct probity_attach *attach, uint64_t index,
                         struct probity_attach_chunk *ret_chunk)
{
    const uint64_t *words;
    const struct probity_chunk_header *header = chunk_at(attach, index, &words);
    /* Acquire: pairs with the owner's release of open and of full: the fields are there. */
    uint32_t state = __atomic_load_n(&header->state, __ATOMIC_ACQUIRE);

    if (state != PROBITY_CHUNK_OPEN && state != PROBITY_CHUNK_FULL)
        return 0;
    /* The serial before all other fields, and looked at again behind the words: so a chunk that is
     * used anew meanwhile cannot lend its fields to what it was. Acquire keeps the order; pairs
     * with probity_live_chunk_prepare, whose release of open comes behind all fields. */
    uint64_t serial = __atomic_load_n(&header->serial, __ATOMIC_ACQUIRE);
    /* Flags before drained, against the order of older writers, who mark a chunk held: it then
     * looks as if it were not, and the block that is in the file already takes its words away. */
    uint32_t flags = __atomic_load_n(&header->flags, __ATOMIC_ACQUIRE);
    struct probity_attach_chunk chunk = {
        .state = state,
        .thread = header->thread,
        .tid = header->tid,
        .end = attach->chunk_words,
        .drained = __atomic_load_n(&header->drained, __ATOMIC_RELAXED),
        .serial = serial,
        .base_tick = header->base_tick,
        .cpu_ns = header->cpu_ns,
        .cpu_known = (flags & PROBITY_CHUNK_CPU_KNOWN) != 0,
        .is_held = (flags & PROBITY_CHUNK_HELD) != 0,
        .words = words};
    uint32_t used = __atomic_load_n(&header->used, __ATOMIC_RELAXED);
    if (state == PROBITY_CHUNK_FULL && used < chunk.end)
        chunk.end = used;
    if (chunk.drained > chunk.end)
        chunk.drained = chunk.end;
    *ret_chunk = chunk;
    return 1;
}

int probity_attach_chunk_stands(const struct probity_attach *attach, uint64_t index,
                                const struct probity_attach_chunk *chunk)
{
    const uint64_t *words;
    const struct probity_chunk_header *header = chunk_at(attach, index, &words);

    /* Acquire: the words were loaded before; pairs with the owner that zeroes only what is free. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&header->state, __ATOMIC_ACQUIRE) != PROBITY_CHUNK_FREE &&
           __atomic_load_n(&header->serial, __ATOMIC_RELAXED) == chunk->serial;
}

int probity_attach_cells(const struct probity_attach *attach, uint64_t index,
                         struct probity_cells *ret_cells)
{
    const uint64_t *words;
    const struct probity_chunk_header *header = chunk_at(attach, index, &words);

    return probity_cells_get(header, words, attach->chunk_words, ret_cells);
}

int probity_attach_is_cut(const struct probity_attach *attach)
{
    int is_cut = 0;

    for (uint32_t i = 0; i < attach->segment_count; i++)
        is_cut |= attach->segments[i].watch.is_cut;
    return is_cut;
}

int probity_attach_lock(struct probity_attach *attach)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fcntl(attach->file, F_SETLK, &lock) != 0)
        return PROBITY_ERROR_STATE;
    attach->is_locked = 1;
    return 0;
}

int probity_attach_retire(const struct probity_attach *attach)
{
    /* One more than is told: it was there when the program died, and about to be told. */
    uint32_t told = __atomic_load_n(&probity_attach_header(attach)->segments, __ATOMIC_ACQUIRE);
    uint32_t number = told < PROBITY_SPOOL_SEGMENTS_MAX ? told + 1 : PROBITY_SPOOL_SEGMENTS_MAX;
    uint32_t closed = PROBITY_SPOOL_CLOSED;
    size_t room = strlen(attach->path) + 16;
    char *path = malloc(room);
    /* Its first byte is all that differs between states. */
    _Static_assert(PROBITY_SPOOL_CLOSED < 256, "the others are zero");
    ssize_t put = pwrite(attach->file, &closed, sizeof closed,
                         offsetof(struct probity_spool_header, state));

    while (path != NULL && number-- > 1) {
        if (probity_segment_path(attach->path, number, path, room) == 0)
            unlink(path);
    }
    free(path);
    /* Segment 0 last: while it is there, another recover finds the rest. One that found it before
     * may have removed it. */
    return put > 0 && (unlink(attach->path) == 0 || errno == ENOENT)
               ? 0
               : PROBITY_ERROR_WRITE;
}
