/* SPDX-License-Identifier: MIT
 *
 * inlined.h: distinguishes scopes of functions inlined into each other from scopes that a jump left
 * open, since both are in one frame.
 */
#ifndef PROBITY_BASE_INLINED_H
#define PROBITY_BASE_INLINED_H

#include <stdint.h>

#include "base/pairs.h"
#include "probity_scope.h"

/* Whether there are open scopes in the same frame, including the innermost one, and all of them are
 * known to belong to functions into which this one was inlined. place: that of this thread's
 * innermost open scope. */
static inline int probity_scope_is_inlined(const struct probity_pairs *pairs, uint32_t place,
                                           uint64_t minus, uint64_t where)
{
    uint32_t i = place;

    for (; i > 0; i--) {
        const struct probity_scope_place *open = &probity_scope_frame[i];
        if (open->minus < (minus & ~UINT64_C(0xffff)))
            break;
        if (open->minus != minus || ((open->where ^ where) & 0xffff) == 0 ||
            !probity_pairs_has(pairs, open->where >> 16, where >> 16))
            return 0;
    }
    return i < place;
}

#endif
