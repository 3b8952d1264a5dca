/* SPDX-License-Identifier: MIT
 *
 * descriptors.h: the file or peer of each file descriptor of the traced processes, tracked by the
 * recorded calls to the C library (doc/calls.md, "Scopes"). Memory: PROBITY_DESCRIPTORS_MAX
 * descriptors, the threads, and the texts in use. Prints nothing.
 */
#ifndef PROBITY_ANSWERS_WAITS_DESCRIPTORS_H
#define PROBITY_ANSWERS_WAITS_DESCRIPTORS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/waits.h"
#include "base/hashtable.h"
#include "reader/reader.h"

enum { PROBITY_DESCRIPTORS_MAX = 1 << 17 };

enum probity_descriptor_kind {
    PROBITY_DESCRIPTOR_UNKNOWN,
    PROBITY_DESCRIPTOR_FILE,
    PROBITY_DESCRIPTOR_PEER /* a socket, pipe, or other end that is not a file */
};

/* The object of a call. */
struct probity_descriptor_target {
    enum probity_descriptor_kind kind;
    const char *name; /* path or peer; else "descriptor N", or "" if none. Valid until the next
                       * put */
};

/* All zero means empty. */
struct probity_descriptors {
    struct probity_hashtable items;
    struct descriptor_call *calls; /* by thread slot: the call in progress */
    uint32_t call_count;
    uint64_t added; /* items so far */
    uint64_t forgotten;
    struct descriptors_state *states; /* by trace: the state to continue from */
    uint32_t state_count, states_left;
    char text[32];
};

/* Takes any event, in order: enters before the analysis of waits takes them, leaves after it, so
 * that the file is still known for a wait in close(). Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_descriptors_put(struct probity_descriptors *descriptors,
                            const struct probity_event *event);

/* Returns the object of a thread's current call. */
struct probity_descriptor_target probity_descriptors_target(
    struct probity_descriptors *descriptors, uint32_t trace, uint32_t thread_slot);

/* ---- In descriptors_state.c: for indexes -------------------------------------------------------
 */

/* Whether a call is closing a range of descriptors, which a state does not contain. */
int probity_descriptors_are_closing(const struct probity_descriptors *descriptors);

/* Saves the descriptors of a trace after all its events up to a tick have been put, here and to the
 * analysis of waits: returns a PROBITY_INDEX_FILES block, to be freed, or NULL if there is nothing
 * to save. Not to be called while a range is being closed. Returns 1; 0 if it would not be exact,
 * because a descriptor was evicted; or PROBITY_ERROR_MEMORY. */
int probity_descriptors_save(const struct probity_descriptors *descriptors,
                             const struct probity_waits *waits, uint64_t tick,
                             uint8_t **ret_bytes, size_t *ret_count);

/* Call before the first put: continues from the states of a reader that has been given a window of
 * waits and must remain open. Does nothing if there is no such window, or with NULL. Returns 0 or
 * PROBITY_ERROR_MEMORY. */
int probity_descriptors_resume(struct probity_descriptors *descriptors,
                               const struct probity_reader *reader);

/* Call before the analysis of waits, which continues from a state of the same tick, takes the
 * event. Returns 1 if the event precedes the state, so that it must not be put; 0 if it must be
 * put; or PROBITY_ERROR_MEMORY or DAMAGED. */
int probity_descriptors_follow(struct probity_descriptors *descriptors,
                               const struct probity_waits *waits,
                               const struct probity_event *event);

void probity_descriptors_release(struct probity_descriptors *descriptors);

#endif
