/* SPDX-License-Identifier: MIT
 *
 * sled_registers.c: fills every register that may hold a parameter or a return value, calls
 * functions that do nothing, and compares. Compiled with clang's -fxray-instrument: recording must
 * not change any of them, even when the library takes a slow path. Prints how many calls it made.
 *
 *     sled_registers CALLS
 */
#include <cpuid.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNRECORDED __attribute__((xray_never_instrument, noinline))

enum { IMAGE_BYTES = 16384, COMPONENTS = 0xe7, GENERAL = 14 };

extern uint8_t image[], after[];
uint8_t image[IMAGE_BYTES] __attribute__((aligned(64)));
uint8_t after[IMAGE_BYTES] __attribute__((aligned(64)));

/* In the order of REGISTERS. No function uses %r11. */
extern uint64_t general[], general_after[];
uint64_t general[GENERAL], general_after[GENERAL];

void empty(void);
__attribute__((noinline)) void empty(void)
{
    __asm__ volatile("");
}

/* Jumps to empty(). */
void jumps(void);
__attribute__((noinline)) void jumps(void)
{
    empty();
}

void call_with_registers(void (*function)(void));

#define REGISTERS(X)                                                                               \
    X(rax, 0) X(rcx, 8) X(rdx, 16) X(rbx, 24) X(rsi, 32) X(rdi, 40) X(rbp, 48) X(r8, 56) X(r9, 64) \
    X(r10, 72) X(r12, 80) X(r13, 88) X(r14, 96) X(r15, 104)
#define LOAD(name, at) "movq " #at "(%r11), %" #name "\n\t"
#define STORE(name, at) "movq %" #name ", " #at "(%r11)\n\t"

__asm__("call_with_registers:\n\t"
        "pushq %rbx\n\tpushq %rbp\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
        "pushq %rdi\n\t"
        "movl $0xe7, %eax\n\txorl %edx, %edx\n\tleaq image(%rip), %r11\n\txrstor64 (%r11)\n\t"
        "leaq general(%rip), %r11\n\t" REGISTERS(LOAD)
        "call *(%rsp)\n\t"
        "leaq general_after(%rip), %r11\n\t" REGISTERS(STORE)
        "movl $0xe7, %eax\n\txorl %edx, %edx\n\tleaq after(%rip), %r11\n\txsave64 (%r11)\n\t"
        "fninit\n\t"
        "popq %rdi\n\t"
        "popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbp\n\tpopq %rbx\n\t"
        "ret\n\t");

/* Offset and size of each part of the image that is filled; returns their number. */
struct part {
    uint32_t at, bytes;
};

UNRECORDED static int find_parts(struct part *parts)
{
    enum { LEAF = 13, XMM_AT = 160, XMM_BYTES = 256, FIRST_EXTENDED = 2 };
    uint32_t eax, ebx, ecx, edx, used;
    int count = 0;

    __asm__ volatile("xgetbv" : "=a"(used), "=d"(edx) : "c"(0));
    parts[count++] = (struct part){XMM_AT, XMM_BYTES};
    for (uint32_t i = FIRST_EXTENDED; i < 8; i++) {
        if ((used & COMPONENTS & 1u << i) == 0)
            continue;
        __cpuid_count(LEAF, i, eax, ebx, ecx, edx);
        parts[count++] = (struct part){ebx, eax};
    }
    return count;
}

UNRECORDED static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 16 ^ *state << 40;
}

/* An unusual rounding mode, two values on the stack of the x87, and random bytes. */
UNRECORDED static void fill(const struct part *parts, int count, uint64_t *state)
{
    enum { CONTROL_AT = 0, TOP_AT = 2, TAGS_AT = 4, MXCSR_AT = 24, STACK_AT = 32, HEADER_AT = 512 };
    static const uint8_t one[] = {0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f};
    uint16_t control = 0x0b7f, top = 6 << 11;
    uint32_t mxcsr = 0x5f80;
    uint64_t used;

    __asm__ volatile("xgetbv" : "=a"(used) : "c"(0) : "rdx");
    memset(image, 0, sizeof image);
    used = (uint32_t)used & COMPONENTS;
    memcpy(image + CONTROL_AT, &control, 2);
    memcpy(image + TOP_AT, &top, 2);
    image[TAGS_AT] = 0xc0;
    memcpy(image + MXCSR_AT, &mxcsr, 4);
    for (int i = 0; i < 2; i++) {
        memcpy(image + STACK_AT + 16 * i, one, sizeof one);
        image[STACK_AT + 16 * i] = (uint8_t)next_random(state);
    }
    memcpy(image + HEADER_AT, &used, 8);
    for (int i = 0; i < count; i++) {
        for (uint32_t j = 0; j < parts[i].bytes; j++)
            image[parts[i].at + j] = (uint8_t)next_random(state);
    }
    for (int i = 0; i < GENERAL; i++)
        general[i] = next_random(state);
}

UNRECORDED static int differs(const struct part *parts, int count, int is_jump)
{
    enum { LEGACY_BYTES = 6, MXCSR_AT = 24, STACK_AT = 32, STACK_BYTES = 26, R10 = 9 };

    if (memcmp(image, after, LEGACY_BYTES) != 0 ||
        memcmp(image + MXCSR_AT, after + MXCSR_AT, 4) != 0 ||
        memcmp(image + STACK_AT, after + STACK_AT, STACK_BYTES) != 0)
        return 1;
    for (int i = 0; i < count; i++) {
        if (memcmp(image + parts[i].at, after + parts[i].at, parts[i].bytes) != 0)
            return 2 + i;
    }
    for (int i = 0; i < GENERAL; i++) {
        if (general[i] != general_after[i] && !(is_jump && i == R10))
            return 100 + i;
    }
    return 0;
}

UNRECORDED int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 1;
    struct part parts[8];
    int count = find_parts(parts);
    uint64_t state = 1;

    for (int i = 0; i < calls; i++) {
        fill(parts, count, &state);
        call_with_registers(i % 2 ? jumps : empty);
        int what = differs(parts, count, i % 2);
        if (what != 0) {
            fprintf(stderr, "call %d changed register group %d\n", i, what);
            return 1;
        }
    }
    printf("empty %d\njumps %d\n", calls, calls / 2);
    return 0;
}
