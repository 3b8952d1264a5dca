/* SPDX-License-Identifier: MIT
 *
 * names.c: a hash table that maps hit codes to names. Its size is bounded by the number of
 * declarations in the trace.
 */
#include "reader/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "probity.h"
#include "reader/reader.h"

/* Finds a name, or adds one without bytes. Returns NULL if out of memory. */
static struct probity_name *name_of(struct probity_names *names, uint64_t code)
{
    struct probity_name *name = (struct probity_name *)(uintptr_t)probity_names_find(names, code);

    if (name != NULL)
        return name;
    name = calloc(1, sizeof *name);
    if (name != NULL && probity_hashtable_add(&names->table, name, probity_hash(code)) != 0) {
        free(name);
        return NULL;
    }
    if (name != NULL)
        name->code = code;
    return name;
}

int probity_names_set(struct probity_names *names, uint64_t code, const uint8_t *bytes,
                      size_t length)
{
    /* Users of the reader may hold a pointer to a site's name. */
    if ((code & 1) && probity_names_find(names, code) != NULL)
        return 0;
    char *copy = malloc(length + 1);
    struct probity_name *name = copy != NULL ? name_of(names, code) : NULL;
    if (name == NULL) {
        free(copy);
        return PROBITY_ERROR_MEMORY;
    }
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    if (name->bytes != NULL && names->renamed != NULL)
        names->renamed(names->context, name->bytes);
    else
        free(name->bytes);
    names->changes++;
    name->bytes = copy;
    name->length = (uint32_t)length;
    return 0;
}

int probity_names_set_function(struct probity_names *names, uint64_t code,
                               const struct probity_function *function)
{
    probity_assert(function != NULL);
    if (probity_names_find(names, code) != NULL)
        return 0;
    struct probity_name *name = name_of(names, code);
    if (name == NULL)
        return PROBITY_ERROR_MEMORY;
    name->function = function;
    name->bytes = (char *)(uintptr_t)function->name;
    name->length = function->name_bytes;
    names->changes++;
    return 0;
}

const struct probity_name *probity_names_find(const struct probity_names *names, uint64_t code)
{
    const struct probity_name *name = probity_hashtable_at(&names->table, probity_hash(code));

    while (name != NULL && name->code != code)
        name = (const void *)name->link.next;
    return name;
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
    struct probity_name *name = NULL;

    while ((name = probity_hashtable_next(&names->table, name)) != NULL) {
        if (name->function == NULL)
            continue;
        name->bytes = (char *)(uintptr_t)name->function->name;
        name->length = name->function->name_bytes;
    }
}

void probity_names_release(struct probity_names *names)
{
    struct probity_name *name;

    while ((name = probity_hashtable_take(&names->table)) != NULL) {
        if (name->function == NULL)
            free(name->bytes);
        free(name);
    }
    *names = (struct probity_names){0};
}
