/* SPDX-License-Identifier: MIT
 *
 * probes.c: finds probes by text and, through a cache, by the number in events.
 */
#include "analysis/probes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "probity.h"

/* A number in a trace, and its probe. */
struct probe_number {
    struct probity_link link;
    uint64_t key;
    struct probity_probe *probe;
};

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t hash_text(const char *text, size_t bytes)
{
    uint64_t hash = probity_hash(bytes);

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return probity_hash(hash);
}

static struct probity_probe *make_probe(struct probity_probes *probes,
                                        const struct probity_event *event, const char *text,
                                        size_t bytes)
{
    char *item = calloc(1, probes->item_bytes + bytes + 1);

    if (item == NULL)
        return NULL;
    memcpy(item + probes->item_bytes, text, bytes);
    struct probity_probe *probe = (void *)item;
    *probe = (struct probity_probe){.text = item + probes->item_bytes, .number = event->id,
                                    .is_site = event->is_site, .place = probes->count++};
    return probe;
}

int probity_probes_name(struct probity_probe *probe, const struct probity_event *event)
{
    probe->name_copy = strndup(event->name, event->name_bytes);
    probe->name = probe->name_copy;
    return probe->name != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

static struct probity_probe *probe_at(const struct probity_probes *probes, int is_site,
                                      const char *text, size_t bytes, uint64_t hash)
{
    struct probity_probe *probe = probity_hashtable_at(&probes->probes, hash);

    while (probe != NULL && (probe->link.hash != hash || probe->is_site != is_site ||
                             strncmp(probe->text, text, bytes) != 0 || probe->text[bytes] != '\0'))
        probe = (void *)probe->link.next;
    return probe;
}

static struct probity_probe *add_text(struct probity_probes *probes,
                                      const struct probity_event *event, const char *text,
                                      size_t bytes)
{
    uint64_t hash = hash_text(text, bytes);
    struct probity_probe *probe = probe_at(probes, event->is_site, text, bytes, hash);

    if (probe != NULL)
        return probe;
    probe = make_probe(probes, event, text, bytes);
    if (probe != NULL && probity_hashtable_add(&probes->probes, probe, hash) != 0) {
        free(probe);
        return NULL;
    }
    return probe;
}

static struct probity_probe *find_text(struct probity_probes *probes,
                                       const struct probity_event *event)
{
    char number[24];

    if (event->is_site && event->name != NULL)
        return add_text(probes, event, event->name, event->name_bytes);
    int bytes = snprintf(number, sizeof number, "%s%" PRIu32, event->is_site ? "site-" : "",
                         event->id);
    return add_text(probes, event, number, (size_t)bytes);
}

struct probity_probe *probity_probes_like(const struct probity_probes *probes,
                                          const struct probity_probe *other)
{
    size_t bytes = strlen(other->text);

    return probe_at(probes, other->is_site, other->text, bytes, hash_text(other->text, bytes));
}

struct probity_probe *probity_probes_same(struct probity_probes *probes,
                                          const struct probity_probe *other)
{
    const struct probity_event event = {.id = other->number, .is_site = other->is_site};
    struct probity_probe *probe = add_text(probes, &event, other->text, strlen(other->text));

    if (probe != NULL && probe->name == NULL)
        probe->name = other->name;
    return probe;
}

static struct probity_probe *find_number(struct probity_probes *probes,
                                         const struct probity_event *event, uint64_t key)
{
    uint64_t hash = probity_hash(key);
    struct probe_number *item = probity_hashtable_at(&probes->numbers, hash);

    while (item != NULL && item->key != key)
        item = (void *)item->link.next;
    if (item != NULL)
        return item->probe;
    item = malloc(sizeof *item);
    struct probity_probe *probe = item != NULL ? find_text(probes, event) : NULL;
    if (probe == NULL || probity_hashtable_add(&probes->numbers, item, hash) != 0) {
        free(item);
        return NULL;
    }
    item->key = key;
    item->probe = probe;
    return probe;
}

struct probity_probe *probity_probes_find(struct probity_probes *probes,
                                          const struct probity_event *event)
{
    size_t place;
    uint64_t key = probity_probes_key(event, &place);

    if (event->is_site && event->name == NULL)
        return find_text(probes, event);
    struct probity_probe *probe = find_number(probes, event, key);
    if (probe != NULL) {
        probes->cache[place].key = key;
        probes->cache[place].probe = probe;
    }
    return probe;
}

int probity_probes_compare(const struct probity_probe *a, const struct probity_probe *b)
{
    if (a->is_site || b->is_site)
        return a->is_site != b->is_site ? a->is_site - b->is_site : strcmp(a->text, b->text);
    return a->number < b->number ? -1 : a->number > b->number;
}

void probity_probes_release(struct probity_probes *probes)
{
    struct probity_probe *probe;
    void *number;

    while ((probe = probity_hashtable_take(&probes->probes)) != NULL) {
        free(probe->name_copy);
        free(probe);
    }
    while ((number = probity_hashtable_take(&probes->numbers)) != NULL)
        free(number);
}
