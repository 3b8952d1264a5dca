/* SPDX-License-Identifier: MIT
 *
 * probes.h: whose hit it is: numbered probes, and sites by their names, as in the lines of `probity
 * csv`. For analyses, which keep what they count with the probe itself. Memory: probes and sites.
 */
#ifndef PROBITY_ANALYSIS_PROBES_H
#define PROBITY_ANALYSIS_PROBES_H

#include <stddef.h>
#include <stdint.h>

#include "base/chains.h"
#include "reader/reader.h"

/* Sites of one name are one probe, also of different traces. */
struct probity_probe {
    struct probity_link link; /* by text */
    const char *text; /* its number, or a site's name */
    const char *name; /* of a numbered probe; NULL without */
    uint32_t number;  /* of a numbered probe */
    int is_site;
    uint32_t place;   /* probes are counted as they come */
    char *name_copy;
};

enum { PROBITY_PROBES_CACHE = 1024 }; /* a power of two */

/* All zero but item_bytes: empty. */
struct probity_probes {
    size_t item_bytes; /* of a user's struct that begins with a struct probity_probe */
    uint32_t count;
    struct {
        uint64_t key;
        struct probity_probe *probe;
    } cache[PROBITY_PROBES_CACHE];
    struct probity_chains numbers, probes;
};

/* The probe of a hit that the cache does not have. */
struct probity_probe *probity_probes_find(struct probity_probes *probes,
                                          const struct probity_event *event);

/* A name may come later than hits. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_probes_name(struct probity_probe *probe, const struct probity_event *event);

/* Sites of different traces share numbers, so their key holds the trace; a site and a probe of the
 * same number should not drive each other out, so they have different places. */
static inline uint64_t probity_probes_key(const struct probity_event *event, size_t *ret_place)
{
    uint64_t key = (uint64_t)event->id + 1;

    *ret_place = event->id & (PROBITY_PROBES_CACHE - 1);
    if (!event->is_site)
        return key;
    *ret_place ^= PROBITY_PROBES_CACHE / 2;
    return key | (uint64_t)(event->trace + 1) << 33;
}

/* The probe of a hit, as the item that it begins: all zero behind it where the hit is its first.
 * NULL without memory. */
static inline struct probity_probe *probity_probes_of(struct probity_probes *probes,
                                                      const struct probity_event *event)
{
    size_t place;
    uint64_t key = probity_probes_key(event, &place);
    struct probity_probe *probe = probes->cache[place].probe;

    /* The declaration of a site without a name may still come. */
    if (__builtin_expect(probes->cache[place].key != key || (event->is_site && !event->name), 0))
        probe = probity_probes_find(probes, event);
    if (__builtin_expect(!event->is_site && event->name != NULL && probe != NULL &&
                             probe->name == NULL, 0) &&
        probity_probes_name(probe, event) != 0)
        return NULL;
    return probe;
}

/* The order of numbers, then names: less than 0, 0, or more, as strcmp(). */
int probity_probes_compare(const struct probity_probe *a, const struct probity_probe *b);

/* Frees all items. */
void probity_probes_release(struct probity_probes *probes);

#endif
