/* SPDX-License-Identifier: MIT
 *
 * thread.h: a thread's slot and its chunk. Called by the thread itself, in slow paths, inside
 * probity_session_enter() and with signals blocked unless it says otherwise.
 */
#ifndef PROBITY_RUNTIME_THREAD_H
#define PROBITY_RUNTIME_THREAD_H

#include "runtime/session.h"

/* Whether probes use this copy of the library. Not where another one came first in the search for
 * its names (a program with the static library that exports them, and a plugin with the shared
 * one): then all probes that see both use that one. Any thread. */
int probity_thread_is_of_this_copy(void);

/* The calling thread's slot; NULL where it has none in this process (it may be a forked child's).
 * Signals need not be blocked. */
struct probity_slot *probity_thread_slot(void);

/* Whether the calling thread is to be recorded: where only announced ones are, it is one. Signals
 * need not be blocked. */
int probity_thread_may_record(const struct probity_session *session);

/* Gives the thread a slot and names it in the trace. NULL where the limit is reached, which is
 * counted. */
struct probity_slot *probity_thread_register(struct probity_session *session);

/* Nothing is recorded now: the inline probe need not call any more. */
void probity_thread_forget(void);

/* In a forked child: the slot was its parent's, and the calling thread has none. */
void probity_thread_disown(const struct probity_slot *slot);

/* A chunk with room for the thread, unless a signal handler got one meanwhile. Returns 1; 0 where
 * the thread must wait for one (outside, with signals open); or -1: the record is dropped, and
 * counted. */
int probity_thread_need_chunk(struct probity_session *session, struct probity_slot *slot);

/* Reads the CPU clock into the slot. Returns for how many ns the thread was off the CPU since the
 * last reading. Signals need not be blocked. */
int64_t probity_thread_measure(struct probity_session *session, struct probity_slot *slot);

/* The calling thread's end is to be told. */
void probity_thread_watch_own_exit(void);

/* Makes the key whose destructor tells that a thread ends. Once per process. */
void probity_thread_watch_exits(void);

/* Before this code may be unloaded: no destructor any more. */
void probity_thread_unwatch_exits(void);

#endif
