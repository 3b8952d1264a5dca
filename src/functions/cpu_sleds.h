/* SPDX-License-Identifier: MIT
 *
 * cpu_sleds.h: the machine code of XRay sleds: as compiled, as replaced, and the code that a
 * replaced sled enters. Takes no lock, allocates nothing, preserves errno.
 *
 *     function:  enter sled          jmp over it            ->  jmp STUB
 *                ...                                            (id, call, jmp back)
 *                leave sled          ret, nops              ->  jmp STUB (id, jmp)
 *                tail sled           jmp over it            ->  jmp STUB (as enter)
 *                jmp other function
 *
 * A replaced sled is one instruction, so no thread is ever inside it. Once its original first
 * instruction has been restored, and all threads have passed a barrier for code, no thread executes
 * the rest of the sled, which can then be restored, too.
 */
#ifndef PROBITY_FUNCTIONS_CPU_SLEDS_H
#define PROBITY_FUNCTIONS_CPU_SLEDS_H

#include <stddef.h>
#include <stdint.h>

/* LEAVE: instead of a return. TAIL: before a jump to another function, which then returns instead
 * of this one. In both cases, the function's frame no longer exists. */
enum probity_cpu_sled_kind {
    PROBITY_CPU_SLED_ENTER,
    PROBITY_CPU_SLED_LEAVE,
    PROBITY_CPU_SLED_TAIL,
    PROBITY_CPU_SLED_KINDS
};

enum probity_cpu_sled_state {
    PROBITY_CPU_SLED_FOREIGN, /* other code, or the sled of another kind */
    PROBITY_CPU_SLED_OFF,     /* as the compiler made it */
    PROBITY_CPU_SLED_ON,      /* replaced by this library */
    PROBITY_CPU_SLED_TAKEN    /* is, or was, replaced by XRay's runtime */
};

enum {
#ifdef __aarch64__
    PROBITY_CPU_SLED_BYTES = 32,
    PROBITY_CPU_SLED_STUB_BYTES = 32,
#else
    PROBITY_CPU_SLED_BYTES = 11,
    PROBITY_CPU_SLED_STUB_BYTES = 16,
#endif
    PROBITY_CPU_SLED_LINKS_BYTES = 16 * PROBITY_CPU_SLED_KINDS
};

/* Returns whether this CPU has sleds that can be replaced. */
int probity_cpu_sleds_are_usable(void);

/* Returns the state of the sled at an address with PROBITY_CPU_SLED_BYTES readable bytes. */
enum probity_cpu_sled_state probity_cpu_sled_state(const uint8_t *at,
                                                   enum probity_cpu_sled_kind kind);

/* Fills PROBITY_CPU_SLED_LINKS_BYTES within reach of stubs with jumps to the code below, one for
 * each kind. */
void probity_cpu_sled_make_links(uint8_t *links);

/* Fills PROBITY_CPU_SLED_STUB_BYTES with the stub of one sled. The stub must exist as long as a
 * thread may execute the sled's function. */
void probity_cpu_sled_make_stub(uint8_t *stub, const uint8_t *links, const uint8_t *at,
                                enum probity_cpu_sled_kind kind, uint32_t id);

/* Returns whether a sled can branch to all of this memory. */
int probity_cpu_sled_reaches(uintptr_t sled, uintptr_t memory, size_t bytes);

/* Replace or restore a sled in two steps. All threads must pass a barrier for code between them,
 * and after the second. In one step, a single store changes the two bytes that lead past the rest
 * of the sled; in the other, the rest changes, which no thread executes. */
enum { PROBITY_CPU_SLED_STEPS = 2 };
void probity_cpu_sled_put(uint8_t *at, const uint8_t *stub, int step);
void probity_cpu_sled_take_out(uint8_t *at, enum probity_cpu_sled_kind kind, int step);

/* Called by replaced sleds with all integer registers saved, but not vector registers, so these
 * functions are compiled without them and call others through keep_vectors.h. back: address of the
 * function's return address. */
void probity_sled_enter(uint32_t id, const uintptr_t *back) __attribute__((visibility("hidden")));
void probity_sled_leave(uint32_t id, const uintptr_t *back) __attribute__((visibility("hidden")));
void probity_sled_tail(uint32_t id, const uintptr_t *back) __attribute__((visibility("hidden")));

/* Called by the entry of a function that was compiled with -fpatchable-function-entry, on AArch64.
 * from: the address after the branch. */
void probity_patchable_enter(uintptr_t from, const uintptr_t *back)
    __attribute__((visibility("hidden")));

/* Number of words from the first saved register to `back`. On x86-64 the first one is r9, followed
 * by r8, rdi, rsi, rdx, rcx and rax; at an enter, the return address of the stub's call is between
 * them and `back`. On AArch64, x0 to x15. */
#ifdef __aarch64__
enum { PROBITY_CPU_SLED_ENTER_WORDS = 21, PROBITY_CPU_SLED_LEAVE_WORDS = 21 };
#else
enum { PROBITY_CPU_SLED_ENTER_WORDS = 8, PROBITY_CPU_SLED_LEAVE_WORDS = 7 };
#endif

/* Returns the position of argument or result `index` in these words, and in the area of the
 * vectors. */
static inline uint32_t probity_cpu_sled_word_of(uint32_t index, int is_result)
{
#ifdef __aarch64__
    (void)is_result;
    return index;
#else
    static const uint8_t arguments[] = {2, 3, 4, 5, 1, 0}, results[] = {6, 4};

    return is_result ? results[index] : arguments[index];
#endif
}

static inline uint32_t probity_cpu_sled_vector_at(uint32_t index)
{
    enum { VECTOR_BYTES = 16 };
#ifdef __aarch64__
    enum { FIRST = 0 };
#else
    enum { FIRST = 160 }; /* as FXSAVE */
#endif
    return FIRST + VECTOR_BYTES * index;
}

#endif
