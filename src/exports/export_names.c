/* SPDX-License-Identifier: MIT
 *
 * export_names.c: numbers names and functions.
 */
#include "exports/export_names.h"

#include <stdlib.h>


struct export_name *export_names_add(struct export_names *names, uint64_t key)
{
    size_t known = names->table.items;
    struct export_name *name = calloc(1, sizeof *name);

    if (name != NULL && probity_hashtable_add(&names->table, name, probity_hash(key)) != 0) {
        free(name);
        return NULL;
    }
    if (name != NULL) {
        name->key = key;
        name->number = (uint32_t)known;
    }
    return name;
}

void export_names_release(struct export_names *names)
{
    struct export_name *name;

    while ((name = probity_hashtable_take(&names->table)) != NULL) {
        free(name->text);
        free(name);
    }
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
