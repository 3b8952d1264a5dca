/* SPDX-License-Identifier: MIT
 *
 * patchable.c: see patchable.h. Finds the entries of an object, selects them, and has those that
 * differ from what is wanted switched, segment by segment. The instructions are the processor's
 * (cpu_patchable.h).
 */
#include "functions/patchable.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"
#include "functions/arena.h"
#include "functions/cpu_patchable.h"
#include "functions/functions.h"
#include "functions/symbol_table.h"

#if PROBITY_CPU_HAS_SLEDS

enum { BYTES = PROBITY_PATCHABLE_BYTES, COUNT_MAX = 1 << 24 };

static uintptr_t after(const struct probity_patchable_entry *entry)
{
    return (uintptr_t)entry->at + BYTES;
}

/* ---- Entries -----------------------------------------------------------------------------------
 */

static int is_in_code(const struct probity_object *object, uintptr_t address)
{
    const ElfW(Phdr) *header = object->headers;

    for (size_t i = 0; i < object->header_count; i++) {
        const uint32_t wanted = PF_R | PF_X;
        uintptr_t start = object->offset + header[i].p_vaddr;
        if (header[i].p_type == PT_LOAD && (header[i].p_flags & wanted) == wanted &&
            header[i].p_filesz >= BYTES && address >= start &&
            address - start <= header[i].p_filesz - BYTES)
            return 1;
    }
    return 0;
}

/* With rules, a function is looked up now; otherwise when it is called. */
static int is_selected(const struct probity_patchable_entry *entry)
{
    return !probity_functions_are_selected() ||
           probity_function_find_inside(after(entry)) != &probity_function_left_out;
}

/* Returns the number of entries in the section that are valid. */
static size_t choose(const struct probity_object *object, const uint8_t *section, size_t bytes,
                     int takes_all, struct probity_patchable *patchable)
{
    struct probity_patchable_entry entry;
    uintptr_t address;
    size_t found = 0;

    for (size_t i = 0; i + sizeof address <= bytes; i += sizeof address) {
        memcpy(&address, section + i, sizeof address);
        if (!is_in_code(object, address) || !probity_cpu_patchable_examine(address, &entry))
            continue;
        found++;
        if (takes_all || is_selected(&entry))
            patchable->entries[patchable->count++] = entry;
    }
    return found;
}

long probity_patchable_take(const struct probity_object *object, const char *path,
                            int takes_all, struct probity_patchable *ret_patchable)
{
    uint64_t address, bytes;

    if (probity_section_find(path, object, "__patchable_function_entries", &address, &bytes) != 0)
        return 0;
    const uint8_t *section = (const uint8_t *)(object->offset + address);
    if (bytes == 0 || bytes / sizeof(uintptr_t) > COUNT_MAX ||
        probity_object_bytes(object, section) < bytes)
        return 0;
    *ret_patchable = (struct probity_patchable){
        .bytes = bytes / sizeof(uintptr_t) * sizeof(struct probity_patchable_entry)};
    ret_patchable->entries = probity_arena_map(ret_patchable->bytes + 1);
    if (ret_patchable->entries == NULL) {
        errno = ENOMEM;
        return -1;
    }
    size_t found = choose(object, section, bytes, takes_all, ret_patchable);
    if (ret_patchable->count == 0)
        probity_patchable_forget(ret_patchable);
    return (long)found;
}

int probity_patchable_is_there(const struct probity_patchable *patchable,
                               const struct probity_object *object)
{
    const struct probity_patchable_entry *first = patchable->entries;
    size_t count = first != NULL && first->is_on ? 1 : patchable->count;

    /* What leads to this object's places is proof enough. */
    for (size_t i = 0; i < count; i++) {
        if (probity_object_bytes(object, first[i].at) < BYTES ||
            !probity_cpu_patchable_is_as_left(&first[i]))
            return 0;
    }
    return 1;
}

/* ---- Changes -----------------------------------------------------------------------------------
 */

/* Marks the entries of the range that are to be changed. Returns 0 if there are none. */
static int mark(const struct probity_patchable_range *range, struct probity_patchable *patchable,
                int (*is_removed)(uintptr_t from), int *ret_is_put)
{
    int is_any = 0;

    *ret_is_put = 0;
    for (size_t i = 0; i < patchable->count; i++) {
        struct probity_patchable_entry *entry = &patchable->entries[i];
        entry->is_changing = probity_patchable_is_in(range, entry) &&
                             is_removed(after(entry)) == entry->is_on &&
                             probity_cpu_patchable_is_as_left(entry);
        is_any |= entry->is_changing;
        *ret_is_put |= entry->is_changing && !entry->is_on;
    }
    return is_any;
}

