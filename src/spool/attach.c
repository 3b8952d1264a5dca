/* SPDX-License-Identifier: MIT
 *
 * attach.c: finds, checks and maps the segments of a spool (doc/spool.md) in any process that reads
 * it: the tool, or the program itself when it writes its CSV.
 */
#include "spool/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/os.h"
#include "probity.h"

#ifdef PROBITY_DEBUG
int probity_attach_is_valid(const struct probity_attach *attach)
{
    uint64_t chunks = 0;

    for (uint32_t i = 0; i < attach->segment_count; i++) {
        const struct probity_attach_segment *segment = &attach->segments[i];
        if (segment->chunk_words != attach->chunk_words || segment->chunks == 0 ||
            probity_spool_segment_bytes(segment->chunks, segment->chunk_words) > segment->bytes)
            return 0;
        chunks += segment->chunks;
    }
    return attach->file >= 0 && attach->segment_count > 0 &&
           attach->segment_count <= PROBITY_SPOOL_SEGMENTS_MAX &&
           probity_chunk_words_is_valid(attach->chunk_words) && chunks == attach->chunk_count;
}
#endif

const struct probity_spool_header *probity_attach_header(const struct probity_attach *attach)
{
    probity_assert(attach->segment_count > 0);
    return attach->segments[0].map;
}

/* What a segment must match. */
struct expected {
    const uint8_t *session, *boot;
    uint32_t number;
    uint32_t chunk_words, chunks; /* 0: for segment 0 itself */
    const struct probity_attach_query *trace; /* NULL: any trace */
    uint32_t owner;                           /* that of the spool */
    int is_copy;                              /* output: the spool belongs to another file */
};

/* A copy of a trace, or a trace with another's session id, must not take the records of the
 * original. Older writers do not record which file they wrote: it must at least have the same owner
 * as the spool. */
static int is_of_trace(const struct probity_spool_header *header, const struct expected *expected)
{
    const struct probity_attach_query *trace = expected->trace;

    if (trace == NULL || expected->number > 0 || trace->takes_copies)
        return 1;
    if (header->trace_device == 0 && header->trace_inode == 0)
        return expected->owner == trace->place.owner;
    return header->trace_device == trace->trace_device && header->trace_inode == trace->trace_inode;
}

static int header_check(const struct probity_spool_header *header, size_t bytes,
                        struct expected *expected)
{
    uint32_t words = header->chunk_words;

    if (memcmp(header->magic, PROBITY_SPOOL_MAGIC, sizeof header->magic) != 0)
        return PROBITY_ERROR_FORMAT;
    if (header->version != PROBITY_SPOOL_VERSION)
        return PROBITY_ERROR_VERSION;
    if (memcmp(header->session, expected->session, 16) != 0 ||
        memcmp(header->boot, expected->boot, 16) != 0)
        return PROBITY_ERROR_FORMAT;
    expected->is_copy = !is_of_trace(header, expected);
    if (expected->is_copy)
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
    probity_assert(segment->map != NULL && segment->map != MAP_FAILED);
    probity_sigbus_guard_end(&segment->watch);
    munmap(segment->map, segment->bytes);
}

/* Maps an open segment. Checks its length against its header before using anything else. */
static int segment_map(int file, const char *text, size_t bytes, struct expected *expected,
                       struct probity_attach_segment *segment)
{
    struct probity_spool_header header;

    if (bytes < PROBITY_SPOOL_HEADER_BYTES)
        return PROBITY_ERROR_FORMAT;
    segment->map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0);
    segment->bytes = bytes;
    if (segment->map == MAP_FAILED)
        return PROBITY_ERROR_SYSTEM;
    probity_sigbus_guard_begin(&segment->watch, text, segment->map, bytes);
    memcpy(&header, segment->map, sizeof header);
    int error = header_check(&header, bytes, expected);
    if (error != 0)
        segment_unmap(segment);
    segment->chunks = header.chunks;
    segment->chunk_words = header.chunk_words;
    return error;
}

