/* SPDX-License-Identifier: MIT
 *
 * cpu_sleds_aarch64.c: cpu_sleds.h on AArch64. A sled has eight instructions; at an exit, it is
 * before the return or jump:
 *
 *     b .+32; nop; nop; nop; nop; nop; nop; nop      enter, leave, tail
 *     b STUB; nop; nop; nop; nop; nop; nop; nop
 *
 * The architecture allows one branch to be replaced with another while threads execute it. A stub:
 *
 *     stp x16, x17, [sp, #-32]!
 *     str x30, [sp, #24]          where x86-64 has the return address, below the stack's arguments
 *     movz w16, #ID; movk w16, #ID, lsl #16
 *     bl LINK
 *     ldr x30, [sp, #24]
 *     ldp x16, x17, [sp], #32
 *     b BACK
 *
 * x16 and x17 are saved too, since a tail call may go to the address in one of them. No return
 * address is replaced, and calls and returns are paired.
 */
#include "functions/cpu_sleds.h"

#include "base/cpu.h"

#ifdef __aarch64__
#include <string.h>
#include <sys/auxv.h>

enum {
    WORD = 4,
    LINK_BYTES = 16, /* ldr x17, .+8; br x17; and the address */
    REST = PROBITY_CPU_SLED_BYTES / WORD - 1,
    BRANCH_REACH = 128 << 20
};

#define NOP UINT32_C(0xd503201f)
#define BRANCH UINT32_C(0x14000000)
#define BRANCH_LINK UINT32_C(0x94000000)
#define BRANCH_MASK UINT32_C(0xfc000000)
#define ORIGINAL (BRANCH | PROBITY_CPU_SLED_BYTES / WORD)
#define XRAY_FIRST UINT32_C(0xa9bf7be0) /* stp x0, x30, [sp, #-16]! */

/* ---- The code that stubs call ------------------------------------------------------------------
 */

/* Below the stub's 32 bytes; x0 is 21 words below the return address. */
#define BEGIN(name)                                                                                \
    ".globl " name "\n\t.hidden " name "\n\t.type " name ", %function\n\t.p2align 4\n" name        \
    ":\n\t.cfi_startproc\n\thint #34\n\t" /* bti c */
#define END(name) "ret\n\t.cfi_endproc\n\t.size " name ", . - " name "\n\t"
#define SLED(name, function)                                                                       \
    BEGIN(name)                                                                                    \
    "stp x29, x30, [sp, #-160]!\n\t.cfi_def_cfa_offset 160\n\t.cfi_offset x29, -160\n\t"           \
    ".cfi_offset x30, -152\n\tmov x29, sp\n\t"                                                     \
    "stp x0, x1, [sp, #16]\n\tstp x2, x3, [sp, #32]\n\tstp x4, x5, [sp, #48]\n\t"                  \
    "stp x6, x7, [sp, #64]\n\tstp x8, x9, [sp, #80]\n\tstp x10, x11, [sp, #96]\n\t"                \
    "stp x12, x13, [sp, #112]\n\tstp x14, x15, [sp, #128]\n\tstr x18, [sp, #144]\n\t"              \
    "mov x0, x16\n\tadd x1, sp, #184\n\tbl " function "\n\t"                                       \
    "ldp x0, x1, [sp, #16]\n\tldp x2, x3, [sp, #32]\n\tldp x4, x5, [sp, #48]\n\t"                  \
    "ldp x6, x7, [sp, #64]\n\tldp x8, x9, [sp, #80]\n\tldp x10, x11, [sp, #96]\n\t"                \
    "ldp x12, x13, [sp, #112]\n\tldp x14, x15, [sp, #128]\n\tldr x18, [sp, #144]\n\t"              \
    "ldp x29, x30, [sp], #160\n\t.cfi_restore x29\n\t.cfi_restore x30\n\t"                         \
    ".cfi_def_cfa_offset 0\n\t" END(name)

/* probity_keep_vectors(): q0 to q31 in 512 bytes at the stack pointer; above them, on a processor
 * with SVE, all of its registers, whose upper parts any other vector instruction clears. */