static int has_places(const struct probity_patchable_range *range,
                      const struct probity_patchable *patchable)
{
    for (size_t i = 0; i < patchable->place_count; i++) {
        if (patchable->places[i].first == range->first)
            return 1;
    }
    return 0;
}

static int protect(const struct probity_patchable_range *range, int protection)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = range->first / page * page;

    return mprotect((void *)start, range->last + BYTES - start, protection);
}

static struct probity_patchable_range range_of(const struct probity_object *object,
                                               const ElfW(Phdr) *segment,
                                               const struct probity_patchable *patchable)
{
    uintptr_t start = object->offset + segment->p_vaddr;
    struct probity_patchable_range range = {
        .first = UINTPTR_MAX,
        .protection = (segment->p_flags & PF_R ? PROT_READ : 0) |
                      (segment->p_flags & PF_W ? PROT_WRITE : 0) | PROT_EXEC};

    for (size_t i = 0; i < patchable->count; i++) {
        uintptr_t at = (uintptr_t)patchable->entries[i].at;
        if (at - start >= segment->p_memsz)
            continue;
        range.first = at < range.first ? at : range.first;
        range.last = at > range.last ? at : range.last;
        range.has_short |= !patchable->entries[i].is_long;
        range.count++;
    }
    return range;
}

static int is_code(const ElfW(Phdr) *segment)
{
    return segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0;
}

/* Returns 0, or -1 with errno. */
static int update_segment(struct probity_patchable *patchable,
                          struct probity_patchable_range *range,
                          int (*is_removed)(uintptr_t from))
{
    int is_put;

    if (range->count == 0 || !mark(range, patchable, is_removed, &is_put))
        return 0;
    if ((is_put && !has_places(range, patchable) &&
         probity_cpu_patchable_make_places(range, patchable) != 0) ||
        protect(range, range->protection | PROT_WRITE) != 0)
        return -1;
    probity_cpu_patchable_change(patchable);
    return protect(range, range->protection);
}

int probity_patchable_update(struct probity_patchable *patchable,
                             const struct probity_object *object,
                             int (*is_removed)(uintptr_t from))
{
    const ElfW(Phdr) *header = object->headers;
    int is_different = 0, why = 0;

    for (size_t i = 0; i < patchable->count; i++)
        is_different |= patchable->entries[i].is_on == is_removed(after(&patchable->entries[i]));
    if (!is_different)
        return 0;
    if (probity_os_code_barrier() != 0 && !probity_os_is_single_threaded()) {
        errno = ENOSYS;
        return -1;
    }
    for (size_t i = 0; i < object->header_count; i++) {
        struct probity_patchable_range range = {.count = 0};
        if (is_code(&header[i]))
            range = range_of(object, &header[i], patchable);
        if (update_segment(patchable, &range, is_removed) != 0)
            why = errno;
    }
    errno = why != 0 ? why : errno;
    return why != 0 ? -1 : 0;
}

#else

long probity_patchable_take(const struct probity_object *object, const char *path,
                            int takes_all, struct probity_patchable *ret_patchable)
{
    (void)object, (void)path, (void)takes_all, (void)ret_patchable;
    return 0;
}

int probity_patchable_is_there(const struct probity_patchable *patchable,
                               const struct probity_object *object)
{
    (void)patchable, (void)object;
    return 1;
}

int probity_patchable_update(struct probity_patchable *patchable,
                             const struct probity_object *object,
                             int (*is_removed)(uintptr_t from))
{
    (void)patchable, (void)object, (void)is_removed;
    return 0;
}
#endif

void probity_patchable_forget(struct probity_patchable *patchable)
{
    if (patchable->entries != NULL)
        probity_arena_unmap(patchable->entries, patchable->bytes + 1);
    for (size_t i = 0; i < patchable->place_count; i++)
        probity_arena_unmap(patchable->places[i].at, patchable->places[i].bytes);
    *patchable = (struct probity_patchable){.entries = NULL};
}
