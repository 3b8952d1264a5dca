/* SPDX-License-Identifier: MIT
 *
 * hash.h: hashes for tables whose keys come from a trace. Keys are untrusted: with a known hash, a
 * trace could be crafted so that all keys collide, and commands would take time quadratic in its
 * size. The hash therefore depends on a secret: the address of this code. It differs from run to
 * run, and needs neither state nor a call. Output must not depend on it.
 */
#ifndef PROBITY_BASE_HASH_H
#define PROBITY_BASE_HASH_H

#include <stdint.h>

__extension__ typedef unsigned __int128 probity_hash_wide;

/* Shared by all users of a table; only its address matters. */
extern const char probity_hash_place;

static inline uint64_t probity_hash_fold(uint64_t left, uint64_t right)
{
    probity_hash_wide product = (probity_hash_wide)left * right;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns the hash of a key with a given secret. Keys of a trace often differ by a constant step.
 * One multiplication maps them to evenly spaced values, which with some secrets fall into few
 * buckets, so there are two.
 */
static inline uint64_t probity_hash_keyed(uint64_t secret, uint64_t key)
{
    return probity_hash_fold(
        probity_hash_fold(key ^ secret, UINT64_C(0x9e3779b97f4a7c15)), secret | 1);
}

/* Returns the hash of a key in this run. All bits of the result may be used. */
static inline uint64_t probity_hash(uint64_t key)
{
    uint64_t address = (uint64_t)(uintptr_t)&probity_hash_place;

    return probity_hash_keyed(address * UINT64_C(0x9e3779b97f4a7c15), key);
}

/* FNV-1a (Fowler, Noll, Vo) of a string; seed is the initial state, which is secret. */
static inline uint64_t probity_hash_text(uint64_t seed, const char *text)
{
    uint64_t hash = probity_hash(seed);

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return probity_hash(hash);
}

#endif
