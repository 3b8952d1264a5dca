/* SPDX-License-Identifier: MIT
 *
 * object.c: opens a file with libdwfl, which finds separate debugging information, and indexes its
 * functions once. The file name comes from a trace and may be anything (elf_file.h).
 */
#include "symbols/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/array_grow.h"

static int add_entry(struct symbols_object *object, const char *name, Dwarf_Off offset)
{
    void *entries = probity_array_room(object->entries, sizeof *object->entries, object->count,
                                       &object->capacity);

    if (entries == NULL)
        return -1;
    object->entries = entries;
    object->entries[object->count++] = (struct symbols_entry){name, offset};
    return 0;
}

/* Indexes only definitions; an inlined function has its name in one abstract instance. */
static void index_unit(struct symbols_object *object, Dwarf_Die *unit)
{
    Dwarf_Die child;

    if (dwarf_child(unit, &child) != 0)
        return;
    do {
        Dwarf_Attribute attribute;
        if (dwarf_tag(&child) != DW_TAG_subprogram || dwarf_hasattr(&child, DW_AT_declaration) ||
            dwarf_attr(&child, DW_AT_name, &attribute) == NULL)
            continue;
        const char *name = dwarf_formstring(&attribute);
        if (name != NULL && add_entry(object, name, dwarf_dieoffset(&child)) != 0) {
            object->is_short = 1;
            return;
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

static int compare_entries(const void *left, const void *right)
{
    const struct symbols_entry *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order != 0 ? order : a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Types have separate units, which contain no functions. Those of split units (.dwo) are not read:
 * libdw would look for the files with a blocking open, even in the compilation directory, which
 * other users may have created since. */
static void index_object(struct symbols_object *object)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Half version;
    uint8_t kind;
    Dwarf_Die die;

    while (dwarf_get_units(object->dwarf, unit, &unit, &version, &kind, &die, NULL) == 0) {
        if (kind == DW_UT_compile)
            index_unit(object, &die);
    }
    if (object->count > 1)
        qsort(object->entries, object->count, sizeof *object->entries, compare_entries);
}

struct symbols_object *symbols_object_open(const char *path)
{
    struct symbols_object *object = calloc(1, sizeof *object);

    if (object == NULL)
        return NULL;
    object->path = strdup(path);
    if (object->path == NULL) {
        free(object);
        return NULL;
    }
    symbols_elf_file_open(path, &object->file);
    object->dwarf = symbols_elf_file_dwarf(&object->file);
    if (object->dwarf != NULL)
        index_object(object);
    return object;
}

void symbols_object_close(struct symbols_object *object)
{
    symbols_elf_file_close(&object->file);
    free(object->entries);
    free(object->addresses);
    free(object->path);
    free(object);
}

/* Compilers record paths as given on the command line, so they may differ between trace and
 * DWARF. */
static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Returns the file in which a function is declared. Since DWARF 5, file 0 is the unit's file; older
 * libdw rejects it. */
const char *symbols_file_of(Dwarf_Die *function)
{
    const char *path = dwarf_decl_file(function);
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    Dwarf_Die unit;

    if (path == NULL && dwarf_attr_integrate(function, DW_AT_decl_file, &attribute) != NULL &&
        dwarf_formudata(&attribute, &number) == 0 && number == 0 &&
        dwarf_diecu(function, &unit, NULL, NULL) != NULL)
        path = dwarf_diename(&unit);
    return path;
}

/* Returns the first entry with this name. */
static size_t first_entry(const struct symbols_object *object, const char *name)
{
    size_t low = 0, high = object->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(object->entries[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* `line` is that of FN_FUNC, below the first line of the function; it distinguishes static
 * functions with the same name in one file. */
int symbols_object_find(const struct symbols_object *object, const char *name, const char *file,
                        int line, Dwarf_Die *ret_function)
{
    int nearest = 0;

    for (size_t i = first_entry(object, name);
         i < object->count && strcmp(object->entries[i].name, name) == 0; i++) {
        Dwarf_Die die;
        int declared;
        if (dwarf_offdie(object->dwarf, object->entries[i].offset, &die) == NULL)
            continue;
        const char *path = symbols_file_of(&die);
        if (path == NULL || strcmp(last_name(path), last_name(file)) != 0 ||
            dwarf_decl_line(&die, &declared) != 0 || declared > line || declared <= nearest)
            continue;
        nearest = declared;
        *ret_function = die;
    }
    return nearest > 0;
}

/* ---- By address --------------------------------------------------------------------------------
 */

static int add_address(struct symbols_object *object, Dwarf_Addr low, Dwarf_Off offset)
{
    void *addresses = probity_array_room(object->addresses, sizeof *object->addresses,
                                         object->address_count, &object->address_capacity);

    if (addresses == NULL)
        return -1;
    object->addresses = addresses;
    object->addresses[object->address_count++] = (struct symbols_address){low, offset};
    return 0;
}

/* Lambdas are members of types that are local to a function. */
static int may_contain_functions(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
           tag == DW_TAG_lexical_block || tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

/* A function that the compiler has split has several ranges: it begins with the first. Returns 0 if
 * it has no code. */
static int begin_of(Dwarf_Die *function, Dwarf_Addr *ret_low)
{
    Dwarf_Addr base, end;

    return dwarf_entrypc(function, ret_low) == 0 ||
           dwarf_ranges(function, 0, &base, ret_low, &end) > 0;
}

/* Collects all functions that have code. Returns -1 if out of memory. *left: number of entries that
 * may still be visited, so that cyclic entries do not cause endless recursion. */
static int add_addresses(struct symbols_object *object, Dwarf_Die *parent, int depth,
                         size_t *left)
{
    Dwarf_Die child;
    Dwarf_Addr low;
    int error = 0;

    if (depth == 0 || dwarf_child(parent, &child) != 0)
        return 0;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_subprogram && begin_of(&child, &low))
            error = add_address(object, low, dwarf_dieoffset(&child));
        if (error == 0 && may_contain_functions(tag))
            error = add_addresses(object, &child, depth - 1, left);
    } while (error == 0 && *left > 0 && --*left > 0 && dwarf_siblingof(&child, &child) == 0);
    return error;
}

static int compare_lows(const void *left, const void *right)
{
    const struct symbols_address *a = left, *b = right;

    return a->low < b->low ? -1 : a->low > b->low;
}

static int compare_addresses(const void *left, const void *right)
{
    const struct symbols_address *a = left, *b = right;
    int order = compare_lows(a, b);

    return order != 0 ? order : a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* In untrusted DWARF, scopes may be nested to any depth. */
static void index_addresses(struct symbols_object *object)
{
    enum { DEPTH = 64, ENTRIES_MAX = 1 << 24 };
    Dwarf_CU *unit = NULL;
    Dwarf_Half version;
    uint8_t kind;
    Dwarf_Die die;
    int error = 0;

    object->is_sorted = 1;
    while (error == 0 && object->dwarf != NULL &&
           dwarf_get_units(object->dwarf, unit, &unit, &version, &kind, &die, NULL) == 0) {
        size_t left = ENTRIES_MAX;
        if (kind == DW_UT_compile)
            error = add_addresses(object, &die, DEPTH, &left);
    }
    object->is_short |= error != 0;
    if (object->address_count > 1)
        qsort(object->addresses, object->address_count, sizeof *object->addresses,
              compare_addresses);
}

int symbols_object_at(struct symbols_object *object, Dwarf_Addr address, Dwarf_Die *ret_function)
{
    struct symbols_address wanted = {address, 0};

    if (!object->is_sorted)
        index_addresses(object);
    if (object->address_count == 0)
        return 0;
    const struct symbols_address *found =
        bsearch(&wanted, object->addresses, object->address_count, sizeof wanted, compare_lows);
    while (found != NULL && found > object->addresses && found[-1].low == address)
        found--; /* the first in the file */
    return found != NULL && dwarf_offdie(object->dwarf, found->offset, ret_function) != NULL;
}
