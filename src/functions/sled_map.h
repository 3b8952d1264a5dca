/* SPDX-License-Identifier: MIT
 *
 * sled_map.h: the table of sleds that clang puts into an object (section xray_instr_map), read from
 * the memory to which it was loaded. It is not trusted: a sled is used only if it is in the
 * object's code, and the bytes there are those of a sled of its kind.
 */
#ifndef PROBITY_FUNCTIONS_SLED_MAP_H
#define PROBITY_FUNCTIONS_SLED_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "functions/cpu_sleds.h"
#include "base/objects.h"

struct probity_sled {
    uint8_t *at;
    uintptr_t function;
    enum probity_cpu_sled_kind kind;
    enum probity_cpu_sled_state state;
};

struct probity_sled_map {
    const struct probity_object *object;
    const uint8_t *entries;
    size_t count;
};

/* Finds the table. Returns 1, 0 if the object has none, or -1 if it is damaged. */
int probity_sled_map_find(const struct probity_object *object, const char *path,
                          struct probity_sled_map *ret_map);

/* Reads the sled at an index. Returns 1, 0 if it is of a kind that is not used, or -1 if it is
 * invalid. `function` is always set. */
int probity_sled_map_at(const struct probity_sled_map *map, size_t index,
                        struct probity_sled *ret_sled);

#endif
