/* SPDX-License-Identifier: MIT
 *
 * file.h: reads files at given offsets. Traces are never mapped, because a file truncated while it
 * is read would raise SIGBUS.
 */
#ifndef PROBITY_READER_FILE_H
#define PROBITY_READER_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/block.h"

/* Opens a regular file for reading. Returns 0, PROBITY_ERROR_OPEN (errno set), or
 * PROBITY_ERROR_FORMAT if it is not a regular file. */
int probity_file_open(const char *path, int *ret_file);

/* Returns the current size of the file, or PROBITY_ERROR_READ with errno set. */
int64_t probity_file_size(int file);

/* Whether nothing was written to the trace after its start (doc/trace-format.md, "Start"),
 * according to its INFO and the file's times: 1 or 0. */
int probity_file_is_only_begun(int file, const struct probity_info *info);

/* Reads up to count bytes at offset; fewer only at the end of the file. Returns the number of bytes
 * read, or PROBITY_ERROR_READ with errno set. */
ssize_t probity_file_read(int file, void *bytes, size_t count, uint64_t offset);

/* Returns the first offset from `offset` on that is not in a hole of the file, as far as the file
 * system reports holes; INT64_MAX if there is none. */
uint64_t probity_file_data(int file, uint64_t offset);

#endif
