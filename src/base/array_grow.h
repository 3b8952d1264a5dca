/* SPDX-License-Identifier: MIT
 *
 * array_grow.h: an array indexed by small numbers, which grows to hold the largest one used.
 */
#ifndef PROBITY_BASE_ARRAY_GROW_H
#define PROBITY_BASE_ARRAY_GROW_H

#include <stddef.h>
#include <stdint.h>

/* Grows the array of *count items of item_bytes each so that `slot` is in range; new items are
 * zeroed. Returns the array, which realloc() may have moved, or NULL if out of memory; the array is
 * then unchanged. */
void *probity_array_grow(void *slots, size_t item_bytes, uint32_t slot, uint32_t *count);

#endif
