/* SPDX-License-Identifier: MIT
 *
 * trace_file.h: names and makes the trace of a session: file header and INFO block. Under the
 * session's lock.
 */
#ifndef PROBITY_RUNTIME_TRACE_FILE_H
#define PROBITY_RUNTIME_TRACE_FILE_H

#include "runtime/session.h"

/* Makes the file for session->settings.out, is_child: with the process id in its name where the
 * template has none. Sets trace_path and csv_path. Nothing is overwritten unless the settings say
 * so: a taken name gets the process id. Returns 0 or PROBITY_ERROR_ARGUMENT (name too long), _OPEN,
 * _EXISTS; ret_descriptor is the caller's. */
int probity_trace_file_make(struct probity_session *session, int is_child, int *ret_descriptor);

/* The absolute path that a template (%p, %n, %%) stands for; of a child, with its process id.
 * Returns 0 or PROBITY_ERROR_ARGUMENT (too long). */
int probity_trace_file_expand(struct probity_session *session, const char *template, int is_child,
                              char ret_path[PROBITY_LIMIT_PATH]);

/* Writes file header and INFO, and behind it what is compiled in as far as it is listed. Returns 0
 * or PROBITY_ERROR_WRITE; ret_bytes, ret_blocks: the file's. */
int probity_trace_file_begin(struct probity_session *session, int descriptor, uint64_t *ret_bytes,
                             uint64_t *ret_blocks);

/* Who has no thread that writes keeps no descriptor, and would not know a trace that was removed,
 * whose spool nobody wants, from one that was moved: a mapping knows. It is never looked at. */
void probity_trace_file_hold(struct probity_session *session, int descriptor);
void probity_trace_file_let_go(struct probity_session *session);

/* 1 where it has no name any more; 0 where it has, or nothing is known. */
int probity_trace_file_is_removed(struct probity_session *session);

#endif
