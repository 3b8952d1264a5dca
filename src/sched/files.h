/* SPDX-License-Identifier: MIT
 *
 * files.h: writing to files, and temporary files without a name.
 */
#ifndef PROBITY_SCHED_FILES_H
#define PROBITY_SCHED_FILES_H

#include <stddef.h>
#include <stdint.h>

/* Returns 0, or -1 with errno set. */
int probity_sched_write_all(int file, const void *bytes, size_t count, uint64_t at);

/* Creates a file for reading and writing that vanishes when it is closed, in the directory of
 * `path`. Returns a descriptor, or -1 with errno set. */
int probity_sched_temporary(const char *path);

#endif
