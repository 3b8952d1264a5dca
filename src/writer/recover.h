/* SPDX-License-Identifier: MIT
 *
 * recover.h: folds the spool of a dead program into its trace. May be interrupted at any point and
 * run again: the result is the same.
 */
#ifndef PROBITY_WRITER_RECOVER_H
#define PROBITY_WRITER_RECOVER_H

#include <stdint.h>

struct probity_recover_result {
    int was_closed;          /* the trace had its END block already */
    int has_spool;           /* a spool was found; 0: nothing could be added */
    uint64_t records, holes; /* taken from the spool */
    int is_short; /* the file is shorter than its program wrote: a copy, and not the trace itself */
    int is_spool_cut;        /* with PROBITY_ERROR_DAMAGED: the spool is, and not the trace */
    int is_taken;            /* with PROBITY_ERROR_STATE: by another recover, not by its program */
    int has_failed;          /* recording had ended early: the trace could not be written */
    uint64_t torn_bytes;     /* of a block that was being written at the end; cut off */
    char csv_path[4096];     /* what INFO asks for; empty: no CSV. The caller makes it */
};

/* Returns 0; PROBITY_ERROR_STATE where the program still runs or another recover is at it;
 * PROBITY_ERROR_WRITE (errno set; the trace is as before, the spool stays); PROBITY_ERROR_OPEN,
 * READ (errno set), FORMAT, VERSION, DAMAGED (no INFO; or is_short: nothing is changed, the
 * spool is for the trace itself; or is_spool_cut: likewise), MEMORY. */
int probity_recover(const char *trace_path, struct probity_recover_result *ret_result);

/* Removes the spool of a trace that is to be thrown away. The trace stays. Returns 0, also where
 * there is no spool or the file is no trace; PROBITY_ERROR_STATE as above; PROBITY_ERROR_OPEN,
 * READ, WRITE (errno set), MEMORY. */
int probity_recover_discard(const char *trace_path, struct probity_recover_result *ret_result);

#endif
