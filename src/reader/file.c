/* SPDX-License-Identifier: MIT
 *
 * file.c: opens and reads files, handling interruptions and short reads. Runs in the tool, and in
 * the traced program when it writes its CSV file.
 */
#include "reader/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/os.h"
#include "probity.h"

int probity_file_open(const char *path, int *ret_file)
{
    int file = probity_os_open_regular(AT_FDCWD, path, O_RDONLY);

    if (file < 0)
        return errno == EINVAL ? PROBITY_ERROR_FORMAT : PROBITY_ERROR_OPEN;
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

int probity_file_is_only_begun(int file, const struct probity_info *info)
{
    enum { START_NS = 100000000 };
    struct stat status;
    uint8_t boot[16];

    probity_os_boot_id(boot);
    if (!(info->flags & PROBITY_INFO_MARKS_START) || memcmp(boot, info->boot, sizeof boot) != 0 ||
        fstat(file, &status) != 0)
        return 0;
    return (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec <
           info->anchor.realtime_ns + START_NS;
}

ssize_t probity_file_read(int file, void *bytes, size_t count, uint64_t offset)
{
    size_t done = 0;

    probity_assert(file >= 0 && bytes != NULL);
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
    probity_assert(done <= count);
    return (ssize_t)done;
}

uint64_t probity_file_data(int file, uint64_t offset)
{
    off_t data = offset <= INT64_MAX ? lseek(file, (off_t)offset, SEEK_DATA) : -1;

    probity_assert(file >= 0);
    if (data < 0)
        return errno == ENXIO ? INT64_MAX : offset;
    return (uint64_t)data > offset ? (uint64_t)data : offset;
}
