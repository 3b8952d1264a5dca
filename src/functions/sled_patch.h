/* SPDX-License-Identifier: MIT
 *
 * sled_patch.h: replaces the sleds of one object with calls, while its code may be running in other
 * threads. One thread at a time.
 */
#ifndef PROBITY_FUNCTIONS_SLED_PATCH_H
#define PROBITY_FUNCTIONS_SLED_PATCH_H

#include "functions/sled_map.h"

struct probity_sled_change {
    uint8_t *at;
    uintptr_t function;
    enum probity_cpu_sled_kind kind;
    uint32_t id;
};

/* Replaces sleds of an object that are off (enum probity_cpu_sled_state). Returns 0, or -1 with
 * errno: sleds in a segment whose code cannot be changed are left unchanged. */
int probity_sleds_patch(const struct probity_object *object,
                        const struct probity_sled_change *changes, size_t count);

/* Switches sleds of an object that were replaced before off, or on again. Contract as above. */
int probity_sleds_switch(const struct probity_object *object,
                         const struct probity_sled_change *changes, size_t count, int is_on);

#endif
