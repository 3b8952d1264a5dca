/* SPDX-License-Identifier: MIT
 *
 * array_grow.h: arrays that grow by one item at the end or, if indexed by small numbers, up to the
 * largest number used; buffers of bytes.
 */
#ifndef PROBITY_BASE_ARRAY_GROW_H
#define PROBITY_BASE_ARRAY_GROW_H

#include <stddef.h>
#include <stdint.h>

/* Grows the array of *count items of item_bytes each so that `slot` is in range; new items are
 * zeroed. Returns the array, which realloc() may have moved, or NULL if out of memory; the array is
 * then unchanged. */
void *probity_array_grow(void *slots, size_t item_bytes, uint32_t slot, uint32_t *count);

/* Makes room for twice the items wanted. Returns the same as above; capacity counts items. */
void *probity_array_double(void *items, size_t item_bytes, size_t wanted, size_t *capacity);

/* Makes room for `wanted` items in total, at least 1. Returns the same as above. */
static inline void *probity_array_fit(void *items, size_t item_bytes, size_t wanted,
                                      size_t *capacity)
{
    return __builtin_expect(wanted <= *capacity, 1)
               ? items
               : probity_array_double(items, item_bytes, wanted, capacity);
}

/* More than doubles the capacity. Returns the same as above; capacity counts items. */
void *probity_array_extend(void *items, size_t item_bytes, size_t *capacity);

/* Makes room for one item after the first `count`. Returns the same as above. */
static inline void *probity_array_room(void *items, size_t item_bytes, size_t count,
                                       size_t *capacity)
{
    return __builtin_expect(count < *capacity, 1)
               ? items
               : probity_array_extend(items, item_bytes, capacity);
}

/* Makes room for one item after the first `count`, in an array that starts as NULL and grows only
 * in this way: its capacity follows from the count, and is not stored. Returns the same as
 * above. */
void *probity_array_append(void *items, size_t item_bytes, size_t count);

/* Makes the buffer, at first NULL, as large as wanted if it is smaller, but no larger: data read
 * into it mostly has the same size each time. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_bytes_reserve(uint8_t **bytes, size_t *capacity, size_t wanted);

#endif
