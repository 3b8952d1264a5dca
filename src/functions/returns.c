/* SPDX-License-Identifier: MIT
 *
 * returns.c: determines whether an object calls __return__. Reads the loaded object, not its file.
 */
#include "functions/functions.h"

#include <link.h>
#include <string.h>

#include "base/cpu.h"

#if PROBITY_CPU_HAS_FENTRY

#define NAME "__return__"

extern void __return__(void);

struct dynamic {
    const ElfW(Rela) *relocations, *of_calls;
    size_t bytes, bytes_of_calls, text_bytes;
    const ElfW(Sym) *symbols;
    const char *texts;
};

/* Returns a pointer for an address in the dynamic section, which libc may have made absolute; NULL
 * if `bytes` from there on are not part of the object. */
static const void *at(const struct probity_object *object, uintptr_t address, size_t bytes)
{
    if (address < object->offset)
        address += object->offset;
    return probity_object_bytes(object, (const void *)address) >= bytes ? (const void *)address
                                                                        : NULL;
}

static void take_entry(const struct probity_object *object, const ElfW(Dyn) *entry,
                       struct dynamic *dynamic)
{
    switch (entry->d_tag) {
    case DT_RELA: dynamic->relocations = at(object, entry->d_un.d_ptr, 1); break;
    case DT_RELASZ: dynamic->bytes = entry->d_un.d_val; break;
    case DT_JMPREL: dynamic->of_calls = at(object, entry->d_un.d_ptr, 1); break;
    case DT_PLTRELSZ: dynamic->bytes_of_calls = entry->d_un.d_val; break;
    case DT_SYMTAB: dynamic->symbols = at(object, entry->d_un.d_ptr, 1); break;
    case DT_STRTAB: dynamic->texts = at(object, entry->d_un.d_ptr, 1); break;
    case DT_STRSZ: dynamic->text_bytes = entry->d_un.d_val; break;
    default: break;
    }
}

static struct dynamic dynamic_of(const struct probity_object *object)
{
    const ElfW(Phdr) *header = object->headers;
    struct dynamic dynamic = {.bytes = 0};

    for (size_t i = 0; i < object->header_count; i++) {
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->offset + header[i].p_vaddr);
        if (header[i].p_type != PT_DYNAMIC)
            continue;
        for (; probity_object_bytes(object, entry) >= sizeof *entry && entry->d_tag != DT_NULL;
             entry++)
            take_entry(object, entry, &dynamic);
    }
    return dynamic;
}

static int is_named(const struct probity_object *object, const struct dynamic *dynamic,
                    const ElfW(Rela) *relocation)
{
    const ElfW(Sym) *symbol = &dynamic->symbols[ELF64_R_SYM(relocation->r_info)];

    if (probity_object_bytes(object, symbol) < sizeof *symbol ||
        symbol->st_name >= dynamic->text_bytes ||
        dynamic->text_bytes - symbol->st_name < sizeof NAME)
        return 0;
    const char *name = dynamic->texts + symbol->st_name;
    return probity_object_bytes(object, name) >= sizeof NAME &&
           memcmp(name, NAME, sizeof NAME) == 0;
}

static int refers(const struct probity_object *object, const struct dynamic *dynamic,
                  const ElfW(Rela) *relocation, size_t bytes)
{
    size_t count = bytes / sizeof *relocation;

    if (relocation == NULL || dynamic->symbols == NULL || dynamic->texts == NULL ||
        probity_object_bytes(object, relocation) < bytes)
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (is_named(object, dynamic, &relocation[i]))
            return 1;
    }
    return 0;
}

/* Returns whether an instruction in the range calls our __return__; the opcode is followed by the
 * distance. Other bytes look like this once in four billion cases. */
static int has_call(const uint8_t *code, size_t bytes)
{
    enum { CALL = 0xe8, CALL_BYTES = 5 };
    const uint8_t *end = code + bytes, *call = code;
    int32_t distance;

    while (end - call >= CALL_BYTES &&
           (call = memchr(call, CALL, (size_t)(end - call) - (CALL_BYTES - 1))) != NULL) {
        memcpy(&distance, call + 1, sizeof distance);
        if ((uintptr_t)call + CALL_BYTES + (uintptr_t)(intptr_t)distance == (uintptr_t)__return__)
            return 1;
        call++;
    }
    return 0;
}

static int code_calls(const struct probity_object *object)
{
    const ElfW(Phdr) *header = object->headers;

    if (probity_object_bytes(object, (const void *)(uintptr_t)__return__) == 0)
        return 0;
    for (size_t i = 0; i < object->header_count; i++) {
        const uint32_t wanted = PF_R | PF_X;
        if (header[i].p_type == PT_LOAD && (header[i].p_flags & wanted) == wanted &&
            has_call((const uint8_t *)(object->offset + header[i].p_vaddr), header[i].p_filesz))
            return 1;
    }
    return 0;
}

int probity_object_calls_return(const struct probity_object *object)
{
    struct dynamic dynamic = dynamic_of(object);

    return refers(object, &dynamic, dynamic.of_calls, dynamic.bytes_of_calls) ||
           refers(object, &dynamic, dynamic.relocations, dynamic.bytes) || code_calls(object);
}

#else

int probity_object_calls_return(const struct probity_object *object)
{
    (void)object;
    return 0;
}

#endif
