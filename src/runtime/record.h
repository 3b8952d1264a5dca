/* SPDX-License-Identifier: MIT
 *
 * record.h: the cold half of the record path: records that are longer than a word, or whose thread
 * has no room. Any thread, signal handlers too; errno stays.
 */
#ifndef PROBITY_RUNTIME_RECORD_H
#define PROBITY_RUNTIME_RECORD_H

#include "format/stream.h"
#include "runtime/session.h"

/* Records an event of the calling thread, whose slot it is. Payload: at most
 * PROBITY_EVENT_BYTES_MAX - 24 bytes; more is cut. Returns 0, or PROBITY_ERROR_LIMIT where it was
 * dropped. */
int probity_record_event(struct probity_session *session, struct probity_slot *slot, uint32_t kind,
                         const void *payload, size_t bytes);

/* Records an event that stands in the program's own time, as a hit does: its CPU time is measured
 * where it must be. The calling thread, signal handlers too. More than PROBITY_EVENT_ROOM bytes are
 * cut. */
void probity_record_values(uint32_t kind, const void *payload, size_t bytes);

/* After a gap that ends at `tick`, in a slot that need not be one of the session's: reads the CPU
 * clock where that is worth its price. Gaps of one number are alike. Returns for how many ns the
 * thread is known to have been off the CPU; may be negative. */
int64_t probity_record_gap(struct probity_session *session, struct probity_slot *slot,
                           uint32_t number, uint64_t tick);

/* Records a hit into a slot that is in no recording and has room, as the slow path does: so that
 * its cost can be measured. */
void probity_record_trial(struct probity_session *session, struct probity_slot *slot,
                          uint32_t code);

/* Records an event for whoever calls: registers the thread where needed. PROBITY_ERROR_STATE when
 * nothing is recorded. */
int probity_record_event_here(uint32_t kind, const void *payload, size_t bytes);

#endif
