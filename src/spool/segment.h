/* SPDX-License-Identifier: MIT
 *
 * segment.h: one file of the spool, made by the traced program (doc/spool.md, "Names", "Segment").
 * Called in slow paths with signals blocked; errno stays.
 */
#ifndef PROBITY_SPOOL_SEGMENT_H
#define PROBITY_SPOOL_SEGMENT_H

#include <stddef.h>

#include "spool/layout.h"

/* Finds a directory for the spool: wanted (may be NULL), else /dev/shm/probity-UID, which is made
 * where it is missing. Writes it to ret_directory. Returns 0, or PROBITY_ERROR_OPEN where it cannot
 * be made, is not a directory of this user, or is open to others. */
int probity_segment_directory(const char *wanted, char *ret_directory, size_t room);

/* Path of segment `number` of a spool whose segment 0 has `path` (ends in ".0"). Returns 0, or
 * PROBITY_ERROR_ARGUMENT. */
int probity_segment_path(const char *path, uint32_t number, char *ret_path, size_t room);

/* Makes, fills and maps a segment: header set but for state, all chunks free, every page present.
 * Returns 0, PROBITY_ERROR_OPEN, PROBITY_ERROR_LIMIT (RLIMIT_FSIZE), PROBITY_ERROR_MEMORY (no
 * room); then nothing is left behind. The mapping is shared, not inherited by fork, not in core
 * files. Where the file system can, the file has no name yet, and is gone if the process is killed
 * now: *ret_unnamed is then its descriptor, else -1. path is cut meanwhile, and whole again
 * afterwards. */
int probity_segment_make(char *path, const struct probity_spool_header *header,
                         void **ret_segment, int *ret_unnamed);

/* Gives the file its name before anything but its headers is stored, and closes the descriptor;
 * nothing to do for -1. Where links are forbidden, another file takes its place, and its address.
 * Returns 0, or PROBITY_ERROR_OPEN: then the file is gone. */
int probity_segment_name(int unnamed, const char *path, void *segment);

#endif
