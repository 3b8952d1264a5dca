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

/* The same for whoever calls: registers the thread where needed. PROBITY_ERROR_STATE when nothing
 * is recorded. */
int probity_record_event_here(uint32_t kind, const void *payload, size_t bytes);

#endif
