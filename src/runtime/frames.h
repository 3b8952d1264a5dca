/* SPDX-License-Identifier: MIT
 *
 * frames.h: tracks the positions of open scopes on the calling thread's stack, and detects which of
 * them were left by longjmp(). Called by the thread itself, even in signal handlers; preserves
 * errno.
 */
#ifndef PROBITY_RUNTIME_FRAMES_H
#define PROBITY_RUNTIME_FRAMES_H

#include <stdint.h>

#include "base/pairs.h"

/* Pairs of scopes, by their code, that were open in one frame at the same time because one function
 * was inlined into the other. */
extern struct probity_pairs probity_frames_pairs;

/* Leaves the scope at this place; those above it were left by a jump, which is recorded. */
void probity_frames_leave(uint32_t place);

/* Frees the places from this one on; nothing is recorded. */
void probity_frames_free(uint32_t place);

/* Call when the calling thread ends, with signals blocked. */
void probity_frames_thread_ends(void);

#endif
