/* SPDX-License-Identifier: MIT
 *
 * scatter.h: where a key of a trace goes in a hash table. Keys are hostile: whoever knew the places
 * could make a trace of which all keys go to one, and its commands would take a time that grows
 * with the square of its size. So the places hang on a secret: where the system has put this code.
 * It differs from run to run, and needs no state and no call. What is printed must not hang on it.
 */
#ifndef PROBITY_BASE_SCATTER_H
#define PROBITY_BASE_SCATTER_H

#include <stdint.h>

__extension__ typedef unsigned __int128 probity_scatter_wide;

/* One for all who use a table; what it holds does not matter. */
extern const char probity_scatter_place;

/* Any bits of the result serve. */
static inline uint64_t probity_scatter(uint64_t key)
{
    uint64_t secret = (uint64_t)(uintptr_t)&probity_scatter_place * UINT64_C(0x9e3779b97f4a7c15);
    probity_scatter_wide product = (probity_scatter_wide)(key ^ secret) * (secret | 1);

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* FNV-1a (Fowler, Noll, Vo) of a text, from a place that is a secret too. */
static inline uint64_t probity_scatter_text(uint64_t seed, const char *text)
{
    uint64_t hash = probity_scatter(seed);

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return probity_scatter(hash);
}

#endif