/* Maps the other segments. Stops at a missing or invalid one: its records are unavailable. */
static void map_further(struct probity_attach *attach, struct expected *expected, uint32_t count)
{
    for (uint32_t number = 1; number < count; number++) {
        size_t bytes;
        int file = probity_place_open(&attach->place, number, 0, &bytes);
        if (file < 0)
            break;
        struct probity_attach_segment *segment = &attach->segments[attach->segment_count];
        probity_assert(attach->segment_count < PROBITY_SPOOL_SEGMENTS_MAX);
        expected->number = number;
        if (segment_map(file, attach->place.text, bytes, expected, segment) == 0) {
            attach->chunk_count += segment->chunks;
            attach->segment_count++;
        }
        close(file);
    }
}

static int map_all(struct probity_attach *attach, size_t bytes, struct expected *expected)
{
    int error = segment_map(attach->file, attach->place.text, bytes, expected,
                            &attach->segments[0]);

    if (error != 0)
        return error;
    struct probity_spool_header *header = attach->segments[0].map;
    uint32_t count = __atomic_load_n(&header->segments, __ATOMIC_ACQUIRE);
    attach->segment_count = 1;
    attach->chunk_words = expected->chunk_words = attach->segments[0].chunk_words;
    attach->chunk_count = expected->chunks = attach->segments[0].chunks;
    map_further(attach, expected,
                count < PROBITY_SPOOL_SEGMENTS_MAX ? count : PROBITY_SPOOL_SEGMENTS_MAX);
    return 0;
}

static int open_place(struct probity_place *place, struct expected *expected, int writable,
                      struct probity_attach *ret_attach)
{
    struct probity_attach attach = {.place = {.directory = -1}};
    size_t bytes = 0;

    expected->owner = place->owner;
    attach.file = probity_place_open(place, 0, writable, &bytes);
    if (attach.file < 0)
        return attach.file;
    attach.segments = calloc(PROBITY_SPOOL_SEGMENTS_MAX, sizeof *attach.segments);
    attach.place = *place;
    int error = attach.segments == NULL ? PROBITY_ERROR_MEMORY : map_all(&attach, bytes, expected);
    if (error != 0) {
        attach.place = (struct probity_place){.directory = -1}; /* the caller still owns it */
        probity_attach_close(&attach);
        return error;
    }
    probity_assert(probity_attach_is_valid(&attach));
    *place = (struct probity_place){.directory = -1};
    *ret_attach = attach;
    return 0;
}

int probity_attach_open(struct probity_place *place, const uint8_t session[16],
                        const uint8_t boot[16], int writable, struct probity_attach *ret_attach)
{
    struct expected expected = {.session = session, .boot = boot};

    return open_place(place, &expected, writable, ret_attach);
}

int probity_attach_find(const struct probity_attach_query *query, int *ret_is_copy,
                        struct probity_attach *ret_attach)
{
    int result = PROBITY_ERROR_OPEN, got, is_copy = 0;
    struct probity_place place;
    unsigned step = 0;

    while ((got = probity_place_next(&query->place, &step, &place)) > 0) {
        struct expected expected = {
            .session = query->place.session, .boot = query->boot, .trace = query};
        int error = open_place(&place, &expected, query->writable, ret_attach);
        probity_place_close(&place);
        is_copy |= expected.is_copy;
        if (error == 0 || error == PROBITY_ERROR_MEMORY)
            return error;
        /* An invalid file at one place is reported rather than a missing one elsewhere. */
        if (result == PROBITY_ERROR_OPEN)
            result = error;
    }
    if (ret_is_copy != NULL)
        *ret_is_copy = is_copy;
    if (result == PROBITY_ERROR_OPEN)
        errno = geteuid() == 0 || geteuid() == query->place.owner ? ENOENT : EACCES;
    return got < 0 ? got : result;
}

