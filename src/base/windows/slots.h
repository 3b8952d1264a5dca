/* SPDX-License-Identifier: MIT
 *
 * windows/slots.h: see slots.c.
 */
#ifndef PROBITY_BASE_WINDOWS_SLOTS_H
#define PROBITY_BASE_WINDOWS_SLOTS_H

/* Declared in src/runtime/thread.h: takes the slots, once. Returns 1, or 0 if the program has used
 * up those in the environment block: nothing is then recorded. Any thread. */
int probity_thread_is_ready(void);

/* Releases the calling thread's block. Later records of the thread allocate another one. */
void probity_slots_thread_ends(void);

#endif
