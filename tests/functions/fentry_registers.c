/* SPDX-License-Identifier: MIT
 *
 * fentry_registers.c: calls __fentry__ and __return__ from functions in assembly, each time with
 * other values in all registers of the CPU, and compares the registers afterwards. The first call
 * of each function, changes of chunk, of level and of the CPU clock's readings, jumps and signal
 * handlers make the hooks take their slow paths. Prints "components MASK" and, for each function,
 * "NAME CALLS"; fails at the first register that differs.
 *
 *     fentry_registers ROUNDS
 */
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "probity_scope.h"

enum { FUNCTIONS = 64, GENERAL = 15, AREA = 8192, LEGACY = 512, HEADER = 64 };

/* Values to load, and those found after the enter and after the leave. */
uint64_t general_in[GENERAL], general_out[2][GENERAL], stack_before, stack_after[2];
uint8_t state_in[AREA] __attribute__((aligned(64)));
uint8_t state_out[2][AREA] __attribute__((aligned(64)));
uint32_t components;

/* In the order of GENERAL: rax rbx rcx rdx rsi rdi rbp r8 to r15. Each function has a name and a
 * size. */
__asm__(
    "    .macro load_all\n"
    "    movl components(%rip), %eax\n"
    "    xorl %edx, %edx\n"
    "    xrstor64 state_in(%rip)\n"
    "    .set at, 0\n"
    "    .irp register, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15\n"
    "    movq general_in + at(%rip), %\\register\n"
    "    .set at, at + 8\n"
    "    .endr\n"
    "    .endm\n"
    "    .macro store_all which\n"
    "    .set at, 120 * \\which\n"
    "    .irp register, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15\n"
    "    movq %\\register, general_out + at(%rip)\n"
    "    .set at, at + 8\n"
    "    .endr\n"
    "    movq %rsp, stack_after + 8 * \\which(%rip)\n"
    "    movl components(%rip), %eax\n"
    "    xorl %edx, %edx\n"
    "    xsave64 state_out + 8192 * \\which(%rip)\n"
    "    .endm\n"
    "    .text\n"
    "    .p2align 4\n"
    "save_and_jump:\n" /* rdi: the function; the callee-saved registers stay */
    "    .irp register, rbx, rbp, r12, r13, r14, r15\n"
    "    pushq %\\register\n"
    "    .endr\n"
    "    call *%rdi\n"
    "    .irp register, r15, r14, r13, r12, rbp, rbx\n"
    "    popq %\\register\n"
    "    .endr\n"
    "    fninit\n"
    "    ldmxcsr usual_mxcsr(%rip)\n"
    "    ret\n"
    "usual_mxcsr: .long 0x1f80\n"
    "    .altmacro\n"
    "    .macro one number\n"
    "    .p2align 4\n"
    "    .type function_\\number, @function\n"
    "function_\\number:\n"
    "    load_all\n"
    "    movq %rsp, stack_before(%rip)\n"
    "    call *__fentry__@GOTPCREL(%rip)\n"
    "    store_all 0\n"
    "    load_all\n"
    "    call *__return__@GOTPCREL(%rip)\n"
    "    store_all 1\n"
    "    ret\n"
    "    .size function_\\number, . - function_\\number\n"
    "    .pushsection .data.rel.ro, \"aw\"\n"
    "    .quad function_\\number\n"
    "    .popsection\n"
    "    .endm\n"
    "    .pushsection .data.rel.ro, \"aw\"\n"
    "    .p2align 3\n"
    "functions:\n"
    "    .popsection\n"
    "    .set number, 0\n"
    "    .rept 64\n"
    "    one %number\n"
    "    .set number, number + 1\n"
    "    .endr\n"
    "    .noaltmacro\n");

/* Called by the handler: changes registers, as any function may. */
__asm__("    .text\n"
        "    .p2align 4\n"
        "    .type in_handler, @function\n"
        "in_handler:\n"
        "    call *__fentry__@GOTPCREL(%rip)\n"
        "    pxor %xmm0, %xmm0\n"
        "    fld1\n"
        "    fstp %st(0)\n"
        "    call *__return__@GOTPCREL(%rip)\n"
        "    ret\n"
        "    .size in_handler, . - in_handler\n");

extern void in_handler(void);
extern void save_and_jump(void (*function)(void));
extern void (*const functions[FUNCTIONS])(void);

