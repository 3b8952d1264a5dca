/* SPDX-License-Identifier: MIT
 *
 * cpu_sleds.c: cpu_sleds.h on x86-64, and on CPUs without sleds.
 *
 * Sleds have 11 bytes at an even address, so that two bytes can be stored at once:
 *
 *     eb 09 66 0f 1f 84 00 00 02 00 00    jmp past a nop         enter, tail
 *     c3 2e 66 0f 1f 84 00 00 02 00 00    ret, then a nop        leave
 *     e9 DISTANCE    84 00 00 02 00 00    jmp to the sled's stub
 *
 * and stubs:
 *
 *     41 bb ID  e8 LINK  e9 BACK          mov ID, %r11d; call; jmp    enter
 *     41 bb ID  e9 LINK                   mov ID, %r11d; jmp          leave
 *     41 ba ID  e8 LINK  e9 BACK          mov ID, %r10d; call; jmp    tail
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
    LINK_BYTES = 16, /* jmp *2(%rip), padding, and at 8 the address */
    JUMP = 0xe9,
    JUMP_BYTES = 5,
    HEAD_BYTES = 2, /* of a sled: both are stored at once */
    CALL_AT = 6,    /* in a stub */
    BACK_AT = CALL_AT + JUMP_BYTES
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

/* In each of these, the stack is aligned at the call, if the function's stack was: seven or eight
 * words and the return address of the stub's call, or nine words. */
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

/* First two bytes of a stub, and the first one of its call or jump. */
static const uint8_t stub_codes[PROBITY_CPU_SLED_KINDS][3] = {
    {0x41, 0xbb, 0xe8}, {0x41, 0xbb, JUMP}, {0x41, 0xba, 0xe8}};

/* A sled after its first two bytes, as the compiler made it. */
static const uint8_t rest[PROBITY_CPU_SLED_BYTES - HEAD_BYTES] = {0x66, 0x0f, 0x1f, 0x84, 0, 0, 2};

/* Returns the first two bytes of a sled, as the compiler made it. */
static const uint8_t *original(enum probity_cpu_sled_kind kind)
{
    static const uint8_t heads[][HEAD_BYTES] = {{0xeb, 0x09}, {0xc3, 0x2e}};

    return heads[kind == PROBITY_CPU_SLED_LEAVE];
}

enum probity_cpu_sled_state probity_cpu_sled_state(const uint8_t *at,
                                                   enum probity_cpu_sled_kind kind)
{
    enum { KEPT = JUMP_BYTES - HEAD_BYTES }; /* those of the rest, from there on */
    int is_original = memcmp(at, original(kind), HEAD_BYTES) == 0;

    if ((uintptr_t)at % 2 != 0)
        return PROBITY_CPU_SLED_FOREIGN;
    if (is_original && memcmp(at + HEAD_BYTES, rest, sizeof rest) == 0)
        return PROBITY_CPU_SLED_OFF;
    if (at[0] == JUMP && memcmp(at + JUMP_BYTES, rest + KEPT, sizeof rest - KEPT) == 0)
        return PROBITY_CPU_SLED_ON;
    /* XRay's runtime stores an id and a call or jump there, the latter at the same place. */
    if ((is_original || (at[0] == 0x41 && at[1] == 0xba)) &&
        at[CALL_AT] == stub_codes[kind][2])
        return PROBITY_CPU_SLED_TAKEN;
    return PROBITY_CPU_SLED_FOREIGN;
}

void probity_cpu_sled_make_links(uint8_t *links)
{
    static const uint8_t jump[] = {0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc}; /* jmp *2(%rip) */
    const uint8_t *const codes[] = {probity_cpu_sled_enter_code, probity_cpu_sled_leave_code,
                                    probity_cpu_sled_tail_code};

    for (int kind = 0; kind < PROBITY_CPU_SLED_KINDS; kind++) {
        memcpy(links + LINK_BYTES * kind, jump, sizeof jump);
        memcpy(links + LINK_BYTES * kind + sizeof jump, &codes[kind], sizeof codes[kind]);
    }
}

/* Stores a call or jump. */
static void put_jump(uint8_t *at, uint8_t code, const uint8_t *target)
{
    uint32_t distance = (uint32_t)((uintptr_t)target - ((uintptr_t)at + JUMP_BYTES));

    at[0] = code;
    memcpy(at + 1, &distance, sizeof distance);
}

void probity_cpu_sled_make_stub(uint8_t *stub, const uint8_t *links, const uint8_t *at,
                                enum probity_cpu_sled_kind kind, uint32_t id)
{
    memcpy(stub, stub_codes[kind], HEAD_BYTES);
    memcpy(stub + HEAD_BYTES, &id, sizeof id);
    put_jump(stub + CALL_AT, stub_codes[kind][2], links + LINK_BYTES * kind);
    put_jump(stub + BACK_AT, JUMP, at + PROBITY_CPU_SLED_BYTES);
}

int probity_cpu_sled_reaches(uintptr_t sled, uintptr_t memory, size_t bytes)
{
    uintptr_t low = sled < memory ? sled : memory, end = memory + bytes;
    uintptr_t high = sled + PROBITY_CPU_SLED_BYTES > end ? sled + PROBITY_CPU_SLED_BYTES : end;

    return high - low < INT32_MAX;
}

static void store_head(uint8_t *at, uint8_t first, uint8_t second)
{
    /* Release: pairs with the barrier for code, which came before. */
    __atomic_store_n((uint16_t *)(void *)at, (uint16_t)(first | second << 8), __ATOMIC_RELEASE);
}

void probity_cpu_sled_put(uint8_t *at, const uint8_t *stub, int step)
{
    uint32_t distance = (uint32_t)((uintptr_t)stub - ((uintptr_t)at + JUMP_BYTES));

    if (step == 0)
        memcpy(at + HEAD_BYTES, (const uint8_t *)&distance + 1, JUMP_BYTES - HEAD_BYTES);
    else
        store_head(at, JUMP, (uint8_t)distance);
}

void probity_cpu_sled_take_out(uint8_t *at, enum probity_cpu_sled_kind kind, int step)
{
    if (step == 0)
        store_head(at, original(kind)[0], original(kind)[1]);
    else
        memcpy(at + HEAD_BYTES, rest, JUMP_BYTES - HEAD_BYTES);
}
#elif !PROBITY_CPU_HAS_SLEDS
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

void probity_cpu_sled_make_links(uint8_t *links)
{
    memset(links, 0, PROBITY_CPU_SLED_LINKS_BYTES);
}

void probity_cpu_sled_make_stub(uint8_t *stub, const uint8_t *links, const uint8_t *at,
                                enum probity_cpu_sled_kind kind, uint32_t id)
{
    (void)stub, (void)links, (void)at, (void)kind, (void)id;
}

int probity_cpu_sled_reaches(uintptr_t sled, uintptr_t memory, size_t bytes)
{
    (void)sled, (void)memory, (void)bytes;
    return 0;
}

void probity_cpu_sled_put(uint8_t *at, const uint8_t *stub, int step)
{
    (void)at, (void)stub, (void)step;
}

void probity_cpu_sled_take_out(uint8_t *at, enum probity_cpu_sled_kind kind, int step)
{
    (void)at, (void)kind, (void)step;
}
#endif
