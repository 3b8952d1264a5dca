/* SPDX-License-Identifier: MIT
 *
 * cpu_patchable_aarch64.c: patchable.h on AArch64. The first no-op instruction of an entry is
 * replaced with a branch to a stub, which the architecture allows while threads execute it; any
 * further ones stay:
 *
 *     nop           ->   b STUB
 *
 *     stub:  stp x16, x17, [sp, #-32]!;  str x30, [sp, #24]
 *            ldr x16, FROM;  bl LINK
 *            ldr x30, [sp, #24];  ldp x16, x17, [sp], #32;  b FROM
 *     FROM:  the address after the branch
 *
 * The return address is where sleds have it (cpu_sleds_aarch64.c).
 */
#include "functions/patchable.h"

#include "base/cpu.h"

#ifdef __aarch64__
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"
#include "functions/arena.h"
#include "functions/cpu_sleds.h"
#include "functions/functions.h"
#include "functions/sled_patch.h"
#include "functions/symbol_table.h"

enum {
    WORD = 4,
    LINK_BYTES = 16, /* ldr x17, .+8; br x17; and the address */
    STUB_WORDS = 8,
    STUB_BYTES = STUB_WORDS * WORD + 8,
    COUNT_MAX = 1 << 24
};

#define NOP UINT32_C(0xd503201f)
#define BRANCH UINT32_C(0x14000000)
#define BRANCH_LINK UINT32_C(0x94000000)
#define DISTANCE_MASK UINT32_C(0x03ffffff)

extern const uint8_t probity_cpu_patchable_code[] __attribute__((visibility("hidden")));

/* Of the entries in one segment. */
struct range {
    uintptr_t first, last; /* first > last: none */
    int protection;        /* of the segment */
    size_t count;
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
            header[i].p_filesz >= WORD && address >= start &&
            address - start <= header[i].p_filesz - WORD)
            return 1;
    }
    return 0;
}

static uintptr_t after(const struct probity_patchable_entry *entry)
{
    return (uintptr_t)entry->at + WORD;
}

/* With rules, a function is looked up now; otherwise when it is called. */
static int is_selected(const struct probity_patchable_entry *entry)
{
    return !probity_functions_are_selected() ||
           probity_function_find_inside(after(entry)) != &probity_function_left_out;
}

static uint32_t branch(uint32_t operation, int64_t distance)
{
    return operation | ((uint32_t)(distance / WORD) & DISTANCE_MASK);
}

/* The instruction, as the compiler or this library has left it. */
static uint32_t instruction_of(const struct probity_patchable_entry *entry)
{
    return entry->is_on ? branch(BRANCH, entry->distance) : NOP;
}

static int is_as_left(const struct probity_patchable_entry *entry)
{
    return __atomic_load_n((const uint32_t *)(const void *)entry->at, __ATOMIC_RELAXED) ==
           instruction_of(entry);
}

/* Returns the number of entries in the section that are valid. */
static size_t choose(const struct probity_object *object, const uint8_t *section, size_t bytes,
                     int takes_all, struct probity_patchable *patchable)
{
    uintptr_t address;
    size_t found = 0;

    for (size_t i = 0; i + sizeof address <= bytes; i += sizeof address) {
        memcpy(&address, section + i, sizeof address);
        struct probity_patchable_entry entry = {.at = (uint8_t *)address};
        if (address % WORD != 0 || !is_in_code(object, address) || !is_as_left(&entry))
            continue;
        found++;
        if (takes_all || is_selected(&entry))
            patchable->entries[patchable->count++] = entry;
    }
    return found;
}

/* ---- Stubs -------------------------------------------------------------------------------------
 */

static void make_stub(uint8_t *stub, const uint8_t *link,
                      const struct probity_patchable_entry *entry)
{
    enum { CALL_AT = 3 * WORD, BACK_AT = 6 * WORD, FROM_AT = STUB_WORDS * WORD };
    uintptr_t from = after(entry);
    const uint32_t code[STUB_WORDS] = {
        0xa9be47f0, /* stp x16, x17, [sp, #-32]! */
        0xf9000ffe, /* str x30, [sp, #24] */
        0x580000d0, /* ldr x16, .+24 */
        branch(BRANCH_LINK, link - (stub + CALL_AT)),
        0xf9400ffe, /* ldr x30, [sp, #24] */
        0xa8c247f0, /* ldp x16, x17, [sp], #32 */
        branch(BRANCH, (int64_t)from - (int64_t)(uintptr_t)(stub + BACK_AT)), NOP};

    memcpy(stub, code, sizeof code);
    memcpy(stub + FROM_AT, &from, sizeof from);
}

