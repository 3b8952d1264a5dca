/* SPDX-License-Identifier: MIT
 *
 * array_grow.c: grows to twice the size needed, because numbers mostly arrive in order.
 */
#include "base/array_grow.h"

#include <stdlib.h>
#include <string.h>

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
