/* SPDX-License-Identifier: MIT
 *
 * sled_map.c: see sled_map.h. An entry has 32 bytes:
 *
 *     0   8   address of the sled
 *     8   8   address of its function
 *     16  1   kind: 0 enter, 1 leave, 2 tail, 3 enter with the parameters, 4, 5 events
 *     17  1   always instrumented
 *     18  1   version. 2: both addresses are relative to where they are stored
 */
#include "functions/sled_map.h"

#include <link.h>
#include <string.h>

#include "functions/symbol_table.h"

enum {
    ENTRY_BYTES = 32,
    FUNCTION_AT = 8,
    KIND_AT = 16,
    VERSION_AT = 18,
    VERSION_RELATIVE = 2,
    COUNT_MAX = 1 << 24
};

int probity_sled_map_find(const struct probity_object *object, const char *path,
                          struct probity_sled_map *ret_map)
{
    uint64_t address, bytes;

    if (probity_section_find(path, object, "xray_instr_map", &address, &bytes) != 0 || bytes == 0)
        return 0;
    const uint8_t *entries = (const uint8_t *)(object->offset + address);
    if (bytes % ENTRY_BYTES != 0 || bytes / ENTRY_BYTES > COUNT_MAX ||
        probity_object_bytes(object, entries) < bytes)
        return -1;
    *ret_map = (struct probity_sled_map){object, entries, bytes / ENTRY_BYTES};
    return 1;
}

static uintptr_t address_at(const uint8_t *at, int version)
{
    uintptr_t address;

    memcpy(&address, at, sizeof address);
    return version == VERSION_RELATIVE ? (uintptr_t)at + address : address;
}

/* Returns whether both are in one segment of code, the sled completely, and the sled not before the
 * beginning of the function. */
static int are_in_code(const struct probity_object *object, uintptr_t function, uintptr_t sled)
{
    const ElfW(Phdr) *header = object->headers;

    for (size_t i = 0; i < object->header_count; i++) {
        uintptr_t start = object->offset + header[i].p_vaddr;
        if (header[i].p_type == PT_LOAD && (header[i].p_flags & PF_X) != 0 &&
            (header[i].p_flags & PF_R) != 0 && function >= start && sled >= function &&
            header[i].p_filesz >= PROBITY_CPU_SLED_BYTES &&
            sled - start <= header[i].p_filesz - PROBITY_CPU_SLED_BYTES)
            return 1;
    }
    return 0;
}

int probity_sled_map_at(const struct probity_sled_map *map, size_t index,
                        struct probity_sled *ret_sled)
{
    static const enum probity_cpu_sled_kind kinds[] = {
        PROBITY_CPU_SLED_ENTER, PROBITY_CPU_SLED_LEAVE, PROBITY_CPU_SLED_TAIL,
        PROBITY_CPU_SLED_ENTER};
    enum { KINDS_USED = 4, KINDS = 6 };
    const uint8_t *entry = map->entries + index * ENTRY_BYTES;
    uint8_t kind = entry[KIND_AT], version = entry[VERSION_AT];
    uintptr_t at = address_at(entry, version);

    ret_sled->function = address_at(entry + FUNCTION_AT, version);
    if (version > VERSION_RELATIVE || kind >= KINDS)
        return -1;
    if (kind >= KINDS_USED)
        return 0;
    if (!are_in_code(map->object, ret_sled->function, at))
        return -1;
    ret_sled->at = (uint8_t *)at;
    ret_sled->kind = kinds[kind];
    ret_sled->state = probity_cpu_sled_state(ret_sled->at, ret_sled->kind);
    return ret_sled->state != PROBITY_CPU_SLED_FOREIGN ? 1 : -1;
}
