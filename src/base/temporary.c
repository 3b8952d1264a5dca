/* SPDX-License-Identifier: MIT
 *
 * temporary.c: temporary names contain a random number, because users may have files that end in
 * .tmp. An unnamed file is deleted when the process ends.
 */
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/os.h"

enum { SUFFIX_BYTES = sizeof ".01234567.tmp" - 1 };

char *probity_temporary_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t directory = slash != NULL ? (size_t)(slash + 1 - path) : 0, length = strlen(path);
    size_t kept = length - directory < NAME_MAX - SUFFIX_BYTES
                      ? length
                      : directory + NAME_MAX - SUFFIX_BYTES;
    char *name = malloc(kept + SUFFIX_BYTES + 1);
    struct timespec now = {0, 0};
    uint32_t number;

    probity_assert(path[0] != 0);
    if (name == NULL)
        return NULL;
    if (probity_os_random(&number, sizeof number) != 0) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = (uint32_t)now.tv_nsec ^ probity_os_thread_id() << 8;
    }
    memcpy(name, path, kept);
    snprintf(name + kept, SUFFIX_BYTES + 1, ".%08" PRIx32 ".tmp", number);
    return name;
}

/* Naming the file later requires /proc with this thread's descriptors, which may differ from the
 * program's. */
int probity_temporary_unnamed(int directory, char *path, unsigned mode)
{
    return access(probity_os_descriptors(), X_OK) == 0
               ? probity_temporary_unnamed_only(directory, path, mode)
               : -1;
}

int probity_temporary_unnamed_only(int directory, char *path, unsigned mode)
{
    char *slash = strrchr(path, '/');

    if (slash == path)
        return -1;
    if (slash != NULL)
        *slash = 0;
    int descriptor = openat(directory, slash != NULL ? path : ".",
                            O_RDWR | O_TMPFILE | O_CLOEXEC, (mode_t)mode);
    if (slash != NULL)
        *slash = '/';
    return descriptor;
}

int probity_temporary_link(int unnamed, int directory, const char *path)
{
    char self[48];

    probity_assert(unnamed >= 0 && path[0] != 0);
    /* Since Linux 6.10, this is faster than using /proc; before, only privileged processes may do
     * this. */
    if (linkat(unnamed, "", directory, path, AT_EMPTY_PATH) == 0)
        return 0;
    snprintf(self, sizeof self, "%s/%d", probity_os_descriptors(), unnamed);
    return linkat(AT_FDCWD, self, directory, path, AT_SYMLINK_FOLLOW);
}

static int open_named(int directory, const char *name)
{
    return openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
}

int probity_temporary_open(int directory, char *name, int *ret_is_unnamed)
{
    int descriptor = probity_temporary_unnamed(directory, name, 0666);

    *ret_is_unnamed = descriptor >= 0;
    return descriptor >= 0 ? descriptor : open_named(directory, name);
}

/* Copies everything, even with short writes. */
static int copy(int from, int to)
{
    char bytes[8192];
    ssize_t got, put;
    off_t at = 0;

    probity_assert(from >= 0 && to >= 0 && from != to);
    while ((got = pread(from, bytes, sizeof bytes, at)) != 0) {
        put = got > 0 ? pwrite(to, bytes, (size_t)got, at) : got;
        if (put == 0 || (put < 0 && errno != EINTR))
            return -1;
        at += put > 0 ? put : 0;
    }
    return 0;
}

int probity_temporary_keep(int unnamed, int directory, const char *name)
{
    probity_assert(unnamed >= 0);
    if (probity_temporary_link(unnamed, directory, name) == 0)
        return 0;
    int named = open_named(directory, name);
    if (named < 0)
        return -1;
    int result = copy(unnamed, named), error_number = errno;
    if (close(named) != 0 && result == 0) {
        result = -1;
        error_number = errno;
    }
    if (result != 0)
        unlinkat(directory, name, 0);
    errno = error_number;
    return result;
}
