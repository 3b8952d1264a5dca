/* SPDX-License-Identifier: MIT
 *
 * file.h: reading at a place of a file. Traces are never mapped: a file that is cut while it is
 * read would end the reader with SIGBUS.
 */
#ifndef PROBITY_READER_FILE_H
#define PROBITY_READER_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens a regular file for reading. Returns 0, PROBITY_ERROR_OPEN (errno set),
 * PROBITY_ERROR_FORMAT where it is no regular file. */
int probity_file_open(const char *path, int *ret_file);

/* Returns the file's size now, or PROBITY_ERROR_READ with errno set. */
int64_t probity_file_size(int file);

/* Reads up to count bytes at offset; less only at the end of the file. Returns the bytes read, or
 * PROBITY_ERROR_READ with errno set. */
ssize_t probity_file_read(int file, void *bytes, size_t count, uint64_t offset);

/* The first place from offset on that is not in a hole of the file, as far as the file system
 * tells; INT64_MAX where there is none. */
uint64_t probity_file_data(int file, uint64_t offset);

#endif
