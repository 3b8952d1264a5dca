/* SPDX-License-Identifier: MIT
 *
 * cpu_sleds.c: cpu_sleds.h on x86-64; other CPUs have no sleds here.
 *
 * Sleds have 11 bytes at an even address, so that two bytes can be stored at once:
 *
 *     eb 09 66 0f 1f 84 00 00 02 00 00    jmp past a nop        enter, tail
 *     c3 2e 66 0f 1f 84 00 00 02 00 00    ret, then a nop       leave
 *     41 bb ID          e8 DISTANCE       mov ID, %r11d; call   enter
 *     41 bb ID          e9 DISTANCE       mov ID, %r11d; jmp    leave
 *     41 ba ID          e8 DISTANCE       mov ID, %r10d; call   tail
 *
 * At the beginning of a function %r10 may hold its static chain, and before a jump %r11 the
 * destination. The nop has a displacement that assemblers do not use for alignment. No return
 * address is replaced, and calls and returns are paired, as shadow stacks require.
 */
#include "functions/cpu_sleds.h"

#include <string.h>

#include "base/cpu.h"

#if PROBITY_CPU_HAS_FENTRY

enum {
    STUB_BYTES = 16, /* jmp *2(%rip), padding, and at 8 the address */
    DISTANCE_AT = 7, /* in a sled */
    ID_AT = 2
};

/* Saves registers that a caller may expect to be unchanged, or that hold parameters or return
 * values. */
#define PUSH(name) "pushq %" name "\n\t.cfi_adjust_cfa_offset 8\n\t"
#define POP(name) "popq %" name "\n\t.cfi_adjust_cfa_offset -8\n\t"
#define PUSH_ALL PUSH("rax") PUSH("rcx") PUSH("rdx") PUSH("rsi") PUSH("rdi") PUSH("r8") PUSH("r9")
#define POP_ALL POP("r9") POP("r8") POP("rdi") POP("rsi") POP("rdx") POP("rcx") POP("rax")
#define BEGIN(name)                                                                                \
    ".globl " name "\n\t.hidden " name "\n\t.type " name ", @function\n\t.p2align 4\n" name        \
    ":\n\t.cfi_startproc\n\tendbr64\n\t"
#define END(name) "ret\n\t.cfi_endproc\n\t.size " name ", . - " name "\n\t"

/* In each, the stack is aligned at the call, if the function's was: seven or eight words and the
 * return address of the sled's call, or nine words. */
__asm__(".pushsection .text.probity_cpu_sleds, \"ax\", @progbits\n\t"
        BEGIN("probity_cpu_sled_enter_code") PUSH_ALL PUSH("r10")
        "movl %r11d, %edi\n\tleaq 72(%rsp), %rsi\n\tcall probity_sled_enter\n\t"
        POP("r10") POP_ALL END("probity_cpu_sled_enter_code")
        BEGIN("probity_cpu_sled_leave_code") PUSH_ALL PUSH("r10") PUSH("r11")
        "movl %r11d, %edi\n\tleaq 72(%rsp), %rsi\n\tcall probity_sled_leave\n\t"
        POP("r11") POP("r10") POP_ALL END("probity_cpu_sled_leave_code")
        BEGIN("probity_cpu_sled_tail_code") PUSH_ALL PUSH("r11")
        "movl %r10d, %edi\n\tleaq 72(%rsp), %rsi\n\tcall probity_sled_tail\n\t"
        POP("r11") POP_ALL END("probity_cpu_sled_tail_code")
        ".popsection");

extern const uint8_t probity_cpu_sled_enter_code[] __attribute__((visibility("hidden")));
extern const uint8_t probity_cpu_sled_leave_code[] __attribute__((visibility("hidden")));
extern const uint8_t probity_cpu_sled_tail_code[] __attribute__((visibility("hidden")));

int probity_cpu_sleds_are_usable(void)
{
    return 1;
}

/* First two bytes, and the one before the distance, of a sled that was replaced. */
static const uint8_t replaced[PROBITY_CPU_SLED_KINDS][3] = {
    {0x41, 0xbb, 0xe8}, {0x41, 0xbb, 0xe9}, {0x41, 0xba, 0xe8}};

/* First two bytes of a sled as the compiler made it. */
static const uint8_t *original(enum probity_cpu_sled_kind kind)
{
    static const uint8_t heads[][2] = {{0xeb, 0x09}, {0xc3, 0x2e}};

    return heads[kind == PROBITY_CPU_SLED_LEAVE];
}

