/* SPDX-License-Identifier: MIT
 *
 * locate.c: see locate.h.
 */
#include "symbols/locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/object.h"

/* All objects looked up so far, including those that could not be read. */
static struct symbols_object *objects;
static void (*without_memory)(void);

void symbols_locate_on_no_memory(void (*no_memory)(void))
{
    without_memory = no_memory;
}

static void no_memory(void)
{
    if (without_memory != NULL)
        without_memory();
}

static struct symbols_object *object_of(const char *path)
{
    struct symbols_object *object = objects;

    while (object != NULL && strcmp(object->path, path) != 0)
        object = object->next;
    if (object != NULL)
        return object;
    object = symbols_object_open(path);
    if (object == NULL) {
        no_memory();
        return NULL;
    }
    object->next = objects;
    objects = object;
    return object;
}

/* A mangled symbol has the length and the text of the last name in it; operators have codes. */
static int has_name(const char *symbol, const char *name)
{
    char part[256];
    int bytes = snprintf(part, sizeof part, "%zu%s", strlen(name), name);

    return strncmp(name, "operator", strlen("operator")) == 0 ||
           (bytes > 0 && (size_t)bytes < sizeof part && strstr(symbol, part) != NULL);
}

/* A symbol may have a suffix such as ".constprop.0", which DWARF does not have. Functions local
 * to a file have no linkage name there. */
static int is_named(Dwarf_Die *function, const char *symbol)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;

    if (dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute) != NULL)
        name = dwarf_formstring(&attribute);
    if (name == NULL) {
        name = dwarf_diename(function);
        if (name != NULL && strncmp(symbol, "_Z", 2) == 0)
            return has_name(symbol, name);
    }
    size_t bytes = name != NULL ? strlen(name) : 0;
    return bytes > 0 && strncmp(symbol, name, bytes) == 0 &&
           (symbol[bytes] == '\0' || symbol[bytes] == '.');
}

/* Path relative to the compilation directory, as passed to the compiler. */
static const char *relative(Dwarf_Die *function, const char *path)
{
    Dwarf_Attribute attribute;
    Dwarf_Die unit;

    if (dwarf_diecu(function, &unit, NULL, NULL) == NULL ||
        dwarf_attr(&unit, DW_AT_comp_dir, &attribute) == NULL)
        return path;
    const char *directory = dwarf_formstring(&attribute);
    size_t bytes = directory != NULL ? strlen(directory) : 0;
    if (bytes == 0 || strncmp(path, directory, bytes) != 0 || path[bytes] != '/')
        return path;
    path += bytes + 1;
    return strncmp(path, "./", 2) == 0 ? path + 2 : path;
}

/* DWARF has no line for a lambda, so uses the line of its first instruction. Returns NULL if there
 * is none. */
static const char *place_of(Dwarf_Die *function, uint64_t address, int *ret_line)
{
    const char *file = symbols_file_of(function);
    Dwarf_Die unit;

    if (file != NULL && dwarf_decl_line(function, ret_line) == 0)
        return file;
    if (dwarf_diecu(function, &unit, NULL, NULL) == NULL)
        return NULL;
    Dwarf_Line *line = dwarf_getsrc_die(&unit, address);
    if (line == NULL || dwarf_lineno(line, ret_line) != 0)
        return NULL;
    return dwarf_linesrc(line, NULL, NULL);
}

char *symbols_locate(const char *path, const char *symbol, uint64_t address, uint32_t *ret_line)
{
    Dwarf_Die function;
    int line;

    /* Otherwise libdwfl would request missing files from servers. */
    unsetenv("DEBUGINFOD_URLS");
    struct symbols_object *object = object_of(path);
    int is_there = object != NULL && symbols_object_at(object, address, &function);
    if (object != NULL && object->is_short)
        no_memory();
    if (!is_there || !is_named(&function, symbol))
        return NULL;
    const char *file = place_of(&function, address, &line);
    if (file == NULL || line <= 0)
        return NULL;
    char *found = strdup(relative(&function, file));
    if (found == NULL)
        no_memory();
    *ret_line = (uint32_t)line;
    return found;
}
