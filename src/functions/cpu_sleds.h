/* SPDX-License-Identifier: MIT
 *
 * cpu_sleds.h: the machine code of XRay sleds: what they look like, what replaces them, and the
 * code that a replaced sled enters. Takes no lock, allocates nothing, preserves errno.
 *
 *     function:  enter sled          jmp over it            ->  id, call STUB
 *                ...
 *                leave sled          ret, nops              ->  id, jmp STUB
 *                tail sled           jmp over it            ->  id, call STUB
 *                jmp other function
 */
#ifndef PROBITY_FUNCTIONS_CPU_SLEDS_H
#define PROBITY_FUNCTIONS_CPU_SLEDS_H

#include <stdint.h>

/* LEAVE: in place of a return. TAIL: before a jump to another function, which then returns in
 * place of this one. In both cases the function's frame no longer exists. */
enum probity_cpu_sled_kind {
    PROBITY_CPU_SLED_ENTER,
    PROBITY_CPU_SLED_LEAVE,
    PROBITY_CPU_SLED_TAIL,
    PROBITY_CPU_SLED_KINDS
};

enum probity_cpu_sled_state {
    PROBITY_CPU_SLED_FOREIGN, /* other code, or the sled of another kind */
    PROBITY_CPU_SLED_OFF,     /* as the compiler made it */
    PROBITY_CPU_SLED_ON,      /* replaced, by this library or by XRay's runtime */
    PROBITY_CPU_SLED_REMOVED  /* was replaced, and switched off again */
};

enum { PROBITY_CPU_SLED_BYTES = 11, PROBITY_CPU_SLED_STUBS_BYTES = 64 };

/* Whether this CPU has sleds that can be replaced. */
int probity_cpu_sleds_are_usable(void);

/* at: PROBITY_CPU_SLED_BYTES readable bytes. */
enum probity_cpu_sled_state probity_cpu_sled_state(const uint8_t *at,
                                                   enum probity_cpu_sled_kind kind);

/* Fills PROBITY_CPU_SLED_STUBS_BYTES at an address from which sleds reach it: jumps to the code
 * below, one for each kind. */
void probity_cpu_sled_make_stubs(uint8_t *stubs);

/* Whether a sled reaches the stubs. */
int probity_cpu_sled_reaches(uintptr_t sled, uintptr_t stubs);

/* Replaces a sled in two steps, between which all threads must pass a barrier for code: first the
 * bytes that no thread executes, then, with one store, the two that lead past them. */
void probity_cpu_sled_prepare(uint8_t *at, enum probity_cpu_sled_kind kind, uint32_t id,
                              const uint8_t *stubs);
void probity_cpu_sled_switch_on(uint8_t *at, enum probity_cpu_sled_kind kind);

/* Undoes the second step. Threads may still be executing the rest of the sled, which is left
 * unchanged: such a sled can be switched on again in one step. */
void probity_cpu_sled_switch_off(uint8_t *at, enum probity_cpu_sled_kind kind);

/* What replaced sleds call, with all integer registers saved; not vector registers, so these are
 * compiled without them and call other functions by keep_vectors.h. back: where the return address
 * of the function is. */
void probity_sled_enter(uint32_t id, const uintptr_t *back) __attribute__((visibility("hidden")));
void probity_sled_leave(uint32_t id, const uintptr_t *back) __attribute__((visibility("hidden")));
void probity_sled_tail(uint32_t id, const uintptr_t *back) __attribute__((visibility("hidden")));

/* Words from the saved r9, which r8, rdi, rsi, rdx, rcx and rax follow, to `back`: at an enter the
 * return address of the sled's call is between them. */
enum { PROBITY_CPU_SLED_ENTER_WORDS = 8, PROBITY_CPU_SLED_LEAVE_WORDS = 7 };

#endif
