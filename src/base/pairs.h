/* SPDX-License-Identifier: MIT
 *
 * pairs.h: remembers pairs of instructions that were found to be in the same function, as compiled.
 * Functions inlined into each other produce the same pairs repeatedly. Each library has a table,
 * initially zeros. Any thread, async-signal-safe.
 */
#ifndef PROBITY_BASE_PAIRS_H
#define PROBITY_BASE_PAIRS_H

#include <stdint.h>

enum { PROBITY_PAIRS_BITS = 12 };

/* Part of the hash of each pair; a later pair replaces an earlier one. The table takes 16 KiB, half
 * of an L1 cache. */
struct probity_pairs {
    uint32_t kept[1 << PROBITY_PAIRS_BITS];
};

static inline uint64_t probity_pairs_hash(uint64_t one, uint64_t other)
{
    uint64_t hash = one * UINT64_C(0x9e3779b97f4a7c15) ^ other;

    return hash * UINT64_C(0xd6e8feb86659fd93);
}

/* Never 0, which marks an empty place. */
static inline uint32_t probity_pairs_mark(uint64_t hash)
{
    return (uint32_t)(hash >> (32 - PROBITY_PAIRS_BITS)) | 1;
}

static inline int probity_pairs_has(const struct probity_pairs *pairs, uint64_t one, uint64_t other)
{
    uint64_t hash = probity_pairs_hash(one, other);

    return __atomic_load_n(&pairs->kept[hash >> (64 - PROBITY_PAIRS_BITS)], __ATOMIC_RELAXED) ==
           probity_pairs_mark(hash);
}

static inline void probity_pairs_keep(struct probity_pairs *pairs, uint64_t one, uint64_t other)
{
    uint64_t hash = probity_pairs_hash(one, other);

    __atomic_store_n(&pairs->kept[hash >> (64 - PROBITY_PAIRS_BITS)], probity_pairs_mark(hash),
                     __ATOMIC_RELAXED);
}

#endif
