/* SPDX-License-Identifier: MIT
 *
 * stub_signals.c: sends a signal at each instruction to which a replaced sled, or patchable entry,
 * leads: the stub, the link, the code that saves registers, and the beginning of the library's
 * function. Each is replaced with a breakpoint in turn; the handler restores it and calls a
 * function that is recorded, too. Prints "NAME CALLS" of both functions. Exit status 1 if an
 * argument or a result is wrong, 2 if nothing is replaced.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __clang__
#define NEVER __attribute__((xray_never_instrument))
#else
#define NEVER __attribute__((patchable_function_entry(0)))
#endif
#define NOP UINT32_C(0xd503201f)
#define RETURN UINT32_C(0xd65f03c0)
#define BREAKPOINT UINT32_C(0xd4200000)

enum { WORDS_OF_FUNCTION = 400, PAGE = 4096 };

static volatile unsigned long inner_calls, outer_calls;
static uint32_t *volatile changed; /* the instruction that is replaced */
static uint32_t original;

__attribute__((noinline)) static long inner(long x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

__attribute__((noinline)) static double outer(long a, long b, long c, long d, long e, long f,
                                              long g, long h, double i, double j, double k,
                                              double l, double m, double n, double o, double p)
{
    __asm__ volatile("" : "+r"(a), "+r"(h), "+w"(i), "+w"(p));
    return (double)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h) + i + 2 * j + 3 * k +
           4 * l + 5 * m + 6 * n + 7 * o + 8 * p;
}

NEVER static void put(uint32_t *at, uint32_t word)
{
    *(volatile uint32_t *)at = word;
    __builtin___clear_cache((char *)at, (char *)(at + 1));
}

NEVER static void handle(int number)
{
    (void)number;
    put(changed, original);
    changed = NULL;
    inner_calls++;
    inner(1);
}

NEVER static int call_outer(void)
{
    outer_calls++;
    return outer(1, 2, 3, 4, 5, 6, 7, 8, .5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5) == 390;
}

/* Returns 0 if the call went wrong. */
NEVER static int interrupt_at(uint32_t *at)
{
    uintptr_t page = (uintptr_t)at / PAGE * PAGE;

    if (mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return 0;
    original = *at;
    changed = at;
    put(at, BREAKPOINT);
    int is_right = call_outer();
    if (changed != NULL) /* not executed */
        put(at, original);
    changed = NULL;
    return is_right;
}

NEVER static int interrupt_all(uint32_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!interrupt_at(from + i))
            return 0;
    }
    return 1;
}

NEVER static int is_branch(uint32_t word, uint32_t operation)
{
    return word >> 26 == operation;
}

NEVER static uint32_t *target_of(uint32_t *at)
{
    return at + ((int32_t)(*at << 6) >> 6);
}

/* A stub, and the code that it calls. */
NEVER static int interrupt_stub(uint32_t *stub)
{
    enum { CALL = 0x25, AFTER_CALL = 4, LINK_WORDS = 2 };
    uint32_t *code, *call = stub;

    while (!is_branch(*call, CALL))
        call++;
    uint32_t *link = target_of(call);
    memcpy(&code, link + LINK_WORDS, sizeof code);
    uint32_t *end = code;
    while (*end != RETURN)
        end++;
    if (!interrupt_all(stub, (size_t)(call - stub) + AFTER_CALL) ||
        !interrupt_all(link, LINK_WORDS) || !interrupt_all(code, (size_t)(end - code) + 1))
        return 0;
    for (call = code; !is_branch(*call, CALL);)
        call++;
    return interrupt_all(target_of(call), WORDS_OF_FUNCTION);
}

/* Replaced: a branch, in a sled before seven nops. */
NEVER static int interrupt_function(uint32_t *at, int sleds)
{
    enum { JUMP = 0x5, SLED_WORDS = 8, LENGTH_MAX = 400 };
    int found = 0;

    for (int i = 0; i < LENGTH_MAX && found < sleds; i++) {
        if (!is_branch(at[i], JUMP) || (sleds > 1 && at[i + 1] != NOP))
            continue;
        if (target_of(at + i) == at + i + SLED_WORDS)
            return 2;
        found++;
        if (!interrupt_at(at + i) || !interrupt_stub(target_of(at + i)))
            return 1;
    }
    return found == sleds ? 0 : 2;
}

/* Usage: stub_signals SLEDS, where 1 means a patchable entry. */
NEVER int main(int count, char **arguments)
{
    struct sigaction action = {.sa_handler = handle};

    sigaction(SIGTRAP, &action, NULL);
    if (!call_outer())
        return 1;
    int sleds = count > 1 ? arguments[1][0] - '0' : 2;
    int status = interrupt_function((uint32_t *)(uintptr_t)outer, sleds);
    printf("inner %lu\nouter %lu\n", inner_calls, outer_calls);
    return status;
}
