/* SPDX-License-Identifier: MIT
 *
 * external.h: recording without a writer thread: another process drains the spool (doc/spool.md,
 * "An external drainer"). Not called if a thread of the program writes.
 */
#ifndef PROBITY_RUNTIME_EXTERNAL_H
#define PROBITY_RUNTIME_EXTERNAL_H

#include "runtime/session_mapping.h"

static inline int probity_external_is(const struct probity_session *session)
{
    return session->settings.writing == PROBITY_WRITING_EXTERNAL;
}

/* Call at start, before the first record. */
void probity_external_begin(struct probity_session *session);

/* Frees drained chunks or, in a ring, the oldest one. Returns the number freed. Lock held. */
uint32_t probity_external_reclaim(struct probity_session *session);

/* Returns whether there is a drainer: it was active within the last two seconds, or recording has
 * only just begun. */
int probity_external_has_drainer(struct probity_session *session);

/* Waits briefly for a drained chunk. */
void probity_external_wait(struct probity_session *session);

/* Returns the same as probity_flush(); PROBITY_ERROR_STATE if there is no drainer, and in a
 * ring. */
int probity_external_flush(struct probity_session *session);

/* Call when all threads are quiesced: leaves the rest to the drainer, or drains it if there is
 * none. Returns 0 if the trace is closed, PROBITY_ERROR_STATE if it is left to another process, or
 * an error. */
int probity_external_end(struct probity_session *session, uint32_t reason);

#endif
