/* SPDX-License-Identifier: MIT
 *
 * timeline_names.c: numbers the names of spans in order of appearance.
 */
#include "answers/timeline/timeline_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"
#include "base/hash.h"
#include "probity.h"

/* These bits are not set in any key of trace and number. A pair's kind and numbers are in the bits
 * below. */
#define KEY_OF_TEXT (UINT64_C(1) << 63)
#define KEY_OF_PAIR (UINT64_C(1) << 62)

static int add_name(struct timeline_names *names, enum probity_timeline_name_kind kind,
                    uint32_t *ret_number)
{
    void *items =
        probity_array_room(names->items, sizeof *names->items, names->count, &names->capacity);
    if (items == NULL)
        return PROBITY_ERROR_MEMORY;
    names->items = items;
    struct probity_timeline_name *name = calloc(1, sizeof *name);
    if (name == NULL)
        return PROBITY_ERROR_MEMORY;
    name->kind = kind;
    *ret_number = (uint32_t)names->count;
    names->items[names->count++] = name;
    return 0;
}

int timeline_names_function(struct timeline_names *names, const struct probity_function_key *key,
                            uint32_t *ret_number)
{
    names->functions.item_bytes = sizeof(struct timeline_function);
    struct timeline_function *function =
        (struct timeline_function *)probity_same_function_at(&names->functions, key);
    uint32_t number;

    if (function == NULL)
        return PROBITY_ERROR_MEMORY;
    if (function->number == 0) {
        if (add_name(names, PROBITY_TIMELINE_FUNCTION, &number) != 0)
            return PROBITY_ERROR_MEMORY;
        names->items[number]->key = function->same.key;
        function->number = number + 1;
    }
    *ret_number = function->number - 1;
    return 0;
}

static const struct timeline_probe *find_probe(const struct timeline_names *names, uint64_t key)
{
    const struct timeline_probe *probe = probity_hashtable_at(&names->probes, probity_hash(key));

    while (probe != NULL && probe->key != key)
        probe = (const void *)probe->link.next;
    return probe;
}

static int add_probe(struct timeline_names *names, uint64_t key, uint32_t number)
{
    struct timeline_probe *probe = malloc(sizeof *probe);

    if (probe == NULL)
        return PROBITY_ERROR_MEMORY;
    probe->key = key;
    probe->number = number;
    int error = probity_hashtable_add(&names->probes, probe, probity_hash(key));
    if (error != 0)
        free(probe);
    return error;
}

/* Takes the name of a numbered probe, which may be named after its first hits. */
static int learn_text(struct probity_timeline_name *name, const struct probity_event *event)
{
    if (name->text != NULL || event->name == NULL)
        return 0;
    name->text = strndup(event->name, event->name_bytes);
    return name->text != NULL ? 0 : PROBITY_ERROR_MEMORY;
}

/* Whether the hit is of this probe, in any trace. A site without a name equals no other. */
static int is_same(const struct probity_timeline_name *name, const struct probity_event *event,
                   const char *text)
{
    if (event->is_site)
        return name->kind == PROBITY_TIMELINE_SITE && name->text != NULL && text != NULL &&
               strcmp(name->text, text) == 0;
    return name->kind == PROBITY_TIMELINE_PROBE && name->number == event->id &&
           (name->text == NULL) == (text == NULL) &&
           (text == NULL || strcmp(name->text, text) == 0);
}

/* Finds or adds a name by its text, and takes ownership of the text. */
static int number_of_text(struct timeline_names *names, const struct probity_event *event,
                          char *text, uint32_t *ret_number)
{
    uint64_t seed = event->is_site ? UINT64_MAX : event->id;
    uint64_t key = KEY_OF_TEXT | probity_hash_text(seed, text != NULL ? text : "");
    const struct timeline_probe *probe = find_probe(names, key);

    if (probe != NULL && is_same(names->items[probe->number], event, text)) {
        free(text);
        *ret_number = probe->number;
        return 0;
    }
    if (add_name(names, event->is_site ? PROBITY_TIMELINE_SITE : PROBITY_TIMELINE_PROBE,
                 ret_number) != 0) {
        free(text);
        return PROBITY_ERROR_MEMORY;
    }
    names->items[*ret_number]->number = event->id;
    names->items[*ret_number]->text = text;
    return probe == NULL ? add_probe(names, key, *ret_number) : 0;
}

static int number_of_hit(struct timeline_names *names, const struct probity_event *event,
                         uint32_t *ret_number)
{
    uint64_t key = (uint64_t)event->trace << 33 | (uint64_t)(event->is_site != 0) << 32 | event->id;

    const struct timeline_probe *probe = find_probe(names, key);
    if (probe == NULL) {
        char *text = event->name != NULL ? strndup(event->name, event->name_bytes) : NULL;
        if ((event->name != NULL && text == NULL) ||
            number_of_text(names, event, text, ret_number) != 0)
            return PROBITY_ERROR_MEMORY;
        return add_probe(names, key, *ret_number);
    }
    *ret_number = probe->number;
    return learn_text(names->items[*ret_number], event);
}

int timeline_names_mark(struct timeline_names *names, const struct probity_event *event,
                        uint32_t *ret_number)
{
    int is_message = event->kind == PROBITY_EVENT_MESSAGE;
    uint32_t *known = is_message ? &names->message : &names->checkpoint;

    if (event->kind == PROBITY_EVENT_HIT)
        return number_of_hit(names, event, ret_number);
    if (*known == 0) {
        uint32_t number;
        if (add_name(names, is_message ? PROBITY_TIMELINE_MESSAGE : PROBITY_TIMELINE_CHECKPOINT,
                     &number) != 0)
            return PROBITY_ERROR_MEMORY;
        *known = number + 1;
    }
    *ret_number = *known - 1;
    return 0;
}

static uint64_t key_of_pair(enum probity_timeline_name_kind kind, uint32_t first, uint32_t second)
{
    enum { PAIR_BITS = 30, PAIR_MASK = (1 << PAIR_BITS) - 1 };
    uint64_t kind_bits = (uint64_t)(kind - PROBITY_TIMELINE_BLOCK) << 2 * PAIR_BITS;

    return KEY_OF_PAIR | kind_bits | (uint64_t)(first & PAIR_MASK) << PAIR_BITS |
           (second & PAIR_MASK);
}

int timeline_names_pair(struct timeline_names *names, enum probity_timeline_name_kind kind,
                        uint32_t first, uint32_t second, uint32_t *ret_number)
{
    uint64_t key = key_of_pair(kind, first, second);
    const struct timeline_probe *probe = find_probe(names, key);

    if (probe == NULL && names->pair_count >= PROBITY_TIMELINE_PAIRS_MAX) {
        second = PROBITY_TIMELINE_NO_NAME;
        key = key_of_pair(kind, first, second);
        probe = find_probe(names, key);
    }
    if (probe != NULL) {
        *ret_number = probe->number;
        return 0;
    }
    if (add_name(names, kind, ret_number) != 0)
        return PROBITY_ERROR_MEMORY;
    names->items[*ret_number]->number = first;
    names->items[*ret_number]->to = second;
    names->pair_count += second != PROBITY_TIMELINE_NO_NAME;
    return add_probe(names, key, *ret_number);
}

void timeline_names_release(struct timeline_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->items[i]->text);
        free(names->items[i]);
    }
    free(names->items);
    void *probe;
    while ((probe = probity_hashtable_take(&names->probes)) != NULL)
        free(probe);
    probity_same_functions_release(&names->functions);
}