enum probity_cpu_sled_state probity_cpu_sled_state(const uint8_t *at,
                                                   enum probity_cpu_sled_kind kind)
{
    static const uint8_t rest[] = {0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0};
    const uint8_t *head = original(kind);

    if ((uintptr_t)at % 2 != 0)
        return PROBITY_CPU_SLED_FOREIGN;
    if (memcmp(at, head, 2) == 0 && memcmp(at + 2, rest, sizeof rest) == 0)
        return PROBITY_CPU_SLED_OFF;
    if (at[DISTANCE_AT - 1] != replaced[kind][2])
        return PROBITY_CPU_SLED_FOREIGN;
    if (memcmp(at, head, 2) == 0)
        return PROBITY_CPU_SLED_REMOVED;
    /* XRay's runtime uses %r10 for all kinds. */
    if (at[0] == 0x41 && (at[1] == 0xba || at[1] == replaced[kind][1]))
        return PROBITY_CPU_SLED_ON;
    return PROBITY_CPU_SLED_FOREIGN;
}

void probity_cpu_sled_make_stubs(uint8_t *stubs)
{
    static const uint8_t jump[] = {0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc}; /* jmp *2(%rip) */
    const uint8_t *const codes[] = {probity_cpu_sled_enter_code, probity_cpu_sled_leave_code,
                                    probity_cpu_sled_tail_code};

    for (int kind = 0; kind < PROBITY_CPU_SLED_KINDS; kind++) {
        memcpy(stubs + STUB_BYTES * kind, jump, sizeof jump);
        memcpy(stubs + STUB_BYTES * kind + sizeof jump, &codes[kind], sizeof codes[kind]);
    }
}

int probity_cpu_sled_reaches(uintptr_t sled, uintptr_t stubs)
{
    uintptr_t distance = sled < stubs ? stubs - sled : sled - stubs;

    return distance < INT32_MAX - PROBITY_CPU_SLED_BYTES - PROBITY_CPU_SLED_STUBS_BYTES;
}

void probity_cpu_sled_prepare(uint8_t *at, enum probity_cpu_sled_kind kind, uint32_t id,
                              const uint8_t *stubs)
{
    uintptr_t stub = (uintptr_t)stubs + STUB_BYTES * (uintptr_t)kind;
    uint32_t distance = (uint32_t)(stub - ((uintptr_t)at + PROBITY_CPU_SLED_BYTES));

    memcpy(at + ID_AT, &id, sizeof id);
    at[DISTANCE_AT - 1] = replaced[kind][2];
    memcpy(at + DISTANCE_AT, &distance, sizeof distance);
}

static void store_head(uint8_t *at, const uint8_t *bytes)
{
    /* Release: pairs with the barrier for code, which came before. */
    __atomic_store_n((uint16_t *)(void *)at, (uint16_t)(bytes[0] | bytes[1] << 8),
                     __ATOMIC_RELEASE);
}

void probity_cpu_sled_switch_on(uint8_t *at, enum probity_cpu_sled_kind kind)
{
    store_head(at, replaced[kind]);
}

void probity_cpu_sled_switch_off(uint8_t *at, enum probity_cpu_sled_kind kind)
{
    store_head(at, original(kind));
}
#else
int probity_cpu_sleds_are_usable(void)
{
    return 0;
}

enum probity_cpu_sled_state probity_cpu_sled_state(const uint8_t *at,
                                                   enum probity_cpu_sled_kind kind)
{
    (void)at, (void)kind;
    return PROBITY_CPU_SLED_FOREIGN;
}

void probity_cpu_sled_make_stubs(uint8_t *stubs)
{
    memset(stubs, 0, PROBITY_CPU_SLED_STUBS_BYTES);
}

int probity_cpu_sled_reaches(uintptr_t sled, uintptr_t stubs)
{
    return sled == stubs;
}

void probity_cpu_sled_prepare(uint8_t *at, enum probity_cpu_sled_kind kind, uint32_t id,
                              const uint8_t *stubs)
{
    (void)at, (void)kind, (void)id, (void)stubs;
}

void probity_cpu_sled_switch_on(uint8_t *at, enum probity_cpu_sled_kind kind)
{
    (void)at, (void)kind;
}

void probity_cpu_sled_switch_off(uint8_t *at, enum probity_cpu_sled_kind kind)
{
    (void)at, (void)kind;
}
#endif
