/* SPDX-License-Identifier: MIT
 *
 * ceiling.h: limits the memory used by all spools of a user (PROBITY_SPOOL_TOTAL).
 */
#ifndef PROBITY_RUNTIME_CEILING_H
#define PROBITY_RUNTIME_CEILING_H

#include "runtime/session_mapping.h"

/* Makes the session's segments smaller and fewer so that they fit, given the contents of the
 * directory, and reports this. Returns 0, or PROBITY_ERROR_LIMIT if not even the smallest fits,
 * which is also reported. buffer: scratch space. Call with the session's lock held. */
int probity_ceiling_apply(struct probity_session *session, const char *directory, void *buffer,
                          size_t room);

/* Limits the size of segments: reduces chunk_words, segment_chunks and segments_max until they fit
 * into `bytes`. Returns 0 if they fitted before, 1 if they do now, or PROBITY_ERROR_LIMIT. */
int probity_ceiling_fit(struct probity_settings *settings, uint64_t bytes);

/* Returns the share of `total` bytes that one more program may take if `used` bytes are taken. */
uint64_t probity_ceiling_share(uint64_t total, uint64_t used);

#endif
