/* SPDX-License-Identifier: MIT
 *
 * export_names.c: the hash table of export_names.h, and numbering of functions.
 */
#include "exports/export_names.h"

#include <stdlib.h>

#include "base/hash.h"
#include "probity.h"

static struct export_name *place_of(const struct export_names *names, uint64_t key)
{
    size_t mask = names->capacity - 1;
    size_t place = (size_t)probity_hash(key) & mask;

    while (names->places[place].key != 0 && names->places[place].key != key)
        place = (place + 1) & mask;
    return &names->places[place];
}

static int grow(struct export_names *names)
{
    struct export_names larger = {.capacity = names->capacity > 0 ? 2 * names->capacity : 256,
                                  .count = names->count};

    larger.places = calloc(larger.capacity, sizeof *larger.places);
    if (larger.places == NULL)
        return PROBITY_ERROR_MEMORY;
    for (size_t i = 0; i < names->capacity; i++) {
        if (names->places[i].key != 0)
            *place_of(&larger, names->places[i].key) = names->places[i];
    }
    free(names->places);
    *names = larger;
    return 0;
}

struct export_name *export_names_add(struct export_names *names, uint64_t key)
{
    if (2 * names->count >= names->capacity && grow(names) != 0)
        return NULL;
    struct export_name *name = place_of(names, key);
    if (name->key == 0) {
        name->key = key;
        name->number = (uint32_t)names->count++;
    }
    return name;
}

int export_names_has(const struct export_names *names, uint64_t key)
{
    return names->capacity > 0 && place_of(names, key)->key == key;
}

void export_names_release(struct export_names *names)
{
    for (size_t i = 0; i < names->capacity; i++)
        free(names->places[i].text);
    free(names->places);
    *names = (struct export_names){.places = NULL};
}

struct export_function *export_function_add(struct probity_same_functions *set,
                                            const struct probity_function_key *key,
                                            int *ret_is_new)
{
    size_t known = set->table.items;
    struct export_function *function =
        (struct export_function *)probity_same_function_at(set, key);

    *ret_is_new = function != NULL && set->table.items > known;
    if (*ret_is_new)
        function->number = (uint32_t)known;
    return function;
}
