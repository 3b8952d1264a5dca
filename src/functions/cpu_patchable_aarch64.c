/* SPDX-License-Identifier: MIT
 *
 * cpu_patchable_aarch64.c: cpu_patchable.h on AArch64. The first no-op instruction of an entry is
 * replaced with a branch to a stub, which the architecture allows while threads execute it; any
 * further ones remain:
 *
 *     nop           ->   b STUB
 *
 *     stub:  stp x16, x17, [sp, #-32]!;  str x30, [sp, #24]
 *            ldr x16, FROM;  bl LINK
 *            ldr x30, [sp, #24];  ldp x16, x17, [sp], #32;  b FROM
 *     FROM:  the address after the branch
 *
 * The return address is stored in the same place as by sleds (cpu_sleds_aarch64.c).
 */
#include "functions/cpu_patchable.h"

#ifdef __aarch64__
#include <string.h>

#include "base/os.h"
#include "functions/cpu_sleds.h"
#include "functions/sled_patch.h"

enum {
    WORD = PROBITY_PATCHABLE_BYTES,
    LINK_BYTES = 16, /* ldr x17, .+8; br x17; and the address */
    STUB_WORDS = 8,
    STUB_BYTES = STUB_WORDS * WORD + 8
};

#define NOP UINT32_C(0xd503201f)
#define BRANCH UINT32_C(0x14000000)
#define BRANCH_LINK UINT32_C(0x94000000)
#define DISTANCE_MASK UINT32_C(0x03ffffff)

extern const uint8_t probity_cpu_patchable_code[] __attribute__((visibility("hidden")));

/* ---- Entries -----------------------------------------------------------------------------------
 */

static uintptr_t after(const struct probity_patchable_entry *entry)
{
    return (uintptr_t)entry->at + WORD;
}

static uint32_t branch(uint32_t operation, int64_t distance)
{
    return operation | ((uint32_t)(distance / WORD) & DISTANCE_MASK);
}

/* Returns the instruction, as the compiler or this library has left it. */
static uint32_t instruction_of(const struct probity_patchable_entry *entry)
{
    return entry->is_on ? branch(BRANCH, entry->distance) : NOP;
}

int probity_cpu_patchable_is_as_left(const struct probity_patchable_entry *entry)
{
    return __atomic_load_n((const uint32_t *)(const void *)entry->at, __ATOMIC_RELAXED) ==
           instruction_of(entry);
}

int probity_cpu_patchable_examine(uintptr_t address, struct probity_patchable_entry *ret_entry)
{
    const struct probity_patchable_entry entry = {.at = (uint8_t *)address};

    if (address % WORD != 0 || !probity_cpu_patchable_is_as_left(&entry))
        return 0;
    *ret_entry = entry;
    return 1;
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

static void fill(const struct probity_patchable_range *range, uint8_t *places,
                 struct probity_patchable *patchable)
{
    static const uint32_t jump[] = {0x58000051, 0xd61f0220};
    const uint8_t *target = probity_cpu_patchable_code;
    uint8_t *next = places + LINK_BYTES;

    memcpy(places, jump, sizeof jump);
    memcpy(places + sizeof jump, &target, sizeof target);
    for (size_t i = 0; i < patchable->count; i++) {
        struct probity_patchable_entry *entry = &patchable->entries[i];
        if (!probity_patchable_is_in(range, entry))
            continue;
        make_stub(next, places, entry);
        entry->distance = (int32_t)(next - entry->at);
        next += STUB_BYTES;
    }
}

uint8_t *probity_cpu_patchable_make_places(struct probity_patchable_range *range,
                                           struct probity_patchable *patchable,
                                           size_t *ret_bytes)
{
    size_t bytes = LINK_BYTES + range->count * STUB_BYTES;
    uint8_t *places = probity_sleds_map_near(range->first, range->last, bytes);

    if (places == NULL)
        return NULL;
    fill(range, places, patchable);
    __builtin___clear_cache((char *)places, (char *)places + bytes);
    *ret_bytes = bytes;
    return places;
}

/* ---- Changes -----------------------------------------------------------------------------------
 */

void probity_cpu_patchable_change(struct probity_patchable *patchable)
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

#endif
