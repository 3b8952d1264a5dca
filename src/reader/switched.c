/* SPDX-License-Identifier: MIT
 *
 * switched.c: a list, because few sites are off at a time. The names of a lock's sites differ only
 * in the part after the last colon.
 */
#include "reader/switched.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "probity_typed.h"

static const struct probity_name *name_of(const struct probity_names *names, uint32_t site)
{
    return probity_names_find(names, 2 * (uint64_t)site + 1);
}

/* Length of the name without the role; 0: it has none. */
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

static size_t find(const struct probity_switched_sites *sites, uint32_t site)
{
    size_t at = 0;

    while (at < sites->count && sites->off[at] != site)
        at++;
    return at;
}

static int switch_site(struct probity_switched_sites *sites, const struct probity_names *names,
                       uint32_t site, int is_on)
{
    size_t at = find(sites, site), is_request = (size_t)is_of_request(name_of(names, site));

    if (is_on == (at == sites->count) || site >= PROBITY_LIMIT_SITES)
        return 0;
    if (is_on) {
        sites->off[at] = sites->off[--sites->count];
        sites->requests -= is_request <= sites->requests ? is_request : sites->requests;
        return 0;
    }
    uint32_t *off = probity_array_append(sites->off, sizeof *off, sites->count);
    if (off == NULL)
        return PROBITY_ERROR_MEMORY;
    sites->off = off;
    sites->off[sites->count++] = site;
    sites->requests += is_request;
    return 0;
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

static int is_stem_off(const struct probity_switched_sites *sites,
                       const struct probity_names *names, const char *name, size_t stem)
{
    for (size_t i = 0; i < sites->count; i++) {
        const struct probity_name *off = name_of(names, sites->off[i]);
        if (off != NULL && stem_of(off->bytes, off->length) == stem &&
            memcmp(off->bytes, name, stem) == 0)
            return 1;
    }
    return 0;
}

void probity_switched_adjust(const struct probity_switched_sites *sites,
                             const struct probity_names *names, struct probity_event *hit)
{
    size_t stem = hit->role != PROBITY_ROLE_NONE && hit->name != NULL
                      ? stem_of(hit->name, hit->name_bytes)
                      : 0;

    if (sites->requests > 0 && probity_role_is_of_work(hit->role)) {
        hit->has_correlation = 0;
        hit->role = PROBITY_ROLE_NONE;
    } else if (stem > 0 && is_stem_off(sites, names, hit->name, stem)) {
        hit->role = PROBITY_ROLE_NONE;
    }
}

void probity_switched_release(struct probity_switched_sites *sites)
{
    free(sites->off);
    *sites = (struct probity_switched_sites){.off = NULL};
}
