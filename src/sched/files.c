/* SPDX-License-Identifier: MIT
 *
 * files.c: helpers for all files that are written for the recording of states.
 */
#include "sched/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/temporary.h"

int probity_sched_write_all(int file, const void *bytes, size_t count, uint64_t at)
{
    probity_assert(file >= 0);
    for (size_t done = 0; done < count;) {
        ssize_t put = pwrite(file, (const char *)bytes + done, count - done,
                             (off_t)(at + done));
        if (put < 0 && errno != EINTR)
            return -1;
        done += put > 0 ? (size_t)put : 0;
    }
    return 0;
}

/* Creates a temporary file. If the file system does not support unnamed files, removes its name as
 * soon as the file is open. */
int probity_sched_temporary(const char *path)
{
    char *copy = strdup(path), *name = probity_temporary_name(path);
    int file = -1;

    if (copy != NULL && name != NULL) {
        file = probity_temporary_unnamed(AT_FDCWD, copy, 0600);
        if (file < 0)
            file = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file >= 0)
            unlink(name); /* fails if the file has no name, which is harmless: the name is random */
    }
    free(copy);
    free(name);
    return file;
}