void probity_attach_close(struct probity_attach *attach)
{
    for (uint32_t i = 0; i < attach->segment_count; i++)
        segment_unmap(&attach->segments[i]);
    if (attach->file >= 0)
        close(attach->file);
    probity_place_close(&attach->place);
    free(attach->segments);
    *attach = (struct probity_attach){.file = -1, .place = {.directory = -1}};
}

static struct flock lock_of(enum probity_spool_lock which, short type)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = which, .l_len = 1};
}

/* Returns the kind of lock held by another open file: F_WRLCK, F_RDLCK, F_UNLCK; -1 if unknown.
 * Includes locks of this program, if it reads its own trace. */
static int lock_query(const struct probity_attach *attach, enum probity_spool_lock which)
{
    struct flock lock = lock_of(which, F_WRLCK);

    return fcntl(attach->file, F_OFD_GETLK, &lock) == 0 ? lock.l_type : -1;
}

static int is_closed(const struct probity_attach *attach)
{
    const struct probity_spool_header *header = probity_attach_header(attach);

    return __atomic_load_n(&header->state, __ATOMIC_ACQUIRE) >= PROBITY_SPOOL_CLOSED;
}

/* Returns whether recording ended because the trace could not be written: then the program keeps
 * its lock. */
static int has_failed(const struct probity_attach *attach)
{
    const struct probity_spool_header *header = probity_attach_header(attach);

    return __atomic_load_n(&header->failed, __ATOMIC_ACQUIRE) != 0 &&
           lock_query(attach, PROBITY_SPOOL_LOCK_DRAINER) == F_UNLCK;
}

enum probity_attach_owner probity_attach_owner(const struct probity_attach *attach)
{
    const struct probity_spool_header *header = probity_attach_header(attach);

    if (is_closed(attach))
        return PROBITY_ATTACH_DEAD;
    /* Loaded before the lock, which writers before 0.2 take first: otherwise a lock taken between
     * the two loads would appear to have been released. */
    uint32_t was_locked = __atomic_load_n(&header->locked, __ATOMIC_ACQUIRE);
    int held = lock_query(attach, PROBITY_SPOOL_LOCK_PROGRAM);
    if (held == F_RDLCK)
        return PROBITY_ATTACH_RECOVERING;
    if (held == F_WRLCK)
        return has_failed(attach) ? PROBITY_ATTACH_DEAD : PROBITY_ATTACH_ALIVE;
    if (held == F_UNLCK && (was_locked == 1 || probity_attach_is_cut(attach)))
        return PROBITY_ATTACH_DEAD; /* if the spool was truncated, the field is lost */
    return PROBITY_ATTACH_UNKNOWN;
}

int probity_attach_is_alive(const struct probity_attach *attach)
{
    return probity_attach_owner(attach) != PROBITY_ATTACH_DEAD;
}

int probity_attach_has_drainer(const struct probity_attach *attach)
{
    return lock_query(attach, PROBITY_SPOOL_LOCK_DRAINER) != F_UNLCK;
}

/* Returns the header and words of chunk `index`, counted over all segments. */
static const struct probity_chunk_header *chunk_at(const struct probity_attach *attach,
                                                   uint64_t index, const uint64_t **ret_words)
{
    const struct probity_attach_segment *segment = attach->segments;

    probity_assert(index < attach->chunk_count);
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
    /* Acquire: pairs with the owner's release of open and of full, so that the fields are
     * visible. */
    uint32_t state = __atomic_load_n(&header->state, __ATOMIC_ACQUIRE);

    if (state != PROBITY_CHUNK_OPEN && state != PROBITY_CHUNK_FULL)
        return 0;
    /* The serial is read before all other fields and checked again after the words, so that fields
     * of a reused chunk are not mistaken for those of the old one. Acquire keeps the order; pairs
     * with probity_live_chunk_prepare, whose release of open comes after all fields. */
    uint64_t serial = __atomic_load_n(&header->serial, __ATOMIC_ACQUIRE);
    /* Flags are read before drained, the reverse of the order in which older writers mark a chunk
     * as held: then it looks as if it were not held, and the block already in the file takes
     * precedence over its words. */
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
    probity_assert(chunk.drained <= chunk.end && chunk.end <= attach->chunk_words);
    *ret_chunk = chunk;
    return 1;
}

