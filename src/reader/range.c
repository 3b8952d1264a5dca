/* SPDX-License-Identifier: MIT
 *
 * range.c: reads a part of a file as if it were a file. The path of a member has the bundle in
 * place of a directory, so no other file can have it.
 */
#include "reader/range.h"

#include <errno.h>

#include "base/assert.h"
#include "probity.h"
#include "reader/file.h"

int (*probity_range_open_member)(const char *path, struct probity_range *ret_range);

int probity_range_open(const char *path, struct probity_range *ret_range)
{
    int file, error = probity_file_open(path, &file);

    if (error == 0)
        *ret_range = probity_range_whole(file);
    if (error != PROBITY_ERROR_OPEN || probity_range_open_member == NULL ||
        (errno != ENOTDIR && errno != ENOENT))
        return error;
    int error_number = errno, got = probity_range_open_member(path, ret_range);
    if (got != PROBITY_ERROR_FORMAT)
        return got;
    errno = error_number;
    return error;
}

/* Returns the size. If the file was truncated, a member ends where the file ends. */
int64_t probity_range_size(const struct probity_range *range)
{
    int64_t size = probity_file_size(range->file);

    if (size < 0 || !probity_range_is_member(range))
        return size;
    uint64_t there = (uint64_t)size > range->base ? (uint64_t)size - range->base : 0;
    return (int64_t)(there < range->bytes ? there : range->bytes);
}

ssize_t probity_range_read(const struct probity_range *range, void *bytes, size_t count,
                           uint64_t offset)
{
    if (offset >= range->bytes)
        return 0;
    count = count < range->bytes - offset ? count : (size_t)(range->bytes - offset);
    probity_assert(range->base == 0 || range->base <= INT64_MAX - range->bytes);
    return probity_file_read(range->file, bytes, count, range->base + offset);
}

uint64_t probity_range_data(const struct probity_range *range, uint64_t offset)
{
    if (offset >= range->bytes)
        return INT64_MAX;
    uint64_t data = probity_file_data(range->file, range->base + offset);

    return data - range->base < range->bytes ? data - range->base : INT64_MAX;
}
