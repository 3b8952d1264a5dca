/* SPDX-License-Identifier: MIT
 *
 * address.c: opens files with libdwfl and caches the results. File names come from a trace and may
 * be anything (elf_file.h); only files with the right build id are used.
 */
#include "symbols/address.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf_file.h"
#include "symbols/symbols.h"

/* A file in which addresses were looked up, even if it could not be used. */
struct file {
    char *path, *build_id;
    struct symbols_elf_file elf;
    Dwfl_Module *module; /* NULL: not used */
    int has_places;      /* whether its instructions have places */
    uint64_t bias;       /* libdwfl's address minus the address as linked */
    struct file *next;
};

struct found {
    const struct file *file;
    uint64_t address;
    struct symbols_place place; /* its texts are malloc'ed */
};

struct symbols_addresses {
    struct file *files;
    void *found; /* a tree of struct found */
    void (*no_memory)(void);
};

static void report_no_memory(void (*no_memory)(void))
{
    if (no_memory != NULL)
        no_memory();
}

struct symbols_addresses *symbols_addresses_open(void (*no_memory)(void))
{
    struct symbols_addresses *addresses = calloc(1, sizeof *addresses);

    /* Otherwise libdwfl would request missing files from servers. */
    unsetenv("DEBUGINFOD_URLS");
    if (addresses != NULL)
        addresses->no_memory = no_memory;
    else
        report_no_memory(no_memory);
    return addresses;
}

/* ---- Files -------------------------------------------------------------------------------------
 */

static int has_build_id(Dwfl_Module *module, const char *wanted)
{
    const unsigned char *bits = NULL;
    GElf_Addr address;
    int bytes = dwfl_module_build_id(module, &bits, &address);

    if (bytes < 0)
        bytes = 0;
    if (strlen(wanted) != 2 * (size_t)bytes)
        return 0;
    for (int i = 0; i < bytes; i++) {
        char digits[3];
        snprintf(digits, sizeof digits, "%02x", bits[i]);
        if (memcmp(wanted + 2 * i, digits, 2) != 0)
            return 0;
    }
    return 1;
}

static void load(struct file *file)
{
    Dwfl_Module *module;
    GElf_Addr bias = 0;

    symbols_elf_file_open(file->path, &file->elf);
    module = file->elf.module;
    if (module == NULL || dwfl_module_getelf(module, &bias) == NULL ||
        !has_build_id(module, file->build_id))
        return;
    file->module = module;
    file->bias = bias;
    file->has_places = symbols_elf_file_dwarf(&file->elf) != NULL;
}

/* A list, because programs have few libraries. */
static struct file *file_of(struct symbols_addresses *addresses, const char *path,
                            const char *build_id)
{
    struct file *file = addresses->files;

    while (file != NULL &&
           (strcmp(file->path, path) != 0 || strcmp(file->build_id, build_id) != 0))
        file = file->next;
    if (file != NULL)
        return file;
    file = calloc(1, sizeof *file);
    if (file == NULL)
        return NULL;
    file->path = strdup(path);
    file->build_id = strdup(build_id);
    if (file->path == NULL || file->build_id == NULL) {
        free(file->path);
        free(file->build_id);
        free(file);
        return NULL;
    }
    load(file);
    file->next = addresses->files;
    addresses->files = file;
    return file;
}

/* ---- Places ------------------------------------------------------------------------------------
 */

/* Path relative to the compilation directory, as passed to the compiler. */
static const char *relative(Dwarf_Die *unit, const char *path)
{
    Dwarf_Attribute attribute;
    const char *directory = dwarf_attr(unit, DW_AT_comp_dir, &attribute) != NULL
                                ? dwarf_formstring(&attribute)
                                : NULL;
    size_t bytes = directory != NULL ? strlen(directory) : 0;

    if (bytes == 0 || strncmp(path, directory, bytes) != 0 || path[bytes] != '/')
        return path;
    path += bytes + 1;
    return strncmp(path, "./", 2) == 0 ? path + 2 : path;
}

/* Finds the compilation unit of an address; gcc writes an index of units (.debug_aranges), clang
 * does not. */
