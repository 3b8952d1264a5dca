/* SPDX-License-Identifier: MIT
 *
 * range.h: the location of a trace's bytes: a whole file, or a member of a bundle (doc/bundle.md).
 */
#ifndef PROBITY_READER_RANGE_H
#define PROBITY_READER_RANGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes [base, base + bytes) of an open file; bytes UINT64_MAX: the whole file, which may grow. */
struct probity_range {
    int file;
    uint64_t base, bytes;
};

/* Opens a member by the path BUNDLE/NAME. Returns 0, PROBITY_ERROR_FORMAT if there is no such
 * bundle, or another error. Set by a program that reads bundles; otherwise NULL. */
extern int (*probity_range_open_member)(const char *path, struct probity_range *ret_range);

/* The same as probity_file_open() for a file or a member. The caller closes range.file. */
int probity_range_open(const char *path, struct probity_range *ret_range);

static inline struct probity_range probity_range_whole(int file)
{
    return (struct probity_range){file, 0, UINT64_MAX};
}

static inline int probity_range_is_member(const struct probity_range *range)
{
    return range->bytes != UINT64_MAX;
}

/* The functions of file.h for the range. Offsets and sizes are relative to it. */
int64_t probity_range_size(const struct probity_range *range);
ssize_t probity_range_read(const struct probity_range *range, void *bytes, size_t count,
                           uint64_t offset);
uint64_t probity_range_data(const struct probity_range *range, uint64_t offset);

#endif
