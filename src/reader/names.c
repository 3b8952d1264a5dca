/* SPDX-License-Identifier: MIT
 *
 * names.c: a small hash table from hit codes to names. Its size is bounded by the number of
 * declarations in the trace.
 */
#include "reader/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "probity.h"
#include "reader/reader.h"

static size_t place_of(const struct probity_names *names, uint64_t key)
{
    size_t mask = names->capacity - 1;
    size_t place = (size_t)probity_hash(key) & mask;

    probity_assert(names->capacity > 0 && (names->capacity & mask) == 0);
    while (names->places[place].key != 0 && names->places[place].key != key)
        place = (place + 1) & mask;
    return place;
}

static int grow(struct probity_names *names)
{
    struct probity_names larger = *names;

    probity_assert(2 * names->count >= names->capacity);
    larger.capacity = names->capacity > 0 ? 2 * names->capacity : 64;
    larger.places = calloc(larger.capacity, sizeof *larger.places);
    if (larger.places == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < names->capacity; i++) {
        if (names->places[i].key != 0)
            larger.places[place_of(&larger, names->places[i].key)] = names->places[i];
    }
    free(names->places);
    *names = larger;
    memset(names->recent, 0, sizeof names->recent);
    return 0;
}

int probity_names_set(struct probity_names *names, uint64_t code, const uint8_t *bytes,
                      size_t length)
{
    if (2 * names->count >= names->capacity && grow(names) != 0)
        return PROBITY_ERROR_MEMORY;
    struct probity_name *name = &names->places[place_of(names, code + 1)];
    if (name->key != 0 && (code & 1)) /* users of the reader may keep a pointer to a site's name */
        return 0;
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return PROBITY_ERROR_MEMORY;
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    if (name->bytes != NULL && names->renamed != NULL)
        names->renamed(names->context, name->bytes);
    else
        free(name->bytes);
    names->count += name->key == 0;
    names->changes++;
    probity_assert(2 * names->count <= names->capacity);
    *name = (struct probity_name){code + 1, copy, NULL, (uint32_t)length};
    return 0;
}

int probity_names_set_function(struct probity_names *names, uint64_t code,
                               const struct probity_function *function)
{
    probity_assert(function != NULL);
    if (2 * names->count >= names->capacity && grow(names) != 0)
        return PROBITY_ERROR_MEMORY;
    struct probity_name *name = &names->places[place_of(names, code + 1)];
    if (name->key != 0)
        return 0;
    *name = (struct probity_name){code + 1, (char *)(uintptr_t)function->name, function,
                                  function->name_bytes};
    names->count++;
    names->changes++;
    probity_assert(2 * names->count <= names->capacity);
    return 0;
}

const struct probity_name *probity_names_find(const struct probity_names *names, uint64_t code)
{
    if (names->count == 0)
        return NULL;
    const struct probity_name *name = &names->places[place_of(names, code + 1)];
    return name->key != 0 ? name : NULL;
}

const struct probity_name *probity_names_remember(struct probity_names *names, uint64_t code)
{
    const struct probity_name *name = probity_names_find(names, code);

    if (name != NULL)
        names->recent[code % PROBITY_NAMES_RECENT] = name;
    return name;
}

void probity_names_refresh(struct probity_names *names)
{
    for (size_t i = 0; i < names->capacity; i++) {
        struct probity_name *name = &names->places[i];
        if (name->function == NULL)
            continue;
        name->bytes = (char *)(uintptr_t)name->function->name;
        name->length = name->function->name_bytes;
    }
}

void probity_names_release(struct probity_names *names)
{
    for (size_t i = 0; i < names->capacity; i++) {
        if (names->places[i].function == NULL)
            free(names->places[i].bytes);
    }
    free(names->places);
    *names = (struct probity_names){0};
}
