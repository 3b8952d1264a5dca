/* SPDX-License-Identifier: MIT
 *
 * spools.h: the spools in a directory, as seen from other processes: their owners, whether their
 * programs are alive, and their unsaved records. Read-only. Never runs in a traced program.
 */
#ifndef PROBITY_READER_SPOOLS_H
#define PROBITY_READER_SPOOLS_H

#include <stddef.h>
#include <stdint.h>

#include "spool/attach.h"

enum probity_spools_state {
    PROBITY_SPOOLS_DEAD,
    PROBITY_SPOOLS_ALIVE,
    PROBITY_SPOOLS_CLOSED,  /* closed: everything is in the trace */
    PROBITY_SPOOLS_RECOVERING, /* another process is recovering it */
    PROBITY_SPOOLS_UNKNOWN, /* its program holds no lock, or the lock cannot be queried */
    PROBITY_SPOOLS_OTHER_BOOT,
    PROBITY_SPOOLS_BROKEN   /* not a spool, or of a version that cannot be read */
};

enum probity_spools_trace {
    PROBITY_SPOOLS_FOUND,     /* the trace exists, and is the file that the program wrote */
    PROBITY_SPOOLS_GONE,      /* neither at its path nor, renamed, in its directory */
    PROBITY_SPOOLS_UNRECORDED, /* the spool does not record its path */
    PROBITY_SPOOLS_UNREADABLE /* it may exist */
};

struct probity_spools_entry {
    char stem[48];  /* session id in hexadecimal */
    char *path;     /* path of segment 0 */
    size_t directory; /* index of its directory in the list */
    uint32_t owner; /* user id */
    enum probity_spools_state state;
    uint64_t bytes; /* bytes of memory, all segments */
    int64_t changed_ns; /* ns since 1970: when the file was created or closed */
    /* From its header, which the program wrote. */
    uint32_t pid;
    char program[65];
    uint8_t session[16], boot[16];
    uint64_t device, inode; /* identity of the trace */
    /* Only for dead and closed spools: */
    enum probity_spools_trace trace;
    char *trace_path; /* its current or former path; NULL: unknown */
    int has_records;
    uint64_t records; /* records missing from the trace; without the trace, an upper bound */
    uint64_t functions; /* in profile mode: rows of counts */
};

struct probity_spools {
    struct probity_spools_entry *entries; /* the latest last */
    size_t count;
    char **directories;
    uint32_t *owners;
    size_t directory_count;
    uint64_t other_files, other_bytes; /* files in the directories that are not part of a spool */
};

/* Adds the spools of a directory that belongs to `owner` and is not writable by others. Returns 0;
 * PROBITY_ERROR_OPEN (errno set), PROBITY_ERROR_STATE (owned by another user, or writable by
 * others), PROBITY_ERROR_MEMORY. */
int probity_spools_add(struct probity_spools *spools, const char *directory, uint32_t owner);

/* Finds the trace of an attached spool, live or not. Sets the entry's trace, trace_path (to be
 * freed), device and inode. Returns entry.trace, or PROBITY_ERROR_FORMAT, PROBITY_ERROR_MEMORY with
 * nothing to free. */
int probity_spools_find_trace(const struct probity_attach *attach,
                              struct probity_spools_entry *ret_entry);

/* Sorts all entries by age. */
void probity_spools_sort(struct probity_spools *spools);

void probity_spools_release(struct probity_spools *spools);

#endif
