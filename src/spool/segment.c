/* SPDX-License-Identifier: MIT
 *
 * segment.c: creates the spool's files. Conditions that would raise a signal later (SIGBUS for a
 * sparse page on a full file system, SIGXFSZ for a size over the limit) are errors here.
 *
 * A page costs about 3 us to allocate and 1 us to free, so a process that records little must not
 * pay for a whole spool: on tmpfs only the first chunks get their pages here; the others get them
 * before a thread can take them (probity_pool_extend).
 */
#include "spool/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/os.h"
#include "base/temporary.h"
#include "probity.h"

/* Replaces the path with the one that the kernel reports for the directory, without symbolic links;
 * keeps it if the kernel reports none. Returns whether it fits and is reachable. */
static int resolve(int directory, char *path, size_t room)
{
    char link[48];

    snprintf(link, sizeof link, "%s/%d", probity_os_descriptors(), directory);
    ssize_t length = readlink(link, path, room);
    if (length <= 0)
        return 1;
    path[(size_t)length < room ? (size_t)length : room - 1] = 0;
    return (size_t)length < room && path[0] == '/';
}

int probity_segment_directory(const char *wanted, char *ret_directory, size_t room)
{
    struct stat status;
    int before = errno, result = PROBITY_ERROR_OPEN, directory = -1;
    int length = wanted != NULL ? snprintf(ret_directory, room, "%s", wanted)
                                : probity_os_spool_directory(geteuid(), ret_directory, room);

    probity_assert(room > 1);
    int is_fitting = length > 0 && (size_t)length < room;
    /* Usually it exists; mkdir() would lock the parent directory, which all processes share. */
    for (int i = 0; i < 2 && is_fitting && directory < 0; i++) {
        if (i == 0 || mkdir(ret_directory, 0700) == 0 || errno == EEXIST)
            directory = open(ret_directory, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    if (directory >= 0 && fstat(directory, &status) == 0 && S_ISDIR(status.st_mode) &&
        status.st_uid == geteuid() && (status.st_mode & 022) == 0 &&
        (wanted == NULL || resolve(directory, ret_directory, room)))
        result = 0;
    if (directory >= 0)
        close(directory);
    errno = before;
    return result;
}

int probity_segment_path(const char *path, uint32_t number, char *ret_path, size_t room)
{
    const char *dot = strrchr(path, '.');

    if (dot == NULL || strcmp(dot, ".0") != 0)
        return PROBITY_ERROR_ARGUMENT;
    int length = snprintf(ret_path, room, "%.*s.%u", (int)(dot - path), path, number);
    return length > 0 && (size_t)length < room ? 0 : PROBITY_ERROR_ARGUMENT;
}

int probity_segment_fits_limit(uint64_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           limit.rlim_cur >= bytes;
}

/* Retries: the call is interrupted if the program is stopped or frozen, even with all signals
 * blocked. */
static int allocate_range(int descriptor, size_t offset, size_t bytes)
{
    enum { TRIES = 1000 };
    int result = -1;

    probity_assert(bytes > 0);
    for (int i = 0; i < TRIES && result != 0; i++) {
        result = fallocate(descriptor, 0, (off_t)offset, (off_t)bytes);
        if (result != 0 && errno != EINTR)
            break;
    }
    return result;
}

/* Allocates every page that will ever be written. Returns 0 if there is room. */
static int allocate(int descriptor, uint32_t chunks, uint32_t words)
{
    size_t first = PROBITY_SPOOL_HEADER_BYTES + chunks * sizeof(struct probity_chunk_header);
    int result = allocate_range(descriptor, 0, first);

    for (uint32_t i = 0; i < chunks && result == 0; i++)
        result = allocate_range(descriptor, probity_spool_words_offset(chunks, words, i),
                                (size_t)words * 8);
    return result;
}

/* Retries like the function above. */
static int set_size(int descriptor, size_t bytes)
{
    enum { TRIES = 1000 };
    int result = -1;

    for (int i = 0; i < TRIES && result != 0; i++) {
        result = ftruncate(descriptor, (off_t)bytes);
        if (result != 0 && errno != EINTR)
            break;
    }
    return result;
}

/* Allocates the pages of the headers and of the first `present` chunks. */
static int populate(char *at, uint32_t chunks, uint32_t words, uint32_t present)
{
    int result = probity_os_populate(
        at, PROBITY_SPOOL_HEADER_BYTES + chunks * sizeof(struct probity_chunk_header));

    probity_assert(present <= chunks);
    for (uint32_t i = 0; i < present && result == 0; i++)
        result = probity_os_populate(probity_spool_words(at, chunks, words, i), (size_t)words * 8);
    return result;
}

int probity_segment_lock(int descriptor, int64_t at)
{
    struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};

    return fcntl(descriptor, F_OFD_SETLK, &byte);
}

/* Maps the file and, if ret_locked is not NULL, takes the program's lock (doc/spool.md, "Alive or
 * dead"). The mapping keeps the open file, and so the lock, alive; no child inherits it. The
 * caller's descriptor stays open much longer, and a child forked by another thread inherits it, so
 * a separate open file holds the lock. */
static char *map_held(int descriptor, size_t bytes, size_t window, uint32_t *ret_locked)
{
    int file = ret_locked != NULL ? probity_os_open_again(descriptor) : descriptor;

    if (ret_locked != NULL)
        *ret_locked = probity_segment_lock(file, PROBITY_SPOOL_LOCK_PROGRAM) == 0;
    char *at = probity_os_map_aligned(file, bytes, window);
    /* A child must not store into its parent's records. */
    if (at != NULL && madvise(at, bytes, MADV_DONTFORK) != 0) {
        munmap(at, bytes);
        at = NULL;
    }
    if (file != descriptor)
        probity_os_close_locked(file);
    return at;
}

/* Returns the number of chunks that have pages from the start: one, unless chunks are small. A page
 * takes 2 µs and more, and most processes fill no chunk. */
static uint32_t first_chunks(uint32_t chunks, uint32_t words)
{
    enum { FIRST_BYTES = 32 << 10 };
    uint32_t first = FIRST_BYTES / (words * 8);

    first = first < 1 ? 1 : first;
    return first < chunks ? first : chunks;
}

/* Maps the file with pages for its headers and the first *present chunks, or more if the system
 * requires it; updates *present. Returns NULL if there is no room. ret_locked as above. */
static void *map_file(int descriptor, uint32_t chunks, uint32_t words, uint32_t *present,
                      uint32_t *ret_locked)
{
    size_t bytes = probity_spool_segment_bytes(chunks, words);
    uint32_t first = chunks;

    probity_assert(chunks > 0 && probity_chunk_words_is_valid(words));
    if (*present < chunks && probity_os_can_extend(descriptor)) {
        first = first_chunks(chunks, words);
        first = *present > first ? *present : first;
        if (set_size(descriptor, bytes) != 0)
            return NULL;
    } else {
        probity_os_no_copy_on_write(descriptor);
        if (allocate(descriptor, chunks, words) != 0)
            return NULL;
    }
    char *at = map_held(descriptor, bytes, probity_spool_window_bytes(words), ret_locked);
    if (at == NULL)
        return NULL;
    if (populate(at, chunks, words, first) == 0) {
        /* Keeps records out of core files. */
        madvise(at, bytes, MADV_DONTDUMP);
        probity_assert(first > 0 && first <= chunks);
        *present = first;
        return at;
    }
    munmap(at, bytes);
    return NULL;
}

int probity_segment_make(char *path, const struct probity_spool_header *header,
                         void **ret_segment, int *ret_unnamed, uint32_t *ret_present)
{
    size_t bytes = probity_spool_segment_bytes(header->chunks, header->chunk_words);
    int before = errno, result = PROBITY_ERROR_OPEN;
    uint32_t present = 0;

    probity_assert(header->chunks > 0 && probity_chunk_words_is_valid(header->chunk_words));
    if (!probity_segment_fits_limit(bytes))
        return PROBITY_ERROR_LIMIT;
    /* Without a name, if possible: until the trace records the name, the file could not be found.
     * If the file cannot be named then, another one takes its place. */
    int descriptor = probity_temporary_unnamed_only(AT_FDCWD, path, 0600);
    int is_unnamed = descriptor >= 0;
    if (!is_unnamed)
        descriptor = probity_os_create_spool(path);
    if (descriptor >= 0) {
        struct probity_spool_header filled = *header;
        void *segment = map_file(descriptor, header->chunks, header->chunk_words, &present,
                                 header->segment == 0 ? &filled.locked : NULL);
        result = segment != NULL ? 0 : PROBITY_ERROR_MEMORY;
        if (segment != NULL) {
            memcpy(segment, &filled, sizeof filled);
            probity_assert(present > 0 && present <= header->chunks);
            *ret_segment = segment;
            *ret_unnamed = is_unnamed ? descriptor : -1;
            *ret_present = present;
        }
        if (segment == NULL || !is_unnamed)
            close(descriptor);
        if (segment == NULL && !is_unnamed)
            unlink(path);
    }
    errno = before;
    return result;
}

void probity_segment_describe(void *segment, const char *program, const char *trace_path)
{
    struct probity_spool_origin *origin =
        (struct probity_spool_origin *)((char *)segment + PROBITY_SPOOL_ORIGIN_OFFSET);
    size_t path_bytes = strlen(trace_path);

    memcpy(origin->program, program, strnlen(program, sizeof origin->program));
    memcpy(origin->trace_path, trace_path,
           path_bytes < sizeof origin->trace_path ? path_bytes : sizeof origin->trace_path);
    origin->trace_path_bytes = (uint32_t)path_bytes;
}

/* Replaces the unnamed file with a named one, at the same address: it contains no words yet. */
static int replace_unnamed(const char *path, void *segment, uint32_t present)
{
    const struct probity_spool_header *header = segment;
    size_t bytes = probity_spool_segment_bytes(header->chunks, header->chunk_words);
    int file = probity_os_create_spool(path);
    uint32_t locked = 0;
    void *put, *at = file >= 0 ? map_file(file, header->chunks, header->chunk_words, &present,
                                          header->segment == 0 ? &locked : NULL)
                               : NULL;

    probity_assert(present <= header->chunks);
    if (at != NULL) {
        memcpy(at, segment, PROBITY_SPOOL_HEADER_BYTES +
                                header->chunks * sizeof(struct probity_chunk_header));
        ((struct probity_spool_header *)at)->locked = locked;
        put = mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, segment);
        if (put == MAP_FAILED) {
            munmap(at, bytes);
            at = NULL;
        }
    }
    if (file >= 0)
        close(file);
    if (file >= 0 && at == NULL)
        unlink(path);
    return at != NULL ? 0 : PROBITY_ERROR_OPEN;
}

int probity_segment_extend(void *segment, uint32_t index)
{
    const struct probity_spool_header *header = segment;
    uint64_t *words = probity_spool_words(segment, header->chunks, header->chunk_words, index);

    probity_assert(index < header->chunks);
    return probity_os_populate(words, (size_t)header->chunk_words * 8) == 0 ? 0
                                                                            : PROBITY_ERROR_MEMORY;
}

int probity_segment_name(int unnamed, const char *path, void *segment, uint32_t present)
{
    int before = errno, result = 0;

    if (unnamed < 0)
        return 0;
    /* A filter of system calls or paths may forbid only links. */
    if (probity_temporary_link(unnamed, AT_FDCWD, path) != 0)
        result = replace_unnamed(path, segment, present);
    close(unnamed);
    errno = before;
    return result;
}
