/* SPDX-License-Identifier: MIT
 *
 * linux/objects.c: objects.h for ELF program headers, which are mapped together with what they
 * describe.
 */
#include "base/objects.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>

/* A static image has no entry with its load offset, but its headers are in the first page of the
 * file. */
static uintptr_t image_offset(const ElfW(Phdr) *header, size_t count)
{
    enum { PAGE = 4096 };
    uintptr_t offset = 0;

    for (size_t i = 0; i < count; i++) {
        if (header[i].p_type == PT_PHDR)
            return (uintptr_t)header - header[i].p_vaddr;
        if (header[i].p_type == PT_LOAD && header[i].p_offset == 0)
            offset = (uintptr_t)header / PAGE * PAGE - header[i].p_vaddr;
    }
    return offset;
}

size_t probity_object_bytes(const struct probity_object *object, const void *at)
{
    const ElfW(Phdr) *header = object->headers;
    uintptr_t address = (uintptr_t)at - object->offset;

    for (size_t i = 0; i < object->header_count; i++) {
        if (header[i].p_type == PT_LOAD && (header[i].p_flags & PF_R) &&
            address >= header[i].p_vaddr && address - header[i].p_vaddr < header[i].p_filesz)
            return header[i].p_filesz - (address - header[i].p_vaddr);
    }
    return 0;
}

int probity_object_executable(struct probity_object *ret_object)
{
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    size_t count = header != NULL ? getauxval(AT_PHNUM) : 0;

    *ret_object = (struct probity_object){"", image_offset(header, count), header, count};
    /* A range that does not contain the headers is not the image. */
    return probity_object_bytes(ret_object, header) > 0 ? 0 : -1;
}

struct walk {
    uint64_t *loads;
    probity_object_take *take;
    void *context;
    int is_first;
};

static int take_object(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct walk *walk = context;

    if (walk->is_first && bytes >= offsetof(struct dl_phdr_info, dlpi_subs)) {
        if (*walk->loads == info->dlpi_adds)
            return 1;
        *walk->loads = info->dlpi_adds;
    }
    const struct probity_object object = {
        info->dlpi_name != NULL && !walk->is_first ? info->dlpi_name : "", info->dlpi_addr,
        info->dlpi_phdr, info->dlpi_phnum};
    walk->is_first = 0;
    walk->take(walk->context, &object);
    return 0;
}

void probity_objects_each(uint64_t *loads, probity_object_take *take, void *context)
{
    struct walk walk = {loads, take, context, 1};

    dl_iterate_phdr(take_object, &walk);
}

static size_t aligned(size_t bytes, size_t alignment)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

/* Parses one segment: consecutive notes, each with a header, its owner and its description. */
static void take_notes(const struct probity_object *object, const ElfW(Phdr) *segment,
                       const char *owner, uint32_t type, probity_object_take_note *take,
                       void *context)
{
    const size_t owner_bytes = strlen(owner) + 1, alignment = segment->p_align == 8 ? 8 : 4;
    const uint8_t *at = (const uint8_t *)(object->offset + segment->p_vaddr);
    size_t left = segment->p_filesz;
    ElfW(Nhdr) note;

    while (left >= sizeof note) {
        memcpy(&note, at, sizeof note);
        size_t start = aligned(sizeof note + note.n_namesz, alignment);
        if (note.n_namesz > left || note.n_descsz > left || start > left - note.n_descsz)
            return;
        if (note.n_type == type && note.n_namesz == owner_bytes &&
            memcmp(at + sizeof note, owner, owner_bytes) == 0)
            take(context, object, at + start, note.n_descsz);
        size_t bytes = aligned(start + note.n_descsz, alignment);
        at += bytes < left ? bytes : left;
        left -= bytes < left ? bytes : left;
    }
}

void probity_object_notes(const struct probity_object *object, const char *owner, uint32_t type,
                          probity_object_take_note *take, void *context)
{
    const ElfW(Phdr) *header = object->headers;

    for (size_t i = 0; i < object->header_count; i++) {
        if (header[i].p_type == PT_NOTE &&
            probity_object_bytes(object, (void *)(object->offset + header[i].p_vaddr)) >=
                header[i].p_filesz)
            take_notes(object, &header[i], owner, type, take, context);
    }
}
