/* SPDX-License-Identifier: MIT
 *
 * cpu_patchable.c: see patchable.h; for x86-64. gcc makes five nops of one byte, between which a thread
 * may be stopped at any time. So the call that replaces them has a distance whose bytes are no-op
 * instructions, too: a thread that continues inside the call executes them, and only the first
 * byte, and before it the last one, are stored.
 *
 *     90  90 90 90 90      nop; nop; nop; nop; nop
 *     90  90 90 90 f8      nop; nop; nop; nop; clc
 *     e8  90 90 90 f8      call to this address - 0x76f6f6b
 *
 * So each function calls its own place at that distance, where memory that mirrors the code is
 * mapped: every place has a jump to __fentry__. clang makes one nop of five bytes: it is replaced
 * in steps, by a jump over its rest, then the rest, then the first two bytes, with a barrier for
 * code after each, and all call one place.
 */
#include "functions/patchable.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/os.h"
#include "functions/arena.h"
#include "functions/functions.h"
#include "functions/symbol_table.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0 /* the address is then a hint, and the result is checked */
#endif

#if PROBITY_CPU_HAS_FENTRY

enum {
    NOP = 0x90,
    CALL = 0xe8,
    JUMP_BYTES = 6, /* jmp *distance(%rip) */
    BYTES = PROBITY_PATCHABLE_BYTES,
    COUNT_MAX = 1 << 24
};

extern void __fentry__(void);

/* Of the entries in one segment. */
struct range {
    uintptr_t first, last; /* first > last: none */
    int protection;        /* of the segment */
    int has_short;         /* entries of five nops */
    int32_t distance;      /* of their calls */
    uintptr_t place;       /* that all others call */
};

/* ---- Entries -----------------------------------------------------------------------------------
 */

static int is_in_code(const struct probity_object *object, uintptr_t address)
{
    const ElfW(Phdr) *header = object->headers;

    for (size_t i = 0; i < object->header_count; i++) {
        const uint32_t wanted = PF_R | PF_X;
        uintptr_t start = object->offset + header[i].p_vaddr;
        if (header[i].p_type == PT_LOAD && (header[i].p_flags & wanted) == wanted &&
            header[i].p_filesz > BYTES && address >= start &&
            address - start < header[i].p_filesz - BYTES)
            return 1;
    }
    return 0;
}

/* Returns 0 if the code there is not that of a patchable entry. */
static int examine(const struct probity_object *object, uintptr_t address,
                   struct probity_patchable_entry *ret_entry)
{
    static const uint8_t many[BYTES] = {NOP, NOP, NOP, NOP, NOP};
    static const uint8_t one[BYTES - 1] = {0x0f, 0x1f, 0x44, 0x00}; /* nopl disp8(%rax,%rax) */
    enum { WORD = 8 };
    uint8_t *at = (uint8_t *)address;

    if (!is_in_code(object, address))
        return 0;
    int is_long = memcmp(at, one, sizeof one) == 0;
    /* Its first two bytes must be stored at once. */
    if (is_long ? address % WORD == WORD - 1 : memcmp(at, many, sizeof many) != 0)
        return 0;
    *ret_entry = (struct probity_patchable_entry){
        .at = at, .is_long = (uint8_t)is_long, .last = at[BYTES - 1]};
    return 1;
}

/* With rules, a function is looked up now; otherwise when it is called. */
static int is_selected(const struct probity_patchable_entry *entry)
{
    return !probity_functions_are_selected() ||
           probity_function_find_inside((uintptr_t)entry->at + BYTES) !=
               &probity_function_left_out;
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
        if (!examine(object, address, &entry))
            continue;
        found++;
        if (takes_all || is_selected(&entry))
            patchable->entries[patchable->count++] = entry;
    }
    return found;
}

/* ---- Places ------------------------------------------------------------------------------------
 */

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static uintptr_t page_of(uintptr_t address)
{
    return address / page_bytes() * page_bytes();
}

/* Memory for the places that the entries of five nops call, from the first to the last, and one
 * more page, with a place for all other entries and the address that all jump to. NULL if
 * something is already mapped there. */
