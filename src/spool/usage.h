/* SPDX-License-Identifier: MIT
 *
 * usage.h: memory taken by the files in a spool directory.
 */
#ifndef PROBITY_SPOOL_USAGE_H
#define PROBITY_SPOOL_USAGE_H

#include <stddef.h>
#include <stdint.h>

/* Number of files that are measured, which takes about 1 us each; for each of the others, the
 * average is assumed. */
enum { PROBITY_USAGE_FILES_MAX = 128 };

/* Stores the size of a directory's file system, and the space used by all files on it: an upper
 * bound for the directory. One system call. Returns 0, or PROBITY_ERROR_OPEN. Preserves errno. */
int probity_usage_of_system(const char *directory, uint64_t *ret_bytes, uint64_t *ret_used);

/* Stores the space used by the files in a directory. Allocates nothing: entries are read into the
 * caller's buffer, which need not be aligned. Returns 0, or PROBITY_ERROR_OPEN if the directory
 * cannot be read. Preserves errno. */
int probity_usage_of_files(const char *directory, void *buffer, size_t room, uint64_t *ret_used);

#endif
