/* SPDX-License-Identifier: MIT
 *
 * patchable.c: see patchable.h. Finds and selects the entries of an object, and switches those that
 * are not in the desired state, segment by segment. The instructions depend on the processor
 * (cpu_patchable.h).
 */
#include "functions/patchable.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h> /* PROT_WRITE */

#include "functions/arena.h"
#include "functions/code_segments.h"
#include "functions/cpu_patchable.h"
#include "functions/functions.h"
#include "functions/rules.h"
#include "functions/symbol_table.h"

#if PROBITY_CPU_HAS_SLEDS

enum { BYTES = PROBITY_PATCHABLE_BYTES, COUNT_MAX = 1 << 24 };

static uintptr_t after(const struct probity_patchable_entry *entry)
{
    return (uintptr_t)entry->at + BYTES;
}

/* ---- Entries -----------------------------------------------------------------------------------
 */

/* With rules, a function is looked up now, otherwise when it is called. */
static int is_selected(const struct probity_patchable_entry *entry)
{
    return !probity_functions_are_selected() ||
           probity_function_find_inside(after(entry)) != &probity_function_left_out;
}

/* Returns the number of valid entries in the section. */
static size_t choose(const struct probity_object *object, const uint8_t *section, size_t bytes,
                     int takes_all, struct probity_patchable *patchable)
{
    struct probity_patchable_entry entry;
    uintptr_t address;
    size_t found = 0;

    for (size_t i = 0; i + sizeof address <= bytes; i += sizeof address) {
        memcpy(&address, section + i, sizeof address);
        if (!probity_code_has(object, address, BYTES) ||
            !probity_cpu_patchable_examine(address, &entry))
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

    /* If the first entry is a call to this object's memory (patchable.h), it proves that the code
     * is unchanged. */
    for (size_t i = 0; i < count; i++) {
        if (probity_object_bytes(object, first[i].at) < BYTES ||
            !probity_cpu_patchable_is_as_left(&first[i]))
            return 0;
    }
    return 1;
}

/* ---- Changes -----------------------------------------------------------------------------------
 */

/* Marks the entries of the range that must be changed. Returns 0 if there are none. */
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
    return probity_code_protect(range->first, range->last + BYTES, protection);
}

static struct probity_patchable_range range_of(const struct probity_object *object,
                                               const ElfW(Phdr) *segment,
                                               const struct probity_patchable *patchable)
{
    uintptr_t start = object->offset + segment->p_vaddr;
    struct probity_patchable_range range = {
        .first = UINTPTR_MAX, .protection = probity_code_protection(segment)};

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

/* Returns 0, or -1 with errno. */
static int make_places(struct probity_patchable_range *range, struct probity_patchable *patchable)
{
    size_t bytes = 0;
    uint8_t *places = patchable->place_count < PROBITY_PATCHABLE_SEGMENTS_MAX
                          ? probity_cpu_patchable_make_places(range, patchable, &bytes)
                          : NULL;

    if (places == NULL) {
        errno = ENOMEM;
        return -1;
    }
    if (probity_code_finish(places, bytes) != 0)
        return -1;
    patchable->places[patchable->place_count++] =
        (struct probity_patchable_places){places, bytes, range->first};
    return 0;
}

struct update {
    struct probity_patchable *patchable;
    const struct probity_object *object;
    int (*is_removed)(uintptr_t from);
};

static int update_segment(void *context, const ElfW(Phdr) *segment)
{
    const struct update *update = context;
    struct probity_patchable *patchable = update->patchable;
    struct probity_patchable_range range = range_of(update->object, segment, patchable);
    int is_put;

    if (range.count == 0 || !mark(&range, patchable, update->is_removed, &is_put))
        return 0;
    if ((is_put && !has_places(&range, patchable) && make_places(&range, patchable) != 0) ||
        protect(&range, range.protection | PROT_WRITE) != 0)
        return -1;
    probity_cpu_patchable_change(patchable);
    return protect(&range, range.protection);
}

int probity_patchable_update(struct probity_patchable *patchable,
                             const struct probity_object *object,
                             int (*is_removed)(uintptr_t from))
{
    struct update update = {patchable, object, is_removed};
    int is_different = 0;

    for (size_t i = 0; i < patchable->count; i++)
        is_different |= patchable->entries[i].is_on == is_removed(after(&patchable->entries[i]));
    return is_different ? probity_code_update(object, update_segment, &update) : 0;
}

int probity_patchable_lacks_ends(const struct probity_patchable *patchable,
                                 int (*is_removed)(uintptr_t from), const char *rules)
{
    for (size_t i = 0; i < patchable->count; i++) {
        uintptr_t from = after(&patchable->entries[i]);
        const struct probity_site_function *function =
            is_removed(from) ? NULL : probity_function_find_inside(from);
        if (function != NULL && function != &probity_function_left_out &&
            probity_rules_need_ends(rules, function->name))
            return 1;
    }
    return 0;
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

int probity_patchable_lacks_ends(const struct probity_patchable *patchable,
                                 int (*is_removed)(uintptr_t from), const char *rules)
{
    (void)patchable, (void)is_removed, (void)rules;
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
