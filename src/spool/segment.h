/* SPDX-License-Identifier: MIT
 *
 * segment.h: one file of the spool, created by the traced program (doc/spool.md, "Names",
 * "Segment"). Called in slow paths with signals blocked; preserves errno.
 */
#ifndef PROBITY_SPOOL_SEGMENT_H
#define PROBITY_SPOOL_SEGMENT_H

#include <stddef.h>

#include "spool/layout.h"

/* Finds a directory for the spool: `wanted` (may be NULL), else /dev/shm/probity-UID, which is
 * created if missing. Stores it in ret_directory, with symbolic links resolved. Returns 0, or
 * PROBITY_ERROR_OPEN if it cannot be created, is not a directory of this user, or others have
 * access. */
int probity_segment_directory(const char *wanted, char *ret_directory, size_t room);

/* Makes the path of segment `number` of a spool whose segment 0 has `path`, which ends in ".0".
 * Returns 0, or PROBITY_ERROR_ARGUMENT. */
int probity_segment_path(const char *path, uint32_t number, char *ret_path, size_t room);

/* Creates, fills and maps a segment: header set except state, all chunks free. The pages of the
 * headers and of the first *ret_present chunks exist; if the system cannot add pages later without
 * a risk of SIGBUS, all pages exist. Returns 0, PROBITY_ERROR_OPEN, PROBITY_ERROR_LIMIT
 * (RLIMIT_FSIZE), PROBITY_ERROR_MEMORY (no room); on error no file is left. The mapping is shared,
 * not inherited by fork, not in core files. If the file system supports it, the file has no name
 * yet, and is deleted if the process is killed now: *ret_unnamed is then its descriptor, else -1.
 * path is modified during the call, and restored. The mapping of segment 0 holds the program's
 * lock; `locked` in its header is set if it could be taken. */
int probity_segment_make(char *path, const struct probity_spool_header *header,
                         void **ret_segment, int *ret_unnamed, uint32_t *ret_present);

/* Locks one byte of the open file, which must be writable. Returns 0, or -1 with errno. */
int probity_segment_lock(int descriptor, int64_t at);

/* Returns whether a file of this size is within RLIMIT_FSIZE, above which a write raises a
 * signal. */
int probity_segment_fits_limit(uint64_t bytes);

/* Stores the program's name and the trace's path in segment 0, for lists of spools. */
void probity_segment_describe(void *segment, const char *program, const char *trace_path);

/* Allocates the pages of chunk `index`, before anything is stored in it. Returns 0, or
 * PROBITY_ERROR_MEMORY if there is no room. */
int probity_segment_extend(void *segment, uint32_t index);

/* Names the file before anything except its headers is stored, and closes the descriptor; a no-op
 * for -1. If links are forbidden, another file replaces it at the same address, with pages for at
 * least the first `present` chunks. Returns 0, or PROBITY_ERROR_OPEN: then the file no longer
 * exists. */
int probity_segment_name(int unnamed, const char *path, void *segment, uint32_t present);

#endif
