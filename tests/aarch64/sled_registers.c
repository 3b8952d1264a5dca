/* SPDX-License-Identifier: MIT
 *
 * sled_registers.c: fills every register that may hold an argument or a result, calls functions
 * that do nothing, and compares: recording must not change any of them, even when the library takes
 * a slow path. With SVE, this includes whole vectors and the predicates. Compiled with clang's
 * -fxray-instrument. Prints how many calls it made.
 *
 *     sled_registers CALLS
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#define UNRECORDED __attribute__((xray_never_instrument, noinline))

/* VECTOR_BYTES: size of the longest vector; a predicate has an eighth of that. */
enum { GENERAL = 19, VECTORS = 32, PREDICATES = 16, VECTOR_BYTES = 256, SVE = 1 << 22 };

struct registers {
    uint64_t general[GENERAL + 1];
    uint8_t vectors[VECTORS * VECTOR_BYTES], predicates[PREDICATES * VECTOR_BYTES / 8];
};

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

/* Load all registers, call one of the functions, store all. Neither loading nor storing changes the
 * numbers in x19 to x22. */
void through_empty(const struct registers *from, struct registers *to, uint64_t has_sve);
void through_jumps(const struct registers *from, struct registers *to, uint64_t has_sve);

#define PAIRS(do_pair)                                                                             \
    do_pair(0, 1, 0) do_pair(2, 3, 16) do_pair(4, 5, 32) do_pair(6, 7, 48) do_pair(8, 9, 64)       \
    do_pair(10, 11, 80) do_pair(12, 13, 96) do_pair(14, 15, 112) do_pair(16, 17, 128)
#define LOAD_PAIR(a, b, at) "ldp x" #a ", x" #b ", [x19, #" #at "]\n\t"
#define STORE_PAIR(a, b, at) "stp x" #a ", x" #b ", [x20, #" #at "]\n\t"
#define EACH_16(x, from) x(from, 0) x(from, 1) x(from, 2) x(from, 3) x(from, 4) x(from, 5)         \
    x(from, 6) x(from, 7) x(from, 8) x(from, 9)
#define TENS(x) EACH_16(x, ) EACH_16(x, 1) EACH_16(x, 2) x(3, 0) x(3, 1)
#define LOAD_Q(tens, n) "ldr q" #tens #n ", [x22, #" #tens #n "*16]\n\t"
#define STORE_Q(tens, n) "str q" #tens #n ", [x22, #" #tens #n "*16]\n\t"
#define LOAD_Z(tens, n) "ldr z" #tens #n ", [x22, #" #tens #n ", mul vl]\n\t"
#define STORE_Z(tens, n) "str z" #tens #n ", [x22, #" #tens #n ", mul vl]\n\t"
#define EACH_P(x) EACH_16(x, ) x(1, 0) x(1, 1) x(1, 2) x(1, 3) x(1, 4) x(1, 5)
#define LOAD_P(tens, n) "ldr p" #tens #n ", [x23, #" #tens #n ", mul vl]\n\t"
#define STORE_P(tens, n) "str p" #tens #n ", [x23, #" #tens #n ", mul vl]\n\t"

#define THROUGH(function)                                                                          \
    ".globl through_" function "\nthrough_" function ":\n\t"                                       \
    "stp x29, x30, [sp, #-128]!\n\tstp x19, x20, [sp, #16]\n\tstp x21, x22, [sp, #32]\n\t"         \
    "stp x23, x24, [sp, #48]\n\tstp d8, d9, [sp, #64]\n\tstp d10, d11, [sp, #80]\n\t"              \
    "stp d12, d13, [sp, #96]\n\tstp d14, d15, [sp, #112]\n\t"                                      \
    "mov x19, x0\n\tmov x20, x1\n\tmov x21, x2\n\tadd x22, x19, #160\n\t"                          \
    "add x23, x22, #8192\n\t"                                                                      \
    "cbz x21, 1f\n\t" TENS(LOAD_Z) EACH_P(LOAD_P) "b 2f\n1:\t" TENS(LOAD_Q)                        \
    "2:\t" PAIRS(LOAD_PAIR) "ldr x18, [x19, #144]\n\t"                                             \
    "bl " function "\n\t" PAIRS(STORE_PAIR) "str x18, [x20, #144]\n\t"                             \
    "add x22, x20, #160\n\tadd x23, x22, #8192\n\t"                                                \
    "cbz x21, 1f\n\t" TENS(STORE_Z) EACH_P(STORE_P) "b 2f\n1:\t" TENS(STORE_Q)                     \
    "2:\tldp d14, d15, [sp, #112]\n\tldp d12, d13, [sp, #96]\n\tldp d10, d11, [sp, #80]\n\t"       \
    "ldp d8, d9, [sp, #64]\n\tldp x23, x24, [sp, #48]\n\tldp x21, x22, [sp, #32]\n\t"              \
    "ldp x19, x20, [sp, #16]\n\tldp x29, x30, [sp], #128\n\tret\n"

__asm__(".arch_extension sve\n" THROUGH("empty") THROUGH("jumps"));

/* The size of one register. */
UNRECORDED static size_t vector_bytes(void)
{
    enum { LENGTH = 0xffff };

    return getauxval(AT_HWCAP) & SVE ? (size_t)prctl(PR_SVE_GET_VL) & LENGTH : 16;
}

/* Returns the index of the first byte that differs, or -1. */
UNRECORDED static long find_difference(const struct registers *from, const struct registers *to)
{
    const size_t starts[] = {0, offsetof(struct registers, vectors),
                             offsetof(struct registers, predicates)};
    const size_t sizes[] = {GENERAL * sizeof(uint64_t), VECTORS * vector_bytes(),
                            getauxval(AT_HWCAP) & SVE ? PREDICATES * vector_bytes() / 8 : 0};
    const uint8_t *wanted = (const uint8_t *)from, *found = (const uint8_t *)to;

    for (int part = 0; part < 3; part++) {
        for (size_t i = starts[part]; i < starts[part] + sizes[part]; i++) {
            if (wanted[i] != found[i])
                return (long)i;
        }
    }
    return -1;
}

UNRECORDED int main(int argc, char **argv)
{
    static struct registers from, to, none;
    uint64_t has_sve = (getauxval(AT_HWCAP) & SVE) != 0;
    long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
    unsigned seed = 1;

    for (long i = 0; i < calls; i++) {
        for (size_t at = 0; at < sizeof from; at++)
            ((uint8_t *)&from)[at] = (uint8_t)(rand_r(&seed) >> 4);
        to = none;
        (i % 2 == 0 ? through_empty : through_jumps)(&from, &to, has_sve);
        if (find_difference(&from, &to) >= 0) {
            printf("call %ld: byte %ld differs\n", i, find_difference(&from, &to));
            return 1;
        }
    }
    printf("empty %ld\njumps %ld\n", calls, calls / 2);
    return 0;
}
