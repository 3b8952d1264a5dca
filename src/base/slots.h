/* SPDX-License-Identifier: MIT
 *
 * slots.h: an array with a place for each small number, which grows with the largest that comes.
 */
#ifndef PROBITY_BASE_SLOTS_H
#define PROBITY_BASE_SLOTS_H

#include <stddef.h>
#include <stdint.h>

/* Makes the array of *count items of so many bytes so long that `slot` is inside; new ones are
 * zeroed. Returns the array, for realloc() moves it, or NULL without memory: it stays as it is. */
void *probity_slots_grow(void *slots, size_t item_bytes, uint32_t slot, uint32_t *count);

#endif
