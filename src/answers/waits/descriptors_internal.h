/* SPDX-License-Identifier: MIT
 *
 * descriptors_internal.h: the table of descriptors.c, which descriptors_state.c saves and restores.
 */
#ifndef PROBITY_ANSWERS_WAITS_DESCRIPTORS_INTERNAL_H
#define PROBITY_ANSWERS_WAITS_DESCRIPTORS_INTERNAL_H

#include "answers/waits/descriptors.h"

enum { DESCRIPTOR_TEXT_MAX = 256 };

struct descriptor_call {
    const struct probity_function *function; /* NULL: no call is in progress */
    int64_t fd; /* -1: none */
    int64_t end; /* of the range that the call closes, which begins with fd; 0: none */
    uint64_t added; /* of the table, when such a call began */
    char path[DESCRIPTOR_TEXT_MAX], peer[DESCRIPTOR_TEXT_MAX];
};

struct descriptor {
    struct probity_link link;
    uint64_t key; /* trace and number */
    uint64_t added; /* of the table, once it was in it */
    enum probity_descriptor_kind kind;
    char name[];
};

static inline uint64_t descriptor_key(uint32_t trace, int64_t fd)
{
    return (uint64_t)trace << 32 | (uint32_t)fd;
}

/* Replaces an existing value of the key. Returns 0 or PROBITY_ERROR_MEMORY. */
int descriptors_add(struct probity_descriptors *descriptors, uint64_t key,
                    enum probity_descriptor_kind kind, const char *name);

/* Returns NULL if out of memory. */
struct descriptor_call *descriptors_call_at(struct probity_descriptors *descriptors,
                                            uint32_t slot);

#endif
