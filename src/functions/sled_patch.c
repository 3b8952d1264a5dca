/* SPDX-License-Identifier: MIT
 *
 * sled_patch.c: see sled_patch.h. A sled jumps to its stub, in memory near the object's code, which
 * leads to the library. The stubs are made once, and remain until the object is unloaded: a thread
 * may execute them after the sled was restored. Afterwards the code has the protection in the
 * object's headers.
 */
#include "functions/sled_patch.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"
#include "functions/arena.h"
#include "functions/code_segments.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0 /* without it, the address is a hint, and the result is checked */
#endif

enum { NEAREST = 1 << 16, FARTHEST = 1 << 30 };

/* The sleds in one segment. */
struct range {
    uintptr_t first, last; /* sleds; first > last: none */
    int protection;        /* protection of the segment */
    size_t count;
};

/* ---- Stubs -------------------------------------------------------------------------------------
 */

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Maps new memory at or near an address; NULL if it would be out of reach. */
static uint8_t *map_at(uintptr_t first, uintptr_t last, uintptr_t address, size_t bytes)
{
    void *at = mmap((void *)(address / page_bytes() * page_bytes()), bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    if (probity_cpu_sled_reaches(first, (uintptr_t)at, bytes) &&
        probity_cpu_sled_reaches(last, (uintptr_t)at, bytes))
        return at;
    munmap(at, bytes);
    return NULL;
}

/* Tries below the code first, since the program's heap is above it. */
uint8_t *probity_sleds_map_near(uintptr_t first, uintptr_t last, size_t bytes)
{
    uint8_t *at = NULL;

    for (uintptr_t distance = NEAREST; at == NULL && distance <= FARTHEST; distance *= 2) {
        if (distance < first)
            at = map_at(first, last, first - distance, bytes);
    }
    for (uintptr_t distance = FARTHEST; at == NULL && distance >= NEAREST; distance /= 2)
        at = map_at(first, last, last + distance, bytes);
    return at;
}

static int is_in(const struct range *range, const struct probity_sled_change *change)
{
    return (uintptr_t)change->at >= range->first && (uintptr_t)change->at <= range->last;
}

/* Returns 0, or -1 with errno. */
static int make_stubs(const struct range *range, struct probity_sleds *sleds)
{
    size_t bytes = PROBITY_CPU_SLED_LINKS_BYTES + range->count * PROBITY_CPU_SLED_STUB_BYTES;
    uint8_t *made = sleds->stub_count < PROBITY_SLED_SEGMENTS_MAX
                        ? probity_sleds_map_near(range->first, range->last, bytes)
                        : NULL;
    uint8_t *next = made + PROBITY_CPU_SLED_LINKS_BYTES;

    if (made == NULL) {
        errno = ENOMEM;
        return -1;
    }
    probity_cpu_sled_make_links(made);
    for (size_t i = 0; i < sleds->count; i++) {
        struct probity_sled_change *change = &sleds->changes[i];
        if (!is_in(range, change))
            continue;
        probity_cpu_sled_make_stub(next, made, change->at, change->kind, change->id);
        change->stub = next;
        next += PROBITY_CPU_SLED_STUB_BYTES;
    }
    __builtin___clear_cache((char *)made, (char *)made + bytes);
    if (probity_code_finish(made, bytes) == 0) {
        sleds->stubs[sleds->stub_count++] = (struct probity_sled_stubs){made, bytes};
        return 0;
    }
    for (size_t i = 0; i < sleds->count; i++)
        sleds->changes[i].stub = is_in(range, &sleds->changes[i]) ? NULL : sleds->changes[i].stub;
    return -1;
}

/* ---- Sleds -------------------------------------------------------------------------------------
 */

/* Finds the range of the sleds in a segment. */
static struct range find_range(const struct probity_object *object, const ElfW(Phdr) *segment,
                               const struct probity_sleds *sleds)
{
    struct range range = {UINTPTR_MAX, 0, probity_code_protection(segment), 0};
    uintptr_t start = object->offset + segment->p_vaddr;

    for (size_t i = 0; i < sleds->count; i++) {
        uintptr_t at = (uintptr_t)sleds->changes[i].at;
        if (at - start >= segment->p_memsz)
            continue;
        range.first = at < range.first ? at : range.first;
        range.last = at > range.last ? at : range.last;
        range.count++;
    }
    return range;
}

static int protect(const struct range *range, int protection)
{
    return probity_code_protect(range->first, range->last + PROBITY_CPU_SLED_BYTES, protection);
}

static int is_as_left(const struct probity_sled_change *change)
{
    return probity_cpu_sled_state(change->at, change->kind) ==
           (change->is_on ? PROBITY_CPU_SLED_ON : PROBITY_CPU_SLED_OFF);
}

/* Marks the sleds of the range that must be changed. Returns 0 if there are none. */
static int mark(const struct range *range, struct probity_sleds *sleds,
                int (*is_removed)(uint32_t id), int *ret_needs_stubs)
{
    int is_any = 0;

    *ret_needs_stubs = 0;
    for (size_t i = 0; i < sleds->count; i++) {
        struct probity_sled_change *change = &sleds->changes[i];
        change->is_changing = is_in(range, change) && is_removed(change->id) == change->is_on &&
                              is_as_left(change);
        is_any |= change->is_changing;
        *ret_needs_stubs |= change->is_changing && change->stub == NULL;
    }
    return is_any;
}

/* A thread that runs meanwhile executes each sled in its old or its new form. */
static void change(struct probity_sleds *sleds)
{
    for (int step = 0; step < PROBITY_CPU_SLED_STEPS; step++) {
        for (size_t i = 0; i < sleds->count; i++) {
            const struct probity_sled_change *change = &sleds->changes[i];
            if (change->is_changing && change->is_on)
                probity_cpu_sled_take_out(change->at, change->kind, step);
            else if (change->is_changing)
                probity_cpu_sled_put(change->at, change->stub, step);
            if (change->is_changing)
                __builtin___clear_cache((char *)change->at,
                                        (char *)change->at + PROBITY_CPU_SLED_BYTES);
        }
        probity_os_code_barrier();
    }
    for (size_t i = 0; i < sleds->count; i++)
        sleds->changes[i].is_on ^= sleds->changes[i].is_changing;
}

struct update {
    struct probity_sleds *sleds;
    const struct probity_object *object;
    int (*is_removed)(uint32_t id);
};

static int update_segment(void *context, const ElfW(Phdr) *segment)
{
    const struct update *update = context;
    struct probity_sleds *sleds = update->sleds;
    struct range range = find_range(update->object, segment, sleds);
    int needs_stubs;

    if (range.count == 0 || !mark(&range, sleds, update->is_removed, &needs_stubs))
        return 0;
    if ((needs_stubs && make_stubs(&range, sleds) != 0) ||
        protect(&range, range.protection | PROT_WRITE) != 0)
        return -1;
    change(sleds);
    return protect(&range, range.protection);
}

int probity_sleds_are_there(const struct probity_sleds *sleds, const struct probity_object *object)
{
    const struct probity_sled_change *first = sleds->changes;
    size_t count = first != NULL && first->is_on ? 1 : sleds->count;

    /* If one sled is replaced, that proves that the code is unchanged. */
    for (size_t i = 0; i < count; i++) {
        if (probity_object_bytes(object, first[i].at) < PROBITY_CPU_SLED_BYTES ||
            !is_as_left(&first[i]))
            return 0;
    }
    return 1;
}

int probity_sleds_change(struct probity_sleds *sleds, const struct probity_object *object,
                         int (*is_removed)(uint32_t id))
{
    struct update update = {sleds, object, is_removed};
    int is_different = 0;

    for (size_t i = 0; i < sleds->count; i++)
        is_different |= sleds->changes[i].is_on == is_removed(sleds->changes[i].id);
    return is_different ? probity_code_update(object, update_segment, &update) : 0;
}

void probity_sleds_forget(struct probity_sleds *sleds)
{
    if (sleds->changes != NULL)
        probity_arena_unmap(sleds->changes, sleds->bytes);
    for (size_t i = 0; i < sleds->stub_count; i++)
        probity_arena_unmap(sleds->stubs[i].at, sleds->stubs[i].bytes);
    *sleds = (struct probity_sleds){.changes = NULL};
}
