/* SPDX-License-Identifier: MIT
 *
 * segment.c: makes the spool's files. All that can fail with a signal later (a sparse page on a
 * full file system is SIGBUS, a size over the limit is SIGXFSZ) is made to fail here with an error.
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

#include "base/os.h"
#include "base/temporary.h"
#include "probity.h"

int probity_segment_directory(const char *wanted, char *ret_directory, size_t room)
{
    struct stat status;
    int before = errno, result = PROBITY_ERROR_OPEN;
    int length = wanted != NULL
                     ? snprintf(ret_directory, room, "%s", wanted)
                     : snprintf(ret_directory, room, "/dev/shm/probity-%u", (unsigned)geteuid());

    if (length > 0 && (size_t)length < room &&
        (mkdir(ret_directory, 0700) == 0 || errno == EEXIST) &&
        lstat(ret_directory, &status) == 0 && S_ISDIR(status.st_mode) &&
        status.st_uid == geteuid() && (status.st_mode & 022) == 0)
        result = 0;
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

static int fits_limit(size_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           limit.rlim_cur >= bytes;
}

/* A program that is stopped or frozen meanwhile interrupts it, whatever signals are blocked. */
static int allocate_range(int descriptor, size_t offset, size_t bytes)
{
    enum { TRIES = 1000 };
    int result = -1;

    for (int i = 0; i < TRIES && result != 0; i++) {
        result = fallocate(descriptor, 0, (off_t)offset, (off_t)bytes);
        if (result != 0 && errno != EINTR)
            break;
    }
    return result;
}

/* Every page that will ever be stored to is made to exist. 0 where there is room. */
static int allocate(int descriptor, uint32_t chunks, uint32_t words)
{
    size_t first = PROBITY_SPOOL_HEADER_BYTES + chunks * sizeof(struct probity_chunk_header);
    int result = allocate_range(descriptor, 0, first);

    for (uint32_t i = 0; i < chunks && result == 0; i++)
        result = allocate_range(descriptor, probity_spool_words_offset(chunks, words, i),
                                (size_t)words * 8);
    return result;
}

/* Maps the file at a multiple of a window's size: reserves more, and gives back what is not
 * needed. */
static char *map_aligned(int descriptor, size_t bytes, size_t window)
{
    char *wide = mmap(NULL, bytes + window, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                      -1, 0);
    if (wide == MAP_FAILED)
        return NULL;
    size_t before = (window - (uintptr_t)wide % window) % window;
    char *at =
        mmap(wide + before, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0);
    if (at == MAP_FAILED) {
        munmap(wide, bytes + window);
        return NULL;
    }
    if (before > 0)
        munmap(wide, before);
    if (window - before > 0)
        munmap(at + bytes, window - before);
    return at;
}

static int populate(char *at, uint32_t chunks, uint32_t words)
{
    int result = probity_os_populate(
        at, PROBITY_SPOOL_HEADER_BYTES + chunks * sizeof(struct probity_chunk_header));

    for (uint32_t i = 0; i < chunks && result == 0; i++)
        result = probity_os_populate(probity_spool_words(at, chunks, words, i), (size_t)words * 8);
    return result;
}

/* Maps the file with all its pages present. NULL where there is no room. */
static void *map_whole(int descriptor, uint32_t chunks, uint32_t words)
{
    size_t bytes = probity_spool_segment_bytes(chunks, words);

    probity_os_no_copy_on_write(descriptor);
    if (allocate(descriptor, chunks, words) != 0)
        return NULL;
    char *at = map_aligned(descriptor, bytes, probity_spool_window_bytes(words));
    if (at == NULL)
        return NULL;
    /* A child must not store into its parent's records; a core file need not hold them. */
    if (madvise(at, bytes, MADV_DONTFORK) == 0 && populate(at, chunks, words) == 0) {
        madvise(at, bytes, MADV_DONTDUMP);
        return at;
    }
    munmap(at, bytes);
    return NULL;
}

static int open_named(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int probity_segment_make(char *path, const struct probity_spool_header *header,
                         void **ret_segment, int *ret_unnamed)
{
    size_t bytes = probity_spool_segment_bytes(header->chunks, header->chunk_words);
    int before = errno, result = PROBITY_ERROR_OPEN;

    if (!fits_limit(bytes))
        return PROBITY_ERROR_LIMIT;
    /* A name that no trace tells would never be found. */
    int descriptor = probity_temporary_unnamed(path, 0600), is_unnamed = descriptor >= 0;
    if (!is_unnamed)
        descriptor = open_named(path);
    if (descriptor >= 0) {
        void *segment = map_whole(descriptor, header->chunks, header->chunk_words);
        result = segment != NULL ? 0 : PROBITY_ERROR_MEMORY;
        if (segment != NULL) {
            memcpy(segment, header, sizeof *header);
            *ret_segment = segment;
            *ret_unnamed = is_unnamed ? descriptor : -1;
        }
        if (segment == NULL || !is_unnamed)
            close(descriptor);
        if (segment == NULL && !is_unnamed)
            unlink(path);
    }
    errno = before;
    return result;
}

/* A file with a name takes the unnamed one's place, at the same address: no words are in it yet. */
static int replace_unnamed(const char *path, void *segment)
{
    const struct probity_spool_header *header = segment;
    size_t bytes = probity_spool_segment_bytes(header->chunks, header->chunk_words);
    int file = open_named(path);
    void *at = file >= 0 ? map_whole(file, header->chunks, header->chunk_words) : NULL, *put;

    if (at != NULL) {
        memcpy(at, segment, PROBITY_SPOOL_HEADER_BYTES +
                                header->chunks * sizeof(struct probity_chunk_header));
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

int probity_segment_name(int unnamed, const char *path, void *segment)
{
    int before = errno, result = 0;

    if (unnamed < 0)
        return 0;
    /* Filters of system calls, and of paths, may forbid links only. */
    if (probity_temporary_link(unnamed, path) != 0)
        result = replace_unnamed(path, segment);
    close(unnamed);
    errno = before;
    return result;
}
