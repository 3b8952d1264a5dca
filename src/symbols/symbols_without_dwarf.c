/* SPDX-License-Identifier: MIT
 *
 * symbols_without_dwarf.c: replaces this directory if the tool is built with
 * -DPROBITY_WITHOUT_DWARF: nothing is looked up in programs' files, and C++ names stay mangled.
 */
#include "symbols/address.h"
#include "symbols/locate.h"
#include "symbols/symbols.h"

#ifdef PROBITY_WITHOUT_DWARF

void symbols_on_unused(void (*report)(const char *path, const char *why))
{
    (void)report;
}

struct symbols *symbols_open(void (*no_memory)(void))
{
    (void)no_memory;
    return NULL;
}

const char *symbols_signature(struct symbols *symbols, const struct probity_function *function,
                              const char *executable)
{
    (void)symbols;
    (void)function;
    (void)executable;
    return NULL;
}

void symbols_close(struct symbols *symbols)
{
    (void)symbols;
}

struct symbols_addresses *symbols_addresses_open(void (*no_memory)(void))
{
    (void)no_memory;
    return NULL;
}

int symbols_address_find(struct symbols_addresses *addresses, const char *path,
                         const char *build_id, uint64_t address, struct symbols_place *ret_place)
{
    (void)addresses;
    (void)path;
    (void)build_id;
    (void)address;
    *ret_place = (struct symbols_place){0};
    return 0;
}

void symbols_addresses_close(struct symbols_addresses *addresses)
{
    (void)addresses;
}

void symbols_locate_on_no_memory(void (*no_memory)(void))
{
    (void)no_memory;
}

char *symbols_locate(const char *object, const char *symbol, uint64_t address, uint32_t *ret_line)
{
    (void)object;
    (void)symbol;
    (void)address;
    (void)ret_line;
    return NULL;
}

char *symbols_demangle(const char *symbol, char **ret_name)
{
    (void)symbol;
    (void)ret_name;
    return NULL;
}

#endif
