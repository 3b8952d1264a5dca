/* SPDX-License-Identifier: MIT
 *
 * recover.h: recovers the spool of a dead program into its trace. May be interrupted at any point
 * and run again, with the same result.
 */
#ifndef PROBITY_WRITER_RECOVER_H
#define PROBITY_WRITER_RECOVER_H

#include <stdint.h>

struct probity_recover_result {
    int was_closed;          /* the trace already had its END block */
    int has_spool;           /* a spool was found; 0: nothing could be added */
    int is_empty;            /* never had a spool: the program was killed before it recorded */
    uint64_t records, holes; /* those taken from the spool */
    int is_short; /* the file is shorter than its program wrote: a copy, not the trace */
    int is_spool_cut;        /* with PROBITY_ERROR_DAMAGED: the spool is damaged, not the trace */
    int is_spool_kept;       /* with PROBITY_ERROR_WRITE: the trace is complete, only its spool
                                could not be removed */
    int is_taken;            /* with PROBITY_ERROR_STATE: another recover is running */
    int is_unknown;          /* with PROBITY_ERROR_STATE: it is unknown whether its program runs */
    /* With PROBITY_ERROR_STATE: nothing was changed, because the name is a symbolic link, or the
     * trace belongs to another user. */
    int is_link, is_foreign;
    int is_copy;             /* no spool was used: that of this session is another file's */
    int has_failed;          /* recording had ended early: the trace could not be written */
    uint64_t torn_bytes;     /* size of an incomplete block at the end, which was removed */
    char csv_path[4096];     /* trace_path without ".probity" if a CSV file is requested, else
                                * empty. The caller writes it */
    uint64_t device, inode;  /* those of the trace's file */
};

/* Recovers a trace. is_trusted: traces of other users, and copies, are recovered too. Returns 0;
 * PROBITY_ERROR_STATE if the program is still running, another recover is running, is_link or
 * is_foreign; PROBITY_ERROR_WRITE (errno set; the spool is kept, and the trace is unchanged unless
 * is_spool_kept); PROBITY_ERROR_OPEN, READ (errno set), FORMAT, VERSION, DAMAGED (no INFO; or
 * is_short: nothing was changed, the spool belongs to the original trace; or is_spool_cut: nothing
 * was changed), MEMORY. */
int probity_recover(const char *trace_path, int is_trusted,
                    struct probity_recover_result *ret_result);

/* A file that the caller has already checked. */
struct probity_recover_file {
    uint64_t device, inode;
};

/* Does the same for this file only (NULL: any), with the spool that its program wrote. If the path
 * leads to another file, returns PROBITY_ERROR_OPEN with ESTALE. */
int probity_recover_only(const char *trace_path, const struct probity_recover_file *only,
                         int is_trusted, struct probity_recover_result *ret_result);

/* Removes the spool of a trace that is to be deleted. The trace is kept. Returns 0, even if there
 * is no spool, or the file is not a trace, a link or another user's; PROBITY_ERROR_STATE as above;
 * PROBITY_ERROR_OPEN, READ, WRITE (errno set), MEMORY. */
int probity_recover_discard(const char *trace_path, struct probity_recover_result *ret_result);

#endif
