/* SPDX-License-Identifier: MIT
 *
 * sled_patch.c: see sled_patch.h. A sled calls code that is near it: a page of stubs, which lead to
 * the library. A page is used by all objects that can reach it, and remains when they are unloaded.
 *
 * Code becomes writable without ceasing to be executable, in one call, so that a policy that
 * forbids it leaves everything as it was. Afterwards it has the protection in the object's headers.
 */
#include "functions/sled_patch.h"

#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0 /* the address is then a hint, and the result is checked */
#endif

enum { STUB_PAGES_MAX = 64, NEAREST = 1 << 16, FARTHEST = 1 << 30 };

/* Filled from the beginning. */
static uint8_t *stub_pages[STUB_PAGES_MAX];

/* Of the sleds to be replaced in one segment. */
struct range {
    uintptr_t first, last; /* sleds; first > last: none */
    int protection;        /* of the segment */
};

/* ---- Stubs -------------------------------------------------------------------------------------
 */

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static int is_reached(const struct range *range, const void *stubs)
{
    return probity_cpu_sled_reaches(range->first, (uintptr_t)stubs) &&
           probity_cpu_sled_reaches(range->last, (uintptr_t)stubs);
}

/* A new page at or near an address; NULL if it would be out of reach. */
static uint8_t *map_at(const struct range *range, uintptr_t address)
{
    void *at = mmap((void *)(address / page_bytes() * page_bytes()), page_bytes(),
                    PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    if (is_reached(range, at))
        return at;
    munmap(at, page_bytes());
    return NULL;
}

/* Below the code first, since the heap of a program is above it. */
static uint8_t *map_near(const struct range *range)
{
    uint8_t *at = NULL;

    for (uintptr_t distance = NEAREST; at == NULL && distance <= FARTHEST; distance *= 2) {
        if (distance < range->first)
            at = map_at(range, range->first - distance);
    }
    for (uintptr_t distance = FARTHEST; at == NULL && distance >= NEAREST; distance /= 2)
        at = map_at(range, range->last + distance);
    return at;
}

static const uint8_t *make_stubs(const struct range *range, uint8_t **place)
{
    uint8_t *made = map_near(range);

    if (made == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    probity_cpu_sled_make_stubs(made);
    if (mprotect(made, page_bytes(), PROT_READ | PROT_EXEC) != 0) {
        int why = errno;
        munmap(made, page_bytes());
        errno = why;
        return NULL;
    }
    *place = made;
    return made;
}

static const uint8_t *find_stubs(const struct range *range)
{
    for (size_t i = 0; i < STUB_PAGES_MAX; i++) {
        if (stub_pages[i] == NULL)
            return make_stubs(range, &stub_pages[i]);
        if (is_reached(range, stub_pages[i]))
            return stub_pages[i];
    }
    errno = ENOMEM;
    return NULL;
}

/* ---- Sleds -------------------------------------------------------------------------------------
 */

static int protection_of(const ElfW(Phdr) *segment)
{
    return (segment->p_flags & PF_R ? PROT_READ : 0) | (segment->p_flags & PF_W ? PROT_WRITE : 0) |
           (segment->p_flags & PF_X ? PROT_EXEC : 0);
}

/* Of the sleds in a segment. */
static struct range find_range(const struct probity_object *object, const ElfW(Phdr) *segment,
                               const struct probity_sled_change *changes, size_t count)
{
    struct range range = {UINTPTR_MAX, 0, protection_of(segment)};
    uintptr_t start = object->offset + segment->p_vaddr;

    for (size_t i = 0; i < count; i++) {
        uintptr_t at = (uintptr_t)changes[i].at;
        if (at - start >= segment->p_memsz)
            continue;
        range.first = at < range.first ? at : range.first;
        range.last = at > range.last ? at : range.last;
    }
    return range;
}

static int protect(const struct range *range, int protection)
{
    uintptr_t start = range->first / page_bytes() * page_bytes();
    uintptr_t end = range->last + PROBITY_CPU_SLED_BYTES;

    return mprotect((void *)start, end - start, protection);
}

static int is_in(const struct range *range, const struct probity_sled_change *change)
{
    return (uintptr_t)change->at >= range->first && (uintptr_t)change->at <= range->last;
}

/* A thread that runs meanwhile executes each sled as it was, or as it will be. */
static void replace(const struct range *range, const uint8_t *stubs,
                    const struct probity_sled_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (is_in(range, &changes[i]))
            probity_cpu_sled_prepare(changes[i].at, changes[i].kind, changes[i].id, stubs);
    }
    probity_os_code_barrier();
    for (size_t i = 0; i < count; i++) {
        if (is_in(range, &changes[i]))
            probity_cpu_sled_switch_on(changes[i].at, changes[i].kind);
    }
    probity_os_code_barrier();
}

/* The desired state of a segment's sleds. */
enum wanted { REPLACED, SWITCHED_OFF, SWITCHED_ON };

static void switch_all(const struct range *range, const struct probity_sled_change *changes,
                       size_t count, enum wanted wanted)
{
    for (size_t i = 0; i < count; i++) {
        if (!is_in(range, &changes[i]))
            continue;
        if (wanted == SWITCHED_OFF)
            probity_cpu_sled_switch_off(changes[i].at, changes[i].kind);
        else
            probity_cpu_sled_switch_on(changes[i].at, changes[i].kind);
    }
    probity_os_code_barrier();
}

static int change_segment(const struct probity_object *object, const ElfW(Phdr) *segment,
                          const struct probity_sled_change *changes, size_t count,
                          enum wanted wanted)
{
    struct range range = find_range(object, segment, changes, count);

    if (range.first > range.last)
        return 0;
    const uint8_t *stubs = wanted == REPLACED ? find_stubs(&range) : NULL;
    if ((wanted == REPLACED && stubs == NULL) ||
        protect(&range, range.protection | PROT_WRITE) != 0)
        return -1;
    if (wanted == REPLACED)
        replace(&range, stubs, changes, count);
    else
        switch_all(&range, changes, count, wanted);
    return protect(&range, range.protection);
}

static int change(const struct probity_object *object, const struct probity_sled_change *changes,
                  size_t count, enum wanted wanted)
{
    const ElfW(Phdr) *header = object->headers;
    int result = 0, why = 0;

    if (probity_os_code_barrier() != 0 && !probity_os_is_single_threaded()) {
        errno = ENOSYS;
        return -1;
    }
    for (size_t i = 0; i < object->header_count; i++) {
        if (header[i].p_type != PT_LOAD || (header[i].p_flags & PF_X) == 0 ||
            change_segment(object, &header[i], changes, count, wanted) == 0)
            continue;
        result = -1;
        why = errno;
    }
    errno = why;
    return result;
}

int probity_sleds_patch(const struct probity_object *object,
                        const struct probity_sled_change *changes, size_t count)
{
    return change(object, changes, count, REPLACED);
}

int probity_sleds_switch(const struct probity_object *object,
                         const struct probity_sled_change *changes, size_t count, int is_on)
{
    return change(object, changes, count, is_on ? SWITCHED_ON : SWITCHED_OFF);
}
