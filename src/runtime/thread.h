/* SPDX-License-Identifier: MIT
 *
 * thread.h: a thread's state and its chunk. Called by the thread itself, in slow paths, inside
 * probity_session_enter() and with signals blocked unless noted otherwise.
 */
#ifndef PROBITY_RUNTIME_THREAD_H
#define PROBITY_RUNTIME_THREAD_H

#include "runtime/session_mapping.h"

/* Returns whether probes use this copy of the library, and its thread-local variables exist: 1 or
 * 0. Probes use another copy if that comes first in symbol lookup (a program with the static
 * library that exports its names, and a plugin with the shared one). Any thread, before anything is
 * recorded. */
int probity_thread_is_ready(void);

/* Returns the calling thread's state; NULL if it has none in this process. A state inherited from a
 * parent does not count. Signals need not be blocked. */
struct probity_thread_state *probity_thread_slot(void);

/* Returns whether the calling thread is recorded: always, or only if it was announced. Signals need
 * not be blocked. */
int probity_thread_may_record(const struct probity_session *session);

/* Assigns a state to the thread and records its name. Returns NULL if the limit is reached, which
 * is counted. */
struct probity_thread_state *probity_thread_register(struct probity_session *session);

/* Call when nothing is recorded: the inline probe then no longer calls the library. */
void probity_thread_forget(void);

/* In a forked child: disowns the parent's state; the calling thread has none. */
void probity_thread_disown(const struct probity_thread_state *slot);

/* Gets a chunk with free words for the thread, unless a signal handler got one in the meantime.
 * Returns 1; 0 if the thread must wait for one (after leaving, with signals unblocked); or -1 if
 * the record is dropped, which is counted. */
int probity_thread_need_chunk(struct probity_session *session, struct probity_thread_state *slot);

/* Reads the CPU clock into the state. Returns the time off the CPU since the last reading in ns.
 * Signals need not be blocked. */
int64_t probity_thread_measure(struct probity_session *session, struct probity_thread_state *slot);

/* Has the destructor of probity_thread_watch_exits() run when the calling thread exits. */
void probity_thread_watch_own_exit(void);

/* Creates the key whose destructor runs when a thread exits. Once per process. */
void probity_thread_watch_exits(void);

/* Call before this code may be unloaded: no destructor runs afterwards. */
void probity_thread_unwatch_exits(void);

/* Returns a free chunk whose pages exist, or PROBITY_POOL_NONE; adds pages if necessary, and
 * requests that the writer add more before the next thread needs them. Signals blocked. */
uint32_t probity_thread_take_chunk(struct probity_session *session);

#endif
