/* SPDX-License-Identifier: MIT
 *
 * files.h: writes to files, and creates unnamed temporary files.
 */
#ifndef PROBITY_SCHED_FILES_H
#define PROBITY_SCHED_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Returns 0, or -1 with errno set. */
int probity_sched_write_all(int file, const void *bytes, size_t count, uint64_t at);

/* Creates a file for reading and writing in the directory of `path`; it is deleted when it is
 * closed. Returns a descriptor, or -1 with errno set. */
int probity_sched_temporary(const char *path);

#endif