static Dwarf_Die *find_unit(Dwfl_Module *module, GElf_Addr at, Dwarf_Addr *ret_bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, at, ret_bias);

    if (unit != NULL)
        return unit;
    while ((unit = dwfl_module_nextcu(module, unit, ret_bias)) != NULL)
        if (dwarf_haspc(unit, at - *ret_bias) > 0)
            return unit;
    return NULL;
}

/* Returns a symbol's name without its version, demangled if it is a C++ name. malloc'ed. */
static char *readable(const char *symbol)
{
    size_t bytes = strcspn(symbol, "@");
    char *plain = strndup(symbol, bytes > 0 ? bytes : strlen(symbol)), *name = NULL;
    char *signature = plain != NULL ? symbols_demangle(plain, &name) : NULL;

    if (signature == NULL)
        return plain;
    free(signature);
    free(plain);
    return name;
}

static int is_named(const GElf_Sym *symbol, GElf_Off offset)
{
    int type = GELF_ST_TYPE(symbol->st_info);

    return type != STT_SECTION && type != STT_FILE && type != STT_TLS &&
           (symbol->st_size == 0 || offset < symbol->st_size);
}

/* Returns 0, or -1 if out of memory. */
static int look_up(const struct file *file, uint64_t address, struct symbols_place *ret_place)
{
    GElf_Addr at = address + file->bias;
    GElf_Off offset = 0;
    GElf_Sym symbol;
    int number = 0;

    if (file->module == NULL)
        return 0;
    const char *name =
        dwfl_module_addrinfo(file->module, at, &offset, &symbol, NULL, NULL, NULL);
    if (name != NULL && *name != '\0' && is_named(&symbol, offset)) {
        ret_place->symbol = readable(name);
        if (ret_place->symbol == NULL)
            return -1;
        ret_place->offset = offset;
    }
    Dwarf_Addr bias;
    Dwarf_Die *unit = file->has_places ? find_unit(file->module, at, &bias) : NULL;
    Dwarf_Line *line = unit != NULL ? dwarf_getsrc_die(unit, at - bias) : NULL;
    const char *path = line != NULL ? dwarf_linesrc(line, NULL, NULL) : NULL;
    if (path == NULL || dwarf_lineno(line, &number) != 0 || number <= 0)
        return 0;
    ret_place->file = strdup(relative(unit, path));
    ret_place->line = (uint32_t)number;
    return ret_place->file != NULL ? 0 : -1;
}

static int compare_found(const void *left, const void *right)
{
    const struct found *a = left, *b = right;

    if (a->file != b->file)
        return (uintptr_t)a->file < (uintptr_t)b->file ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

static void release_found(void *item)
{
    struct found *found = item;

    free((char *)(uintptr_t)found->place.symbol);
    free((char *)(uintptr_t)found->place.file);
    free(found);
}

static struct found *find_anew(struct symbols_addresses *addresses, const struct found *wanted)
{
    struct found *found = malloc(sizeof *found);

    if (found == NULL)
        return NULL;
    *found = *wanted;
    if (look_up(found->file, found->address, &found->place) == 0 &&
        tsearch(found, &addresses->found, compare_found) != NULL)
        return found;
    release_found(found);
    return NULL;
}

int symbols_address_find(struct symbols_addresses *addresses, const char *path,
                         const char *build_id, uint64_t address, struct symbols_place *ret_place)
{
    *ret_place = (struct symbols_place){0};
    if (addresses == NULL || path[0] == '\0')
        return 0;
    struct found wanted = {file_of(addresses, path, build_id), address, {0}};
    if (wanted.file == NULL) {
        report_no_memory(addresses->no_memory);
        return 0;
    }
    if (wanted.file->module == NULL)
        return 0;
    struct found **place = tfind(&wanted, &addresses->found, compare_found);
    struct found *found = place != NULL ? *place : find_anew(addresses, &wanted);
    if (found == NULL) {
        report_no_memory(addresses->no_memory);
        return 0;
    }
    *ret_place = found->place;
    return found->place.symbol != NULL || found->place.file != NULL;
}

void symbols_addresses_close(struct symbols_addresses *addresses)
{
    struct file *file;

    if (addresses == NULL)
        return;
    while ((file = addresses->files) != NULL) {
        addresses->files = file->next;
        symbols_elf_file_close(&file->elf);
        free(file->path);
        free(file->build_id);
        free(file);
    }
    tdestroy(addresses->found, release_found);
    free(addresses);
}
