/* SPDX-License-Identifier: MIT
 *
 * descriptors.h: the file or peer of each file descriptor of the traced processes, tracked through
 * the recorded calls to the C library (doc/calls.md, "Scopes"). Memory: PROBITY_DESCRIPTORS_MAX
 * descriptors, the threads, and the texts that are in use. Prints nothing.
 */
#ifndef PROBITY_ANSWERS_WAITS_DESCRIPTORS_H
#define PROBITY_ANSWERS_WAITS_DESCRIPTORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/hashtable.h"
#include "reader/reader.h"

enum { PROBITY_DESCRIPTORS_MAX = 1 << 17 };

enum probity_descriptor_kind {
    PROBITY_DESCRIPTOR_UNKNOWN,
    PROBITY_DESCRIPTOR_FILE,
    PROBITY_DESCRIPTOR_PEER /* a socket, pipe, or another end that is not a file */
};

/* The object of a call. */
struct probity_descriptor_target {
    enum probity_descriptor_kind kind;
    const char *name; /* path or peer; else "descriptor N", or "" if there is none. Valid until the
                         next put */
};

/* All zero: empty. */
struct probity_descriptors {
    struct probity_hashtable items;
    struct descriptor_call *calls; /* by thread slot: the call in progress */
    uint32_t call_count;
    uint64_t forgotten;
    char text[32];
};

/* Takes any event, in order: enters before the analysis of waits takes them, leaves after it, so
 * that a wait in close() still finds its file. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_descriptors_put(struct probity_descriptors *descriptors,
                            const struct probity_event *event);

/* The object of a thread's current call. */
struct probity_descriptor_target probity_descriptors_target(
    struct probity_descriptors *descriptors, uint32_t trace, uint32_t thread_slot);

void probity_descriptors_release(struct probity_descriptors *descriptors);

#endif
