/* SPDX-License-Identifier: MIT
 *
 * switched.c: tracks which sites are off, by number, and counts them by name without role: the
 * names of a lock's sites differ only in the part after the last colon. A trace may switch any
 * number of sites, so neither a switch nor a hit examines all of them.
 */
#include "reader/switched.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/limits.h"
#include "probity_typed.h"

/* A name without its role. */
struct probity_switched_stem {
    struct probity_link link; /* must be first */
    size_t off; /* number of sites with this stem that are off */
    size_t length;
    char bytes[];
};

static const struct probity_name *name_of(const struct probity_names *names, uint32_t site)
{
    return probity_names_find(names, 2 * (uint64_t)site + 1);
}

/* Returns the length of the name without the role; 0: it has none. */
static size_t stem_of(const char *name, size_t length)
{
    while (length > 0 && name[length - 1] != ':')
        length--;
    return length;
}

static int is_of_request(const struct probity_name *name)
{
    size_t stem = name != NULL ? stem_of(name->bytes, name->length) : 0;
    size_t left = stem > 0 ? name->length - stem : 0;

    return (left == 5 && memcmp(name->bytes + stem, "begin", 5) == 0) ||
           (left == 3 && memcmp(name->bytes + stem, "end", 3) == 0);
}

static uint64_t hash_of(const char *name, size_t stem)
{
    uint64_t hash = probity_hash(stem);

    for (size_t i = 0; i < stem; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return probity_hash(hash);
}

static struct probity_switched_stem *find_stem(const struct probity_switched_sites *sites,
                                               const char *name, size_t length, uint64_t hash)
{
    struct probity_switched_stem *stem = probity_hashtable_at(&sites->stems, hash);

    while (stem != NULL && (stem->link.hash != hash || stem->length != length ||
                            memcmp(stem->bytes, name, length) != 0))
        stem = (void *)stem->link.next;
    return stem;
}

/* Returns the stem of a site that is switched off, added if necessary. NULL if out of memory. */
static struct probity_switched_stem *stem_at(struct probity_switched_sites *sites, const char *name,
                                             size_t length)
{
    uint64_t hash = hash_of(name, length);
    struct probity_switched_stem *stem = find_stem(sites, name, length, hash);

    if (stem != NULL)
        return stem;
    stem = malloc(sizeof *stem + length);
    if (stem == NULL)
        return NULL;
    stem->off = 0;
    stem->length = length;
    memcpy(stem->bytes, name, length);
    if (probity_hashtable_add(&sites->stems, stem, hash) != 0) {
        free(stem);
        return NULL;
    }
    return stem;
}

static int switch_off(struct probity_switched_sites *sites, struct probity_switched_site *site,
                      const struct probity_name *name)
{
    size_t length = name != NULL ? stem_of(name->bytes, name->length) : 0;

    site->stem = length > 0 ? stem_at(sites, name->bytes, length) : NULL;
    if (length > 0 && site->stem == NULL)
        return PROBITY_ERROR_MEMORY;
    if (site->stem != NULL)
        site->stem->off++;
    site->is_off = 1;
    site->is_request = (uint8_t)is_of_request(name);
    sites->count++;
    sites->requests += site->is_request;
    return 0;
}

/* The name may have become known only after the site was switched off. */
static void switch_on(struct probity_switched_sites *sites, struct probity_switched_site *site)
{
    if (site->stem != NULL)
        site->stem->off--;
    sites->count--;
    sites->requests -= site->is_request;
    *site = (struct probity_switched_site){.is_off = 0};
}

static int switch_site(struct probity_switched_sites *sites, const struct probity_names *names,
                       uint32_t number, int is_on)
{
    int is_off = number < sites->size && sites->sites[number].is_off;

    if (is_on != is_off || number >= PROBITY_LIMIT_SITES)
        return 0;
    if (is_on) {
        switch_on(sites, &sites->sites[number]);
        return 0;
    }
    if (number >= sites->size) {
        void *grown = probity_array_grow(sites->sites, sizeof *sites->sites, number, &sites->size);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        sites->sites = grown;
    }
    return switch_off(sites, &sites->sites[number], name_of(names, number));
}

int probity_switched_take(struct probity_switched_sites *sites, const struct probity_names *names,
                          const uint8_t *payload, size_t bytes)
{
    int error = 0;

    for (size_t at = 4; at + 4 <= bytes && error == 0; at += 4)
        error = switch_site(sites, names, probity_get_u32(payload + at),
                            probity_get_u32(payload) != 0);
    return error;
}

static int is_stem_off(const struct probity_switched_sites *sites, const char *name, size_t length)
{
    const struct probity_switched_stem *stem =
        find_stem(sites, name, length, hash_of(name, length));

    return stem != NULL && stem->off > 0;
}

void probity_switched_adjust(const struct probity_switched_sites *sites, struct probity_event *hit)
{
    size_t stem = hit->role != PROBITY_ROLE_NONE && hit->name != NULL
                      ? stem_of(hit->name, hit->name_bytes)
                      : 0;

    if (sites->requests > 0 && probity_role_is_of_work(hit->role)) {
        hit->has_correlation = 0;
        hit->role = PROBITY_ROLE_NONE;
    } else if (stem > 0 && is_stem_off(sites, hit->name, stem)) {
        hit->role = PROBITY_ROLE_NONE;
    }
}

void probity_switched_release(struct probity_switched_sites *sites)
{
    free(sites->sites);
    for (void *stem; (stem = probity_hashtable_take(&sites->stems)) != NULL;)
        free(stem);
    *sites = (struct probity_switched_sites){.sites = NULL};
}
