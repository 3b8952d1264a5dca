/* SPDX-License-Identifier: MIT
 *
 * cpu_patchable.c: see cpu_patchable.h; for x86-64. gcc makes five nops of one byte, between which
 * a thread may be stopped at any time. Therefore the distance of the call that replaces them also
 * consists of bytes that are no-op instructions: a thread that continues inside the call executes
 * them. Only the last byte and then the first are stored.
 *
 *     90  90 90 90 90      nop; nop; nop; nop; nop
 *     90  90 90 90 f8      nop; nop; nop; nop; clc
 *     e8  90 90 90 f8      call to this address - 0x76f6f6b
 *
 * So each function calls a different place, at that distance, in memory that mirrors the code:
 * every place has a jump to __fentry__. clang makes one nop of five bytes. It is replaced in steps,
 * with a barrier for code after each: a jump over the rest, then the rest, then the first two
 * bytes; all such entries call the same place.
 */
#include "functions/cpu_patchable.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0 /* without it, the address is a hint, and the result is checked */
#endif

#if PROBITY_CPU_HAS_FENTRY

enum {
    NOP = 0x90,
    CALL = 0xe8,
    JUMP_BYTES = 6, /* jmp *distance(%rip) */
    BYTES = PROBITY_PATCHABLE_BYTES
};

extern void __fentry__(void);

int probity_cpu_patchable_examine(uintptr_t address, struct probity_patchable_entry *ret_entry)
{
    static const uint8_t many[BYTES] = {NOP, NOP, NOP, NOP, NOP};
    static const uint8_t one[BYTES - 1] = {0x0f, 0x1f, 0x44, 0x00}; /* nopl disp8(%rax,%rax) */
    enum { WORD = 8 };
    uint8_t *at = (uint8_t *)address;
    int is_long = memcmp(at, one, sizeof one) == 0;

    /* Its first two bytes must be replaced with a single store. */
    if (is_long ? address % WORD == WORD - 1 : memcmp(at, many, sizeof many) != 0)
        return 0;
    *ret_entry = (struct probity_patchable_entry){
        .at = at, .is_long = (uint8_t)is_long, .last = at[BYTES - 1]};
    return 1;
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

/* Maps memory for the places (trampolines) that entries of five nops call, from the first to the
 * last, and one more page with a place for all other entries and the address to which all places
 * jump. Returns NULL if something is already mapped there. */
static uint8_t *map_places(const struct probity_patchable_range *range, int32_t distance,
                           size_t *ret_bytes)
{
    uintptr_t first = range->first + BYTES + (uintptr_t)(intptr_t)distance;
    uintptr_t length = range->has_short ? range->last - range->first : 0;
    uintptr_t start = page_of(first), end = page_of(first + length + JUMP_BYTES) + 2 * page_bytes();

    /* The memory would begin below the lowest address or end beyond the highest. */
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

/* The bytes that a thread may execute instead of the last nop: nop, clc, stc, cld, cmc, and
 * prefixes without effect. */
static const uint8_t lasts[] = {NOP, 0xf8, 0xf9, 0xfc, 0xf5, 0x2e, 0x26, 0x36};

static uint8_t *map_any_places(struct probity_patchable_range *range, size_t *ret_bytes)
{
    uint8_t *places = NULL;

    for (size_t i = 0; places == NULL && i < sizeof lasts; i++) {
        range->distance = (int32_t)((uint32_t)lasts[i] << 24 | 0x909090);
        places = map_places(range, range->distance, ret_bytes);
    }
    return places;
}

uint8_t *probity_cpu_patchable_make_places(struct probity_patchable_range *range,
                                           struct probity_patchable *patchable,
                                           size_t *ret_bytes)
{
    void (*target)(void) = __fentry__;
    uint8_t *places = map_any_places(range, ret_bytes);

    if (places == NULL)
        return NULL;
    uint8_t *last = places + *ret_bytes - page_bytes();
    memcpy(last, &target, sizeof target);
    range->place = (uintptr_t)last + sizeof target;
    put_jump((uint8_t *)range->place, last);
    for (size_t i = 0; i < patchable->count; i++) {
        struct probity_patchable_entry *entry = &patchable->entries[i];
        uintptr_t after = (uintptr_t)entry->at + BYTES;
        if (!probity_patchable_is_in(range, entry))
            continue;
        entry->distance = entry->is_long ? (int32_t)(range->place - after) : range->distance;
        if (!entry->is_long)
            put_jump((uint8_t *)(after + (uintptr_t)(intptr_t)range->distance), last);
    }
    return places;
}

/* ---- Changes -----------------------------------------------------------------------------------
 */

static void store_two(uint8_t *at, uint8_t first, uint8_t second)
{
    uint16_t both = (uint16_t)(first | second << 8);

    /* A single store, which is not torn, since it does not cross a word. */
    __asm__ volatile("movw %1, %0" : "=m"(*(uint16_t *)(void *)at) : "r"(both) : "memory");
}

/* The steps, between which all threads pass a barrier for code. */
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

int probity_cpu_patchable_is_as_left(const struct probity_patchable_entry *entry)
{
    const uint8_t long_nop[BYTES] = {0x0f, 0x1f, 0x44, 0x00, entry->last};
    const uint8_t nops[BYTES] = {NOP, NOP, NOP, NOP, NOP};
    uint8_t call[BYTES] = {CALL};

    memcpy(call + 1, &entry->distance, sizeof entry->distance);
    return memcmp(entry->at, entry->is_on     ? call
                             : entry->is_long ? long_nop
                                              : nops, BYTES) == 0;
}

void probity_cpu_patchable_change(struct probity_patchable *patchable)
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

#endif