int probity_attach_chunk_stands(const struct probity_attach *attach, uint64_t index,
                                const struct probity_attach_chunk *chunk)
{
    const uint64_t *words;
    const struct probity_chunk_header *header = chunk_at(attach, index, &words);

    /* Acquire: the words were loaded before; pairs with the owner, which zeroes only free
     * chunks. */
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

/* Looks again after a while: the kernel releases the lock of a killed process before it notifies
 * the parent, unless another process (ps, a debugger) is reading the process's memory at that
 * moment. */
static enum probity_attach_owner owner_soon(const struct probity_attach *attach)
{
    enum { TRIES = 20 };
    static const struct timespec a_moment = {0, 5000000};
    enum probity_attach_owner owner = probity_attach_owner(attach);

    for (int i = 0; i < TRIES && owner == PROBITY_ATTACH_ALIVE; i++) {
        nanosleep(&a_moment, NULL);
        owner = probity_attach_owner(attach);
    }
    return owner;
}

int probity_attach_lock(const struct probity_attach *attach, enum probity_attach_owner *ret_owner)
{
    struct flock drainer = lock_of(PROBITY_SPOOL_LOCK_DRAINER, F_WRLCK);
    struct flock recovering = lock_of(PROBITY_SPOOL_LOCK_PROGRAM, F_RDLCK);

    probity_assert(probity_attach_is_valid(attach));
    *ret_owner = owner_soon(attach);
    if (*ret_owner != PROBITY_ATTACH_DEAD)
        return PROBITY_ERROR_STATE;
    if (fcntl(attach->file, F_OFD_SETLK, &drainer) != 0) {
        *ret_owner = errno == EAGAIN || errno == EACCES ? PROBITY_ATTACH_RECOVERING
                                                        : PROBITY_ATTACH_UNKNOWN;
        return PROBITY_ERROR_STATE;
    }
    /* A program that failed or closed its spool may still be running. */
    if (fcntl(attach->file, F_OFD_SETLK, &recovering) == 0 || is_closed(attach) ||
        probity_attach_header(attach)->failed != 0)
        return 0;
    *ret_owner = PROBITY_ATTACH_ALIVE;
    return PROBITY_ERROR_STATE;
}

/* Removes only a regular file of the owner, and only the one that was checked. */
static void remove_further(const struct probity_attach *attach, uint32_t number)
{
    size_t bytes;
    int file = probity_place_open(&attach->place, number, 0, &bytes);

    if (file < 0)
        return;
    probity_place_remove(&attach->place, number, file);
    close(file);
}

int probity_attach_retire(const struct probity_attach *attach)
{
    /* One more than the header's count: when the program died, a segment may have existed that was
     * not counted yet. */
    uint32_t count = __atomic_load_n(&probity_attach_header(attach)->segments, __ATOMIC_ACQUIRE);
    uint32_t number = count < PROBITY_SPOOL_SEGMENTS_MAX ? count + 1 : PROBITY_SPOOL_SEGMENTS_MAX;
    uint32_t closed = PROBITY_SPOOL_CLOSED;
    /* The states differ only in the first byte. */
    _Static_assert(PROBITY_SPOOL_CLOSED < 256, "the others are zero");
    ssize_t put = pwrite(attach->file, &closed, sizeof closed,
                         offsetof(struct probity_spool_header, state));

    probity_assert(probity_attach_is_valid(attach));
    while (number-- > 1)
        remove_further(attach, number);
    /* Segment 0 last: while it exists, another recover finds the rest. A concurrent recover may
     * have removed it already. */
    return put > 0 && probity_place_remove(&attach->place, 0, attach->file) == 0
               ? 0
               : PROBITY_ERROR_WRITE;
}
