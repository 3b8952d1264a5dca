/* SPDX-License-Identifier: MIT
 *
 * snapshot.h: a dump of another process's ring (doc/triggers.md, "probity snapshot PID"). Never
 * runs in the traced program, which is not involved.
 */
#ifndef PROBITY_WRITER_SNAPSHOT_H
#define PROBITY_WRITER_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

struct probity_snapshot_wanted {
    const char *trace;   /* path */
    const char *pattern; /* of the dump; %i: the first free number; NULL: the default */
    const char *reason;  /* or NULL */
    int replaces;        /* without %i: replaces an existing file */
};

struct probity_snapshot_result {
    uint32_t pid, mode; /* the program's id and mode */
    int is_dead;        /* it has ended, or is no longer recording */
    int system_error;   /* errno of PROBITY_ERROR_OPEN and PROBITY_ERROR_WRITE */
    uint64_t records, bytes;
    uint64_t window_ns; /* length of the complete part, until now */
    char name[4096 + 512];
    int is_in_use; /* with PROBITY_ERROR_EXISTS: the file is being recorded, or is not regular */
};

/* Writes the dump. Returns 0; PROBITY_ERROR_STATE if there is no live ring (see the result);
 * PROBITY_ERROR_EXISTS; PROBITY_ERROR_ARGUMENT for a name that is too long; PROBITY_ERROR_OPEN and
 * PROBITY_ERROR_WRITE for the dump; PROBITY_ERROR_READ, FORMAT, DAMAGED, MEMORY for the trace or
 * its spool. */
int probity_snapshot_write(const struct probity_snapshot_wanted *wanted,
                           struct probity_snapshot_result *ret_result);

#endif
