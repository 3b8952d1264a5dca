/* SPDX-License-Identifier: MIT
 *
 * trace_file.h: names and creates the trace of a session: file header and INFO block. Call with the
 * session's lock held.
 */
#ifndef PROBITY_RUNTIME_TRACE_FILE_H
#define PROBITY_RUNTIME_TRACE_FILE_H

#include "runtime/session_mapping.h"

/* Returns the program's name at the time when a trace or spool was first named in this process or
 * in a parent that forked it. */
const char *probity_trace_file_program(void);

/* Creates the file for session->settings.out; is_child: with the process id in its name if the
 * template has none. Sets trace_path and csv_path. Nothing is overwritten unless the settings allow
 * it: if the name exists, the process id is added. Returns 0 or PROBITY_ERROR_ARGUMENT (name too
 * long, or not a regular file), _OPEN, _EXISTS, after printing why; the caller owns
 * ret_descriptor. */
int probity_trace_file_make(struct probity_session *session, int is_child, int *ret_descriptor);

/* Expands a template (%p, %n, %%) to an absolute path; for a child, with its process id. Returns 0
 * or PROBITY_ERROR_ARGUMENT (too long). */
int probity_trace_file_expand(struct probity_session *session, const char *template, int is_child,
                              char ret_path[PROBITY_LIMIT_PATH]);

/* Writes file header and INFO, then the sites listed so far. Returns 0 or PROBITY_ERROR_WRITE;
 * ret_bytes and ret_blocks: size of the file. */
int probity_trace_file_begin(struct probity_session *session, int descriptor, uint64_t *ret_bytes,
                             uint64_t *ret_blocks);

/* Records in the trace that the spool has its name, if INFO announces that. Adds to the file's
 * bytes and blocks. Returns 0 or PROBITY_ERROR_WRITE. */
int probity_trace_file_mark_start(struct probity_session *session, int descriptor, uint64_t *bytes,
                                  uint64_t *blocks);

/* Holds the trace with a mapping, which is never read. Without a writer thread, no descriptor is
 * kept, and a removed trace, whose spool is useless, could not be distinguished from one that was
 * moved. */
void probity_trace_file_hold(struct probity_session *session, int descriptor);
void probity_trace_file_release(struct probity_session *session);

/* Returns 1 if the file no longer has a name; 0 if it has one, or if unknown. */
int probity_trace_file_is_removed(struct probity_session *session);

/* Removes a trace that was recorded only for another output, which is now complete. Keeps it if its
 * spool still exists, because the spool could not be found without it: `probity recover` removes
 * what it can of both. Never removes another file, even if the path now refers to one. */
void probity_trace_file_remove(const struct probity_session *session);

/* Expands %p and %n of a pattern for dumps; %i and %% stay, and percent signs in inserted text are
 * doubled. The result is absolute. Returns 0, or PROBITY_ERROR_ARGUMENT if it is too long. */
int probity_trace_file_expand_dump(struct probity_session *session, const char *template,
                                   char ret_path[PROBITY_LIMIT_PATH]);

#endif