static uint8_t *map_places(const struct range *range, int32_t distance, size_t *ret_bytes)
{
    uintptr_t first = range->first + BYTES + (uintptr_t)(intptr_t)distance;
    uintptr_t length = range->has_short ? range->last - range->first : 0;
    uintptr_t start = page_of(first), end = page_of(first + length + JUMP_BYTES) + 2 * page_bytes();

    /* Below the lowest address, or beyond the highest. */
    if ((distance < 0 ? first >= range->first : first < range->first) || start < page_bytes() ||
        end < start)
        return NULL;
    void *at = mmap((void *)start, end - start, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    if ((uintptr_t)at != start) {
        munmap(at, end - start);
        return NULL;
    }
    *ret_bytes = end - start;
    return at;
}

static void put_jump(uint8_t *at, const uint8_t *target)
{
    int32_t distance = (int32_t)(target - (at + JUMP_BYTES));

    at[0] = 0xff;
    at[1] = 0x25;
    memcpy(at + 2, &distance, sizeof distance);
}

/* The bytes that a thread may execute in place of the last nop: nop, clc, stc, cld, cmc, and
 * prefixes without effect. */
static const uint8_t lasts[] = {NOP, 0xf8, 0xf9, 0xfc, 0xf5, 0x2e, 0x26, 0x36};

static int is_in(const struct range *range, const struct probity_patchable_entry *entry)
{
    return (uintptr_t)entry->at >= range->first && (uintptr_t)entry->at <= range->last;
}

static int has_places(const struct range *range, const struct probity_patchable *patchable)
{
    for (size_t i = 0; i < patchable->place_count; i++) {
        if (patchable->places[i].first == range->first)
            return 1;
    }
    return 0;
}

static uint8_t *map_any_places(struct range *range, size_t *ret_bytes)
{
    uint8_t *places = NULL;

    for (size_t i = 0; places == NULL && i < sizeof lasts; i++) {
        range->distance = (int32_t)((uint32_t)lasts[i] << 24 | 0x909090);
        places = map_places(range, range->distance, ret_bytes);
    }
    return places;
}

/* Returns 0, or -1 with errno. */
static int make_places(struct range *range, struct probity_patchable *patchable)
{
    void (*target)(void) = __fentry__;
    size_t bytes = 0;
    uint8_t *places = patchable->place_count < PROBITY_PATCHABLE_SEGMENTS_MAX
                          ? map_any_places(range, &bytes)
                          : NULL;

    if (places == NULL) {
        errno = ENOMEM;
        return -1;
    }
    uint8_t *last = places + bytes - page_bytes();
    memcpy(last, &target, sizeof target);
    range->place = (uintptr_t)last + sizeof target;
    put_jump((uint8_t *)range->place, last);
    for (size_t i = 0; i < patchable->count; i++) {
        struct probity_patchable_entry *entry = &patchable->entries[i];
        uintptr_t after = (uintptr_t)entry->at + BYTES;
        if (!is_in(range, entry))
            continue;
        entry->distance = entry->is_long ? (int32_t)(range->place - after) : range->distance;
        if (!entry->is_long)
            put_jump((uint8_t *)(after + (uintptr_t)(intptr_t)range->distance), last);
    }
    if (mprotect(places, bytes, PROT_READ | PROT_EXEC) != 0) {
        int why = errno;
        munmap(places, bytes);
        errno = why;
        return -1;
    }
    patchable->places[patchable->place_count++] =
        (struct probity_patchable_places){places, bytes, range->first};
    return 0;
}

/* ---- Changes -----------------------------------------------------------------------------------
 */

static void store_two(uint8_t *at, uint8_t first, uint8_t second)
{
    uint16_t both = (uint16_t)(first | second << 8);

    /* A single store, which is not torn: it does not cross a word. */
    __asm__ volatile("movw %1, %0" : "=m"(*(uint16_t *)(void *)at) : "r"(both) : "memory");
}

/* The steps between which all threads pass a barrier for code. */
enum { STEPS = 3 };

static void step(struct probity_patchable_entry *entry, int number, int is_on)
{
    const uint8_t original[BYTES] = {0x0f, 0x1f, 0x44, 0x00, entry->last};
    uint8_t call[BYTES] = {CALL};
    const uint8_t *bytes = is_on ? call : original;

    memcpy(call + 1, &entry->distance, sizeof entry->distance);
    if (entry->is_long && number == 0)
        store_two(entry->at, 0xeb, BYTES - 2);
    else if (entry->is_long && number == 1)
        memcpy(entry->at + 2, bytes + 2, BYTES - 2);
    else if (entry->is_long)
        store_two(entry->at, bytes[0], bytes[1]);
    else if (number == 0 && is_on)
        __atomic_store_n(entry->at + BYTES - 1, call[BYTES - 1], __ATOMIC_RELEASE);
    else if (number == 1)
        __atomic_store_n(entry->at, is_on ? CALL : NOP, __ATOMIC_RELEASE);
    else if (number == 2 && !is_on)
        __atomic_store_n(entry->at + BYTES - 1, NOP, __ATOMIC_RELEASE);
    if (number == STEPS - 1)
        entry->is_on = (uint8_t)is_on;
}

/* Whether the code is as this library left it. It is not if the object was unloaded, and another
 * one is at its place. */
static int is_as_left(const struct probity_patchable_entry *entry)
{
    const uint8_t long_nop[BYTES] = {0x0f, 0x1f, 0x44, 0x00, entry->last};
    const uint8_t nops[BYTES] = {NOP, NOP, NOP, NOP, NOP};
    uint8_t call[BYTES] = {CALL};

    memcpy(call + 1, &entry->distance, sizeof entry->distance);
    return memcmp(entry->at, entry->is_on     ? call
                             : entry->is_long ? long_nop
                                              : nops, BYTES) == 0;
}

/* Marks the entries of the range that are to be changed. Returns 0 if there are none. */
static int mark(const struct range *range, struct probity_patchable *patchable,
                int (*is_removed)(uintptr_t from), int *ret_is_put)
{
    int is_any = 0;

    *ret_is_put = 0;
    for (size_t i = 0; i < patchable->count; i++) {
        struct probity_patchable_entry *entry = &patchable->entries[i];
        entry->is_changing = is_in(range, entry) &&
                             is_removed((uintptr_t)entry->at + BYTES) == entry->is_on &&
                             is_as_left(entry);
        is_any |= entry->is_changing;
        *ret_is_put |= entry->is_changing && !entry->is_on;
    }
    return is_any;
}

/* Switches the marked entries. */
static void change(struct probity_patchable *patchable)
{
    for (int number = 0; number < STEPS; number++) {
        for (size_t i = 0; i < patchable->count; i++) {
            struct probity_patchable_entry *entry = &patchable->entries[i];
            if (entry->is_changing)
                step(entry, number, !entry->is_on);
        }
        probity_os_code_barrier();
    }
}

static int protect(const struct range *range, int protection)
{
    uintptr_t start = page_of(range->first);

    return mprotect((void *)start, range->last + BYTES - start, protection);
}

static struct range range_of(const struct probity_object *object, const ElfW(Phdr) *segment,
                             const struct probity_patchable *patchable)
{
    uintptr_t start = object->offset + segment->p_vaddr;
    struct range range = {.first = UINTPTR_MAX,
                          .protection = (segment->p_flags & PF_R ? PROT_READ : 0) |
                                        (segment->p_flags & PF_W ? PROT_WRITE : 0) | PROT_EXEC};

    for (size_t i = 0; i < patchable->count; i++) {
        uintptr_t at = (uintptr_t)patchable->entries[i].at;
        if (at - start >= segment->p_memsz)
            continue;
        range.first = at < range.first ? at : range.first;
        range.last = at > range.last ? at : range.last;
        range.has_short |= !patchable->entries[i].is_long;
    }
    return range;
}

static int is_code(const ElfW(Phdr) *segment)
{
    return segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0;
}

/* Returns 0, or -1 with errno. */
static int update_segment(struct probity_patchable *patchable, struct range *range,
                          int (*is_removed)(uintptr_t from))
{
    int is_put;

    if (range->first > range->last || !mark(range, patchable, is_removed, &is_put))
        return 0;
    if ((is_put && !has_places(range, patchable) && make_places(range, patchable) != 0) ||
        protect(range, range->protection | PROT_WRITE) != 0)
        return -1;
    change(patchable);
    return protect(range, range->protection);
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

    /* A call, whose distance is that of this object's places, is proof enough. */
    for (size_t i = 0; i < count; i++) {
        if (probity_object_bytes(object, first[i].at) < BYTES || !is_as_left(&first[i]))
            return 0;
    }
    return 1;
}

int probity_patchable_update(struct probity_patchable *patchable,
                             const struct probity_object *object,
                             int (*is_removed)(uintptr_t from))
{
    const ElfW(Phdr) *header = object->headers;
    int is_different = 0, why = 0;

    for (size_t i = 0; i < patchable->count; i++)
        is_different |=
            patchable->entries[i].is_on == is_removed((uintptr_t)patchable->entries[i].at + BYTES);
    if (!is_different)
        return 0;
    if (probity_os_code_barrier() != 0 && !probity_os_is_single_threaded()) {
        errno = ENOSYS;
        return -1;
    }
    for (size_t i = 0; i < object->header_count; i++) {
        struct range range = {.first = 1};
        if (is_code(&header[i]))
            range = range_of(object, &header[i], patchable);
        if (update_segment(patchable, &range, is_removed) != 0)
            why = errno;
    }
    errno = why != 0 ? why : errno;
    return why != 0 ? -1 : 0;
}

#elif !PROBITY_CPU_HAS_SLEDS

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
