/* SPDX-License-Identifier: MIT
 *
 * ship_source.h: checks whether another process is still writing a trace that is to be sent, or
 * sending the same run.
 */
#ifndef PROBITY_CLI_SHIP_SOURCE_H
#define PROBITY_CLI_SHIP_SOURCE_H

#include <stdint.h>

/* Whether a file is probably incomplete: a process has it open for writing, if the system can
 * report that, or it changed less than settle_ms ago. Only useful for a trace that has no END and
 * no live program. */
int cli_ship_is_written(const char *path, uint64_t settle_ms);

/* Locks a run for one database in the directory of this trace, where other files may be copies of
 * the trace. Returns a descriptor, which holds the lock until it is closed, or one of these: */
enum { CLI_SHIP_LOCK_BUSY = -1, CLI_SHIP_LOCK_FAILED = -2 /* errno has the reason */ };
int cli_ship_lock_run(const char *trace, const char *url, uint64_t run);

#endif
