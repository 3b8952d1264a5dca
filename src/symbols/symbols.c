/* SPDX-License-Identifier: MIT
 *
 * symbols.c: finds the object that contains a function, and caches the results.
 */
#include "symbols/symbols.h"

#include <search.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/object.h"

enum { SIGNATURE_BYTES_MAX = 4096 };

struct found {
    const struct probity_function *function;
    char *signature; /* NULL: none */
};

struct symbols {
    struct symbols_object *objects;
    void *found; /* a tree of struct found */
    void (*no_memory)(void);
};

static void report_no_memory(void (*no_memory)(void))
{
    if (no_memory != NULL)
        no_memory();
}

struct symbols *symbols_open(void (*no_memory)(void))
{
    struct symbols *symbols = calloc(1, sizeof *symbols);

    /* Otherwise libdwfl would request missing files from servers. */
    unsetenv("DEBUGINFOD_URLS");
    if (symbols != NULL)
        symbols->no_memory = no_memory;
    else
        report_no_memory(no_memory);
    return symbols;
}

/* A list, because programs have few libraries. Includes objects that were not found. */
static struct symbols_object *object_of(struct symbols *symbols, const char *path)
{
    struct symbols_object *object = symbols->objects;

    while (object != NULL && strcmp(object->path, path) != 0)
        object = object->next;
    if (object != NULL)
        return object;
    object = symbols_object_open(path);
    if (object == NULL || object->is_short)
        report_no_memory(symbols->no_memory);
    if (object != NULL) {
        object->next = symbols->objects;
        symbols->objects = object;
    }
    return object;
}

static char *make_signature(struct symbols *symbols, const struct probity_function *function,
                            const char *executable)
{
    const char *path = function->object[0] != '\0' ? function->object : executable;
    char text[SIGNATURE_BYTES_MAX];
    Dwarf_Die die;

    if (path == NULL || path[0] == '\0' || function->line > INT32_MAX)
        return NULL;
    struct symbols_object *object = object_of(symbols, path);
    if (object == NULL || !symbols_object_find(object, function->name, function->file,
                                               (int)function->line, &die))
        return NULL;
    symbols_prototype(&die, text, sizeof text);
    char *signature = strdup(text);
    if (signature == NULL)
        report_no_memory(symbols->no_memory);
    return signature;
}

/* A function in a trace always has the same address. */
static int compare_found(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t)((const struct found *)left)->function;
    uintptr_t b = (uintptr_t)((const struct found *)right)->function;

    return a < b ? -1 : a > b;
}

const char *symbols_signature(struct symbols *symbols, const struct probity_function *function,
                              const char *executable)
{
    struct found wanted = {function, NULL};

    if (symbols == NULL)
        return NULL;
    struct found **place = tfind(&wanted, &symbols->found, compare_found);
    if (place != NULL)
        return (*place)->signature;
    struct found *made = malloc(sizeof *made);
    if (made != NULL) {
        *made = (struct found){function, make_signature(symbols, function, executable)};
        if (tsearch(made, &symbols->found, compare_found) != NULL)
            return made->signature;
        free(made->signature);
        free(made);
    }
    report_no_memory(symbols->no_memory);
    return NULL;
}

static void release_found(void *item)
{
    struct found *found = item;

    free(found->signature);
    free(found);
}

void symbols_close(struct symbols *symbols)
{
    struct symbols_object *object;

    if (symbols == NULL)
        return;
    while ((object = symbols->objects) != NULL) {
        symbols->objects = object->next;
        symbols_object_close(object);
    }
    tdestroy(symbols->found, release_found);
    free(symbols);
}