#define EACH_PAIR(x)                                                                               \
    x(0, 1, 0) x(2, 3, 32) x(4, 5, 64) x(6, 7, 96) x(8, 9, 128) x(10, 11, 160) x(12, 13, 192)      \
    x(14, 15, 224) x(16, 17, 256) x(18, 19, 288) x(20, 21, 320) x(22, 23, 352) x(24, 25, 384)      \
    x(26, 27, 416) x(28, 29, 448) x(30, 31, 480)
#define KEEP_PAIR(first, second, at) "stp q" #first ", q" #second ", [sp, #" #at "]\n\t"
#define RESTORE_PAIR(first, second, at) "ldp q" #first ", q" #second ", [sp, #" #at "]\n\t"
#define EACH_LONG(x)                                                                               \
    x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15) x(16)    \
    x(17) x(18) x(19) x(20) x(21) x(22) x(23) x(24) x(25) x(26) x(27) x(28) x(29) x(30) x(31)
#define KEEP_LONG(number) "str z" #number ", [x19, #" #number ", mul vl]\n\t"
#define RESTORE_LONG(number) "ldr z" #number ", [x19, #" #number ", mul vl]\n\t"
#define EACH_PREDICATE(x)                                                                          \
    x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15)
#define KEEP_PREDICATE(number) "str p" #number ", [sp, #" #number ", mul vl]\n\t"
#define RESTORE_PREDICATE(number) "ldr p" #number ", [sp, #" #number ", mul vl]\n\t"

__asm__(".pushsection .text.probity_cpu_sleds, \"ax\", %progbits\n\t"
        ".arch_extension sve\n\t"
        SLED("probity_cpu_sled_enter_code", "probity_sled_enter")
        SLED("probity_cpu_sled_leave_code", "probity_sled_leave")
        SLED("probity_cpu_sled_tail_code", "probity_sled_tail")
        SLED("probity_cpu_patchable_code", "probity_patchable_enter")
        BEGIN("probity_keep_vectors")
        "stp x29, x30, [sp, #-48]!\n\t.cfi_def_cfa_offset 48\n\t.cfi_offset x29, -48\n\t"
        ".cfi_offset x30, -40\n\tmov x29, sp\n\t.cfi_def_cfa_register x29\n\t"
        "stp x19, x20, [sp, #16]\n\t.cfi_offset x19, -32\n\t.cfi_offset x20, -24\n\t"
        "str x21, [sp, #32]\n\t.cfi_offset x21, -16\n\t"
        "mov x9, x0\n\tmov x0, x1\n\tmov x1, x2\n\tmov x2, x3\n\tmrs x20, fpsr\n\t"
        "adrp x10, probity_cpu_sled_sve\n\tldr w21, [x10, #:lo12:probity_cpu_sled_sve]\n\t"
        "cbz w21, 1f\n\t"
        "addvl sp, sp, #-32\n\tmov x19, sp\n\taddvl sp, sp, #-2\n\t"
        EACH_LONG(KEEP_LONG) EACH_PREDICATE(KEEP_PREDICATE)
        "1:\tsub sp, sp, #512\n\t" EACH_PAIR(KEEP_PAIR)
        "mov x3, sp\n\tblr x9\n\t"
        EACH_PAIR(RESTORE_PAIR) "add sp, sp, #512\n\tmsr fpsr, x20\n\t"
        "cbz w21, 2f\n\t" EACH_LONG(RESTORE_LONG) EACH_PREDICATE(RESTORE_PREDICATE)
        "2:\tmov sp, x29\n\t.cfi_def_cfa_register sp\n\t"
        "ldr x21, [sp, #32]\n\tldp x19, x20, [sp, #16]\n\tldp x29, x30, [sp], #48\n\t"
        ".cfi_def_cfa_offset 0\n\t" END("probity_keep_vectors")
        ".popsection");

extern const uint8_t probity_cpu_sled_enter_code[] __attribute__((visibility("hidden")));
extern const uint8_t probity_cpu_sled_leave_code[] __attribute__((visibility("hidden")));
extern const uint8_t probity_cpu_sled_tail_code[] __attribute__((visibility("hidden")));

/* Whether the processor has SVE; set before any sled is replaced. */
extern uint32_t probity_cpu_sled_sve __attribute__((visibility("hidden")));
uint32_t probity_cpu_sled_sve;

int probity_cpu_sleds_are_usable(void)
{
    enum { SVE = 1 << 22 }; /* HWCAP_SVE */

    __atomic_store_n(&probity_cpu_sled_sve, (getauxval(AT_HWCAP) & SVE) != 0, __ATOMIC_RELAXED);
    return 1;
}

