/* SPDX-License-Identifier: MIT
 *
 * file.c: opening and reading files, interruptions and short reads taken care of. Runs in tools,
 * and in the traced program while it makes its CSV.
 */
#include "reader/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probity.h"

int probity_file_open(const char *path, int *ret_file)
{
    /* Not blocking: a path that names a pipe must not hang the reader. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;

    if (file < 0)
        return PROBITY_ERROR_OPEN;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(file);
        return PROBITY_ERROR_FORMAT;
    }
    *ret_file = file;
    return 0;
}

int64_t probity_file_size(int file)
{
    struct stat status;

    if (fstat(file, &status) != 0)
        return PROBITY_ERROR_READ;
    return status.st_size;
}

ssize_t probity_file_read(int file, void *bytes, size_t count, uint64_t offset)
{
    size_t done = 0;

    if (offset > INT64_MAX - count)
        return 0;
    while (done < count) {
        ssize_t got = pread(file, (char *)bytes + done, count - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return PROBITY_ERROR_READ;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

uint64_t probity_file_data(int file, uint64_t offset)
{
    off_t data = offset <= INT64_MAX ? lseek(file, (off_t)offset, SEEK_DATA) : -1;

    if (data < 0)
        return errno == ENXIO ? INT64_MAX : offset;
    return (uint64_t)data > offset ? (uint64_t)data : offset;
}
