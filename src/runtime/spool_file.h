/* SPDX-License-Identifier: MIT
 *
 * spool_file.h: the first segment of a session's spool.
 */
#ifndef PROBITY_RUNTIME_SPOOL_FILE_H
#define PROBITY_RUNTIME_SPOOL_FILE_H

#include "runtime/session_mapping.h"

/* Creates segment 0 in the spool directory or, if none is usable, next to the trace. Sets
 * spool_path, unnamed_spool and present_chunks of the session; reduces the header's chunks if there
 * is a ceiling. Returns the same as probity_segment_make(), or PROBITY_ERROR_LIMIT. Lock held. */
int probity_spool_file_make(struct probity_session *session, struct probity_spool_header *header,
                            void **ret_segment);

#endif