/* ---- Sleds -------------------------------------------------------------------------------------
 */

static uint32_t word_at(const uint8_t *at, int index)
{
    uint32_t word;

    memcpy(&word, at + index * WORD, sizeof word);
    return word;
}

enum probity_cpu_sled_state probity_cpu_sled_state(const uint8_t *at,
                                                   enum probity_cpu_sled_kind kind)
{
    uint32_t first = word_at(at, 0);
    int nops = 0;

    (void)kind;
    if ((uintptr_t)at % WORD != 0)
        return PROBITY_CPU_SLED_FOREIGN;
    for (int i = 1; i <= REST; i++)
        nops += word_at(at, i) == NOP;
    if (nops == REST && first == ORIGINAL)
        return PROBITY_CPU_SLED_OFF;
    if (nops == REST && (first & BRANCH_MASK) == BRANCH)
        return PROBITY_CPU_SLED_ON;
    /* XRay's runtime replaces the rest and keeps it when it restores the branch. */
    return nops == 0 && (first == XRAY_FIRST || first == ORIGINAL) ? PROBITY_CPU_SLED_TAKEN
                                                                   : PROBITY_CPU_SLED_FOREIGN;
}

void probity_cpu_sled_make_links(uint8_t *links)
{
    static const uint32_t jump[] = {0x58000051, 0xd61f0220};
    const uint8_t *const codes[] = {probity_cpu_sled_enter_code, probity_cpu_sled_leave_code,
                                    probity_cpu_sled_tail_code};

    for (int kind = 0; kind < PROBITY_CPU_SLED_KINDS; kind++) {
        memcpy(links + LINK_BYTES * kind, jump, sizeof jump);
        memcpy(links + LINK_BYTES * kind + sizeof jump, &codes[kind], sizeof codes[kind]);
    }
}

static uint32_t branch(uint32_t operation, const uint8_t *from, const uint8_t *to)
{
    return operation | ((uint32_t)((to - from) / WORD) & ~BRANCH_MASK);
}

void probity_cpu_sled_make_stub(uint8_t *stub, const uint8_t *links, const uint8_t *at,
                                enum probity_cpu_sled_kind kind, uint32_t id)
{
    enum { CALL_AT = 4 * WORD, BACK_AT = 7 * WORD };
    const uint32_t code[] = {
        0xa9be47f0,                              /* stp x16, x17, [sp, #-32]! */
        0xf9000ffe,                              /* str x30, [sp, #24] */
        0x52800010 | (id & 0xffff) << 5,         /* movz w16, #low */
        0x72a00010 | (id >> 16) << 5,            /* movk w16, #high, lsl #16 */
        branch(BRANCH_LINK, stub + CALL_AT, links + LINK_BYTES * kind),
        0xf9400ffe,                              /* ldr x30, [sp, #24] */
        0xa8c247f0,                              /* ldp x16, x17, [sp], #32 */
        branch(BRANCH, stub + BACK_AT, at + PROBITY_CPU_SLED_BYTES)};

    _Static_assert(sizeof code == PROBITY_CPU_SLED_STUB_BYTES, "one stub");
    memcpy(stub, code, sizeof code);
}

int probity_cpu_sled_reaches(uintptr_t sled, uintptr_t memory, size_t bytes)
{
    uintptr_t low = sled < memory ? sled : memory, end = memory + bytes;
    uintptr_t high = sled + PROBITY_CPU_SLED_BYTES > end ? sled + PROBITY_CPU_SLED_BYTES : end;

    return high - low < BRANCH_REACH;
}

static void store_first(uint8_t *at, uint32_t word)
{
    /* Release: pairs with the barrier for code, which makes all threads see the stub. */
    __atomic_store_n((uint32_t *)(void *)at, word, __ATOMIC_RELEASE);
}

void probity_cpu_sled_put(uint8_t *at, const uint8_t *stub, int step)
{
    if (step == 0)
        store_first(at, branch(BRANCH, at, stub));
}

void probity_cpu_sled_take_out(uint8_t *at, enum probity_cpu_sled_kind kind, int step)
{
    (void)kind;
    if (step == 0)
        store_first(at, ORIGINAL);
}
#endif
