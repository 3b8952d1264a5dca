/* SPDX-License-Identifier: MIT
 *
 * sled_patch.h: replaces the sleds of one object with jumps, and restores them, while its code may
 * be running in other threads. One thread at a time.
 */
#ifndef PROBITY_FUNCTIONS_SLED_PATCH_H
#define PROBITY_FUNCTIONS_SLED_PATCH_H

#include "functions/sled_map.h"

struct probity_sled_change {
    uint8_t *at;
    uintptr_t function;
    const uint8_t *stub; /* NULL: not made yet */
    uint32_t id;
    uint8_t kind; /* an enum probity_cpu_sled_kind */
    uint8_t is_on, is_changing;
};

/* Memory with the stubs of the sleds in one segment. */
struct probity_sled_stubs {
    uint8_t *at;
    size_t bytes;
};

enum { PROBITY_SLED_SEGMENTS_MAX = 8 };

/* The sleds of one object whose calls may be recorded. */
struct probity_sleds {
    struct probity_sled_change *changes; /* NULL: none */
    size_t count, bytes; /* bytes: size of the memory */
    struct probity_sled_stubs stubs[PROBITY_SLED_SEGMENTS_MAX];
    size_t stub_count;
};

/* Returns whether the object's code is still as this library left it: another object may have been
 * loaded at its address. */
int probity_sleds_are_there(const struct probity_sleds *sleds,
                            const struct probity_object *object);

/* Restores the sleds for which is_removed(id) is true, byte for byte, and replaces all others.
 * Returns 0, or -1 with errno if some could not be changed: each of them is unchanged, and may be
 * changed by another call. */
int probity_sleds_change(struct probity_sleds *sleds, const struct probity_object *object,
                         int (*is_removed)(uint32_t id));

/* Maps new memory that branches can reach from all code between `first` and `last`, and vice versa.
 * Returns NULL if there is none. */
uint8_t *probity_sleds_map_near(uintptr_t first, uintptr_t last, size_t bytes);

/* Call for an object that is no longer loaded, or has no replaced sleds. */
void probity_sleds_forget(struct probity_sleds *sleds);

#endif
