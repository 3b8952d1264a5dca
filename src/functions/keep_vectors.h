/* SPDX-License-Identifier: MIT
 *
 * keep_vectors.h: calls from hooks that run while vector registers hold arguments or results.
 */
#ifndef PROBITY_FUNCTIONS_KEEP_VECTORS_H
#define PROBITY_FUNCTIONS_KEEP_VECTORS_H

#include <stdint.h>

#include "base/cpu.h"

#if PROBITY_CPU_HAS_FENTRY
#define PROBITY_KEEPING __attribute__((no_caller_saved_registers, visibility("hidden")))
#else
#define PROBITY_KEEPING __attribute__((visibility("hidden")))
#define probity_keep_low_vectors probity_keep_vectors
#endif

/* Calls the function with these arguments and, as a fourth one, the area in which vectors are
 * saved; only if PROBITY_CPU_HAS_SLEDS is 1. Async-signal-safe if the function is. On x86-64 it
 * changes no register at all (fentry_x86_64.S), and the area has the layout of FXSAVE. On AArch64
 * it changes general registers like any function (cpu_sleds_aarch64.c); the area has q0 to q31. */
void probity_keep_vectors(void (*function)(void), uint64_t a, uint64_t b, uint64_t c)
    PROBITY_KEEPING;

/* Does the same, faster and without the fourth argument, for a function that uses only the first 16
 * vector registers, like the functions of libprobity that hooks call. */
void probity_keep_low_vectors(void (*function)(void), uint64_t a, uint64_t b, uint64_t c)
    PROBITY_KEEPING;

/* Not a tail call: clang 14 would restore the registers of the arguments before its jump. */
#define PROBITY_KEEP_VECTORS(function, a, b, c)                                                    \
    PROBITY_KEEP_VECTORS_BY(probity_keep_vectors, function, a, b, c)
#define PROBITY_KEEP_LOW_VECTORS(function, a, b, c)                                                \
    PROBITY_KEEP_VECTORS_BY(probity_keep_low_vectors, function, a, b, c)
#define PROBITY_KEEP_VECTORS_BY(keep, function, a, b, c)                                           \
    do {                                                                                           \
        keep((void (*)(void))(function), (uint64_t)(a), (uint64_t)(b), (uint64_t)(c));             \
        __asm__ volatile("");                                                                      \
    } while (0)

#endif
