/* SPDX-License-Identifier: MIT
 *
 * drainer.h: the external writer: moves records of a live program without a writer thread from its
 * spool to its trace (doc/spool.md, "An external drainer"). If it is killed at any point, the next
 * one continues from the spool and the trace.
 */
#ifndef PROBITY_WRITER_DRAINER_H
#define PROBITY_WRITER_DRAINER_H

#include <stdint.h>

#include "writer/recover.h"

struct probity_drainer;

/* Opens and locks the spool of a trace of this user. only: if not NULL, the expected file; if the
 * path leads to another one, returns PROBITY_ERROR_OPEN with ESTALE. Returns 0; PROBITY_ERROR_STATE
 * if another process drains it, its program writes the trace itself or is dead, or the trace is
 * closed; PROBITY_ERROR_ARGUMENT if the name is a link, not a regular file, or another user's;
 * PROBITY_ERROR_OPEN, READ, FORMAT, VERSION, DAMAGED, MEMORY, SYSTEM. */
int probity_drainer_open(const char *trace_path, const struct probity_recover_file *only,
                         struct probity_drainer **ret_drainer);

/* Moves the records stored so far to the trace. Returns 1 while the program is recording; 0
 * afterwards, when the rest is for probity_recover(), after the close; or an error:
 * PROBITY_ERROR_WRITE, READ, MEMORY, or DAMAGED if the spool was truncated. */
int probity_drainer_pass(struct probity_drainer *drainer);

/* Sleeps until there is work or the timeout expires. */
void probity_drainer_wait(const struct probity_drainer *drainer, int64_t timeout_ns);

/* Returns when recording began: CLOCK_REALTIME in ns, according to the trace. */
uint64_t probity_drainer_began_ns(const struct probity_drainer *drainer);

/* Releases the spool; then another process may drain it. */
void probity_drainer_close(struct probity_drainer *drainer);

#endif