static int is_in(const struct range *range, const struct probity_patchable_entry *entry)
{
    return (uintptr_t)entry->at >= range->first && (uintptr_t)entry->at <= range->last;
}

static void fill(const struct range *range, uint8_t *places, struct probity_patchable *patchable)
{
    static const uint32_t jump[] = {0x58000051, 0xd61f0220};
    const uint8_t *target = probity_cpu_patchable_code;
    uint8_t *next = places + LINK_BYTES;

    memcpy(places, jump, sizeof jump);
    memcpy(places + sizeof jump, &target, sizeof target);
    for (size_t i = 0; i < patchable->count; i++) {
        struct probity_patchable_entry *entry = &patchable->entries[i];
        if (!is_in(range, entry))
            continue;
        make_stub(next, places, entry);
        entry->distance = (int32_t)(next - entry->at);
        next += STUB_BYTES;
    }
}

/* Returns 0, or -1 with errno. */
static int make_stubs(const struct range *range, struct probity_patchable *patchable)
{
    size_t bytes = LINK_BYTES + range->count * STUB_BYTES;
    uint8_t *places = patchable->place_count < PROBITY_PATCHABLE_SEGMENTS_MAX
                          ? probity_sleds_map_near(range->first, range->last, bytes)
                          : NULL;

    if (places == NULL) {
        errno = ENOMEM;
        return -1;
    }
    fill(range, places, patchable);
    __builtin___clear_cache((char *)places, (char *)places + bytes);
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

static int has_stubs(const struct range *range, const struct probity_patchable *patchable)
{
    for (size_t i = 0; i < patchable->place_count; i++) {
        if (patchable->places[i].first == range->first)
            return 1;
    }
    return 0;
}

/* ---- Changes -----------------------------------------------------------------------------------
 */

/* Marks the entries of the range that are to be changed. Returns 0 if there are none. */
static int mark(const struct range *range, struct probity_patchable *patchable,
                int (*is_removed)(uintptr_t from))
{
    int is_any = 0;

    for (size_t i = 0; i < patchable->count; i++) {
        struct probity_patchable_entry *entry = &patchable->entries[i];
        entry->is_changing = is_in(range, entry) && is_removed(after(entry)) == entry->is_on &&
                             is_as_left(entry);
        is_any |= entry->is_changing;
    }
    return is_any;
}

static void change(struct probity_patchable *patchable)
{
    for (size_t i = 0; i < patchable->count; i++) {
        struct probity_patchable_entry *entry = &patchable->entries[i];
        if (!entry->is_changing)
            continue;
        entry->is_on = !entry->is_on;
        /* Release: pairs with the barrier for code, which makes all threads see the stub. */
        __atomic_store_n((uint32_t *)(void *)entry->at, instruction_of(entry), __ATOMIC_RELEASE);
        __builtin___clear_cache((char *)entry->at, (char *)entry->at + WORD);
    }
    probity_os_code_barrier();
}

static int protect(const struct range *range, int protection)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = range->first / page * page;

    return mprotect((void *)start, range->last + WORD - start, protection);
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
        range.count++;
    }
    return range;
}

/* Returns 0, or -1 with errno. */
static int update_segment(struct probity_patchable *patchable, const struct range *range,
                          int (*is_removed)(uintptr_t from))
{
    if (range->count == 0 || !mark(range, patchable, is_removed))
        return 0;
    if ((!has_stubs(range, patchable) && make_stubs(range, patchable) != 0) ||
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

    /* A branch to this object's stub is proof enough. */
    for (size_t i = 0; i < count; i++) {
        if (probity_object_bytes(object, first[i].at) < WORD || !is_as_left(&first[i]))
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
            patchable->entries[i].is_on == is_removed(after(&patchable->entries[i]));
    if (!is_different)
        return 0;
    if (probity_os_code_barrier() != 0 && !probity_os_is_single_threaded()) {
        errno = ENOSYS;
        return -1;
    }
    for (size_t i = 0; i < object->header_count; i++) {
        struct range range = {.count = 0};
        if (header[i].p_type == PT_LOAD && (header[i].p_flags & PF_X) != 0)
            range = range_of(object, &header[i], patchable);
        if (update_segment(patchable, &range, is_removed) != 0)
            why = errno;
    }
    errno = why != 0 ? why : errno;
    return why != 0 ? -1 : 0;
}
#endif
