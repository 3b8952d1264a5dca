/* SPDX-License-Identifier: MIT
 *
 * registers_avx512.c: a function compiled for AVX-512, in a file that is not, keeps values in
 * registers that the compiler assumes no scope changes. Prints how many calls were compared, or
 * that one was wrong, or that the CPU has no AVX-512.
 */
#define FN_INSTRUMENT
#include <FnTrace.h>

#include <immintrin.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define AVX512 __attribute__((noinline, target("avx512f,avx512bw")))

enum { ROUNDS = 4000 };

static jmp_buf back;

/* More vectors than the registers that the compiler knows scopes to change, and masks. */
#define EACH_VECTOR(x)                                                                             \
    x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) x(13) x(14) x(15) x(16)    \
    x(17) x(18) x(19) x(20) x(21) x(22) x(23)
#define EACH_MASK(x) x(0) x(1) x(2) x(3) x(4) x(5)
#define MAKE_VECTOR(i) __m512i vector##i = _mm512_set1_epi32(seed * (i + 3));
#define MAKE_MASK(i) __mmask64 mask##i = (__mmask64)seed * 0x9e3779b97f4a7c15 >> i;
#define USE_VECTOR(i) __asm__ volatile("" : "+v"(vector##i));
#define USE_MASK(i) __asm__ volatile("" : "+k"(mask##i));
#define ADD_VECTOR(i) sum = sum * 31 + (unsigned)_mm512_reduce_add_epi32(vector##i);
#define ADD_MASK(i) sum = sum * 31 + (unsigned)(mask##i ^ mask##i >> 32);

/* They are in use before the scope begins, while it is open and after it. */
#define BODY(scope)                                                                                \
    {                                                                                              \
        unsigned sum = 0;                                                                          \
        EACH_VECTOR(MAKE_VECTOR) EACH_MASK(MAKE_MASK)                                              \
        EACH_VECTOR(USE_VECTOR) EACH_MASK(USE_MASK)                                                \
        {                                                                                          \
            scope;                                                                                 \
            EACH_VECTOR(USE_VECTOR) EACH_MASK(USE_MASK)                                            \
        }                                                                                          \
        EACH_VECTOR(USE_VECTOR) EACH_MASK(USE_MASK)                                                \
        EACH_VECTOR(ADD_VECTOR) EACH_MASK(ADD_MASK)                                                \
        return (int)sum;                                                                           \
    }

AVX512 static int plain(int seed)
BODY(;)
AVX512 static int scoped(int seed)
BODY(FN_FUNC(int, FN_1))
AVX512 static int with_text(int seed)
BODY(const char *text = "some text"; FN_FUNC_RETVAL(const char *, text, FN_1))

__attribute__((noinline)) static void jump(void)
{
    FN_FUNC(void, FN_1);
    longjmp(back, 1);
}

int main(void)
{
    volatile int calls = 0; /* setjmp() returns twice */

    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw")) {
        puts("no AVX-512");
        return 0;
    }
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 16 == 0 && setjmp(back) == 0)
            jump();
        int wanted = plain(i), scope = scoped(i), text = with_text(i);
        if (scope != wanted || text != wanted) {
            printf("round %d: %d, %d instead of %d\n", i, scope, text, wanted);
            return 1;
        }
        calls = calls + 2;
    }
    printf("%d\n", calls);
    return 0;
}
