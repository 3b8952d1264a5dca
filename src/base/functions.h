/* SPDX-License-Identifier: MIT
 *
 * functions.h: determines which function of the loaded code contains an instruction. Functions are
 * as compiled: code inlined into a function is part of it. Same contract as os.h: preserves errno,
 * allocates nothing, takes no lock, async-signal-safe.
 */
#ifndef PROBITY_BASE_FUNCTIONS_H
#define PROBITY_BASE_FUNCTIONS_H

#include <stdint.h>

/* Results of earlier calls, since callers repeatedly pass the same pairs. An entry is the hash of a
 * pair with the result in its lowest bit. Initially zeros. */
enum { PROBITY_FUNCTIONS_KEPT = 256 };
struct probity_functions_cache {
    uint64_t kept[PROBITY_FUNCTIONS_KEPT];
};

/* Whether two instructions are known to be in different functions: 1 or 0. Also 0 if this is
 * unknown: without unwind tables, with a libc that cannot look them up (glibc before 2.35), or if
 * one of the two is in a part that the compiler split off a function. */
int probity_functions_differ(struct probity_functions_cache *cache, uintptr_t one,
                             uintptr_t other);

#endif
