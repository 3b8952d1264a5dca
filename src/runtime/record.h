/* SPDX-License-Identifier: MIT
 *
 * record.h: the slow path of recording: for records longer than a word, and for threads without
 * free words. Any thread, async-signal-safe; preserves errno.
 */
#ifndef PROBITY_RUNTIME_RECORD_H
#define PROBITY_RUNTIME_RECORD_H

#include "format/stream.h"
#include "runtime/session_mapping.h"

/* Records an event of the calling thread, which owns the state. Payload: at most
 * PROBITY_EVENT_BYTES_MAX - 24 bytes; longer ones are truncated. Returns 0, or PROBITY_ERROR_LIMIT
 * if it was dropped. */
int probity_record_event(struct probity_session *session, struct probity_thread_state *slot,
                         uint32_t kind, const void *payload, size_t bytes);

/* Records an event that is part of the program's timeline, like a hit: CPU time is measured if
 * necessary. Called by the thread itself, async-signal-safe. Truncated to PROBITY_EVENT_ROOM bytes.
 * Returns the tick of the record, or 0 if it is dropped. */
uint64_t probity_record_values(uint32_t kind, const void *payload, size_t bytes);

/* Call after a gap that ends at `tick`; the thread state need not be one of the session's. Reads
 * the CPU clock if that is worth its cost. Gaps with the same number are treated alike. Returns the
 * known time off the CPU in ns; may be negative. */
int64_t probity_record_gap(struct probity_session *session, struct probity_thread_state *slot,
                           uint32_t number, uint64_t tick);

/* Records a hit as the slow path does, in a thread state that is in no recording and has free
 * words, so that its cost can be measured. */
void probity_record_trial(struct probity_session *session, struct probity_thread_state *slot,
                          uint32_t code);

/* Records an event for the calling thread, registering it if needed. Returns PROBITY_ERROR_STATE if
 * nothing is recorded. */
int probity_record_event_here(uint32_t kind, const void *payload, size_t bytes);

#endif
