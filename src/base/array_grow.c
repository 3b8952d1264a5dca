/* SPDX-License-Identifier: MIT
 *
 * array_grow.c: doubles the size, because numbers mostly arrive in order.
 */
#include "base/array_grow.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "probity.h"

void *probity_array_grow(void *slots, size_t item_bytes, uint32_t slot, uint32_t *count)
{
    size_t wanted = 2 * ((size_t)slot + 16), old = *count;
    char *grown = wanted <= UINT32_MAX ? realloc(slots, wanted * item_bytes) : NULL;

    if (grown == NULL)
        return NULL;
    memset(grown + old * item_bytes, 0, (wanted - old) * item_bytes);
    *count = (uint32_t)wanted;
    return grown;
}

/* Sets *capacity to `wanted`. */
static void *resize(void *items, size_t item_bytes, size_t wanted, size_t *capacity)
{
    void *grown = wanted <= PTRDIFF_MAX / item_bytes ? realloc(items, wanted * item_bytes) : NULL;

    probity_assert(wanted > *capacity && item_bytes > 0);
    if (grown != NULL)
        *capacity = wanted;
    return grown;
}

void *probity_array_extend(void *items, size_t item_bytes, size_t *capacity)
{
    enum { LEAST = 16 };

    return resize(items, item_bytes, 2 * *capacity + LEAST, capacity);
}

void *probity_array_double(void *items, size_t item_bytes, size_t wanted, size_t *capacity)
{
    return wanted <= SIZE_MAX / 2 ? resize(items, item_bytes, 2 * wanted, capacity) : NULL;
}

void *probity_array_append(void *items, size_t item_bytes, size_t count)
{
    /* The array is full when the count is a power of two. */
    if (count > 0 && (count & (count - 1)) != 0)
        return items;
    size_t capacity = count;
    return resize(items, item_bytes, count > 0 ? 2 * count : 1, &capacity);
}

int probity_bytes_reserve(uint8_t **bytes, size_t *capacity, size_t wanted)
{
    void *grown = wanted > *capacity ? resize(*bytes, 1, wanted, capacity) : *bytes;

    if (wanted > 0 && grown == NULL)
        return PROBITY_ERROR_MEMORY;
    *bytes = grown;
    return 0;
}
