/* SPDX-License-Identifier: MIT
 *
 * append.c: writes blocks completely, or rolls back.
 */
#include "writer/append.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/os.h"
#include "probity.h"
#include "spool/segment.h"

/* Returns 0, or an error if another process has changed the file: readers would not find blocks
 * after a gap, and an unlinked file would take up space until the program ends. */
static int file_change(const struct probity_append *append)
{
    struct stat status;

    if (PROBITY_OS_FILE_EXTENT(append->descriptor, &status) != 0)
        return 0;
    if ((status.st_nlink == 0 && append->has_links) || (uint64_t)status.st_size < append->bytes_min)
        return ENOENT;
    return (uint64_t)status.st_size < append->committed ? EIO : 0;
}

int probity_append_bytes(struct probity_append *append, const void *bytes, size_t count)
{
    const char *at = bytes;
    size_t left = count;

    probity_assert(append->descriptor >= 0 && count > 0);
    probity_assert(append->bytes_min <= append->committed);
    if (!probity_segment_fits_limit(append->committed + count)) {
        append->error = EFBIG;
        return PROBITY_ERROR_WRITE;
    }
    int change = file_change(append);
    if (change != 0) {
        append->error = change;
        return PROBITY_ERROR_WRITE;
    }
    while (left > 0) {
        ssize_t written = pwrite(append->descriptor, at, left,
                                 (off_t)(append->committed + (count - left)));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            append->error = written < 0 ? errno : EIO;
            /* If truncation fails too, a torn block remains, which readers skip. */
            int truncated = ftruncate(append->descriptor, (off_t)append->committed);
            (void)truncated;
            return PROBITY_ERROR_WRITE;
        }
        at += written;
        left -= (size_t)written;
        probity_assert(left < count);
    }
    append->committed += count;
    return 0;
}