static uint64_t seed = 1;
static unsigned counts[FUNCTIONS];
static volatile sig_atomic_t handled;

static uint64_t random_bits(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return seed ^ seed >> 29;
}

static void fill(void *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t bits = random_bits();
        memcpy((uint8_t *)at + i, &bits, 8);
    }
}

/* Offset and size of a component in the area. */
static void place_of(unsigned component, uint32_t *ret_offset, uint32_t *ret_bytes)
{
    uint32_t unused_c, unused_d;

    __cpuid_count(0xd, component, *ret_bytes, *ret_offset, unused_c, unused_d);
}

/* A valid image: one to eight x87 registers in use, unusual rounding and masks, no unmasked
 * exception pending. */
static void fill_state(void)
{
    uint64_t in_use = components;
    uint16_t control = 0x037f, tags = (uint16_t)(0xff00 >> random_bits() % 9 & 0xff);
    uint32_t mxcsr = 0x1f80 | (uint32_t)(random_bits() & 0x603f);

    memset(state_in, 0, sizeof state_in);
    for (unsigned i = 2; i < 8; i++) {
        uint32_t offset, bytes;
        if ((components >> i & 1) == 0)
            continue;
        place_of(i, &offset, &bytes);
        fill(state_in + offset, bytes);
    }
    for (unsigned i = 0; i < 8; i++) {
        fill(state_in + 32 + 16 * i, 8);
        state_in[32 + 16 * i + 7] |= 0x80; /* a normal number */
        uint16_t exponent = (uint16_t)(0x3fff + random_bits() % 64);
        memcpy(state_in + 32 + 16 * i + 8, &exponent, 2);
    }
    fill(state_in + 160, 256);
    control = (uint16_t)(control ^ (random_bits() & 0x0c00));
    memcpy(state_in, &control, 2);
    state_in[3] = (uint8_t)(random_bits() % 8 << 3); /* top of the stack */
    state_in[4] = (uint8_t)tags;
    memcpy(state_in + 24, &mxcsr, 4);
    memcpy(state_in + LEGACY, &in_use, 8);
}

static void differs(const char *what, unsigned function, int which, size_t at)
{
    printf("FAILED: function %u, call %u, after its %s: %s %zu differs\n", function,
           counts[function], which == 0 ? "enter" : "leave", what, at);
    exit(1);
}

/* The pages of the state that contain registers: not the header, from which nothing is loaded, nor
 * the address of the last x87 instruction, the mask of valid MXCSR bits and unused bytes. */
static void compare(unsigned function, int which)
{
    const uint8_t *out = state_out[which];

    if (stack_after[which] != stack_before)
        differs("rsp", function, which, 0);
    for (size_t i = 0; i < GENERAL; i++) {
        if (general_out[which][i] != general_in[i])
            differs("general register", function, which, i);
    }
    for (size_t i = 0; i < AREA; i++) {
        if ((i >= 6 && i < 24) || (i >= 28 && i < 32) || (i >= 32 && i < 160 && i % 16 >= 10) ||
            (i >= 416 && i < LEGACY + HEADER))
            continue;
        if (out[i] != state_in[i])
            differs("state at byte", function, which, i);
    }
}

static void call(unsigned function)
{
    fill(general_in, sizeof general_in);
    fill_state();
    memset(state_out, 0, sizeof state_out);
    counts[function]++;
    save_and_jump(functions[function]);
    compare(function, 0);
    compare(function, 1);
}

static void handler(int number)
{
    (void)number;
    handled++;
    in_handler();
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
    struct itimerval often = {{0, 500}, {0, 500}};
    uint32_t high;

    __asm__("xgetbv" : "=a"(components), "=d"(high) : "c"(0));
    components &= 0xe7;
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; i < rounds; i++) {
        if (i % 997 == 500)
            probity_level_set(i % 2 == 0 ? 4 : 5, -1);
        if (i % 131 == 0)
            usleep(100);
        call((unsigned)(random_bits() >> 33) % (i < rounds / 2 ? FUNCTIONS / 2 : FUNCTIONS));
    }
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    printf("components %x\n", components);
    printf("in_handler %u\n", (unsigned)handled);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        printf("function_%u %u\n", i, counts[i]);
    return handled > 0 ? 0 : 2;
}
