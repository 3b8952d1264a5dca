/* SPDX-License-Identifier: MIT
 *
 * probes.h: maps hits to probes: numbered probes by number, and sites by name, as in the lines of
 * `probity csv`. Analyses keep their counts in the probe. Memory: probes and sites.
 */
#ifndef PROBITY_ANALYSIS_PROBES_H
#define PROBITY_ANALYSIS_PROBES_H

#include <stddef.h>
#include <stdint.h>

#include "base/hashtable.h"
#include "reader/reader.h"

/* Sites with equal names are one probe, even in different traces. */
struct probity_probe {
    struct probity_link link; /* by text */
    const char *text; /* its number as text, or a site's name */
    const char *name; /* for a numbered probe, or NULL */
    uint32_t number;  /* for a numbered probe */
    int is_site;
    uint32_t place;   /* index in order of appearance */
    char *name_copy;
};

enum { PROBITY_PROBES_CACHE = 1024 }; /* a power of two */

/* All zero except item_bytes: empty. */
struct probity_probes {
    size_t item_bytes; /* size of the caller's struct, which begins with a struct probity_probe */
    uint32_t count;
    struct {
        uint64_t key;
        struct probity_probe *probe;
    } cache[PROBITY_PROBES_CACHE];
    struct probity_hashtable numbers, probes;
};

/* Finds the probe of a hit if it is not in the cache. */
struct probity_probe *probity_probes_find(struct probity_probes *probes,
                                          const struct probity_event *event);

/* Takes the name from an event, which may come after hits. Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_probes_name(struct probity_probe *probe, const struct probity_event *event);

/* Finds the probe with the same text as a probe of another table; NULL if there is none. */
struct probity_probe *probity_probes_like(const struct probity_probes *probes,
                                          const struct probity_probe *other);

/* Finds or adds the probe with the same text, and copies its name. Returns NULL if out of
 * memory. */
struct probity_probe *probity_probes_same(struct probity_probes *probes,
                                          const struct probity_probe *other);

/* Returns the key of a hit. It includes the trace, because sites of different traces share numbers.
 * A site and a probe with the same number have different slots, so that they do not evict each
 * other. */
static inline uint64_t probity_probes_key(const struct probity_event *event, size_t *ret_place)
{
    uint64_t key = (uint64_t)event->id + 1;

    *ret_place = event->id & (PROBITY_PROBES_CACHE - 1);
    if (!event->is_site)
        return key;
    *ret_place ^= PROBITY_PROBES_CACHE / 2;
    return key | (uint64_t)(event->trace + 1) << 33;
}

/* Returns the probe of a hit, the first member of its item. Other members are zero at the first
 * hit. NULL if out of memory. */
static inline struct probity_probe *probity_probes_of(struct probity_probes *probes,
                                                      const struct probity_event *event)
{
    size_t place;
    uint64_t key = probity_probes_key(event, &place);
    struct probity_probe *probe = probes->cache[place].probe;

    /* An unnamed site may be declared later, so it is not cached. */
    if (__builtin_expect(probes->cache[place].key != key || (event->is_site && !event->name), 0))
        probe = probity_probes_find(probes, event);
    if (__builtin_expect(!event->is_site && event->name != NULL && probe != NULL &&
                             probe->name == NULL, 0) &&
        probity_probes_name(probe, event) != 0)
        return NULL;
    return probe;
}

/* Compares numbers, then names. Returns the same as strcmp(). */
int probity_probes_compare(const struct probity_probe *a, const struct probity_probe *b);

/* Frees all items. */
void probity_probes_release(struct probity_probes *probes);

#endif
