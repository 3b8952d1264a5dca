/* SPDX-License-Identifier: MIT
 *
 * cpu.h: the processor interface. All CPU-specific code is in cpu.c and in the record path of
 * probity.h.
 */
#ifndef PROBITY_BASE_CPU_H
#define PROBITY_BASE_CPU_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether compilers support -mfentry and sleds for this CPU, and its record path needs only general
 * registers (src/functions/). */
#if defined(__x86_64__)
#define PROBITY_CPU_HAS_FENTRY 1
#define PROBITY_CPU_HAS_SLEDS 1
#elif defined(__aarch64__)
#define PROBITY_CPU_HAS_FENTRY 0
#define PROBITY_CPU_HAS_SLEDS 1
#else
#define PROBITY_CPU_HAS_FENTRY 0
#define PROBITY_CPU_HAS_SLEDS 0
#endif

/* Number of this machine in ELF files; registers that may hold the first arguments and the results
 * of a function: general ones, and vectors. */
#if defined(__aarch64__)
enum { PROBITY_CPU_ELF_MACHINE = 183, PROBITY_CPU_ARGUMENTS = 8, PROBITY_CPU_RESULT_VECTORS = 4 };
#else
enum { PROBITY_CPU_ELF_MACHINE = 62, PROBITY_CPU_ARGUMENTS = 6, PROBITY_CPU_RESULT_VECTORS = 2 };
#endif
enum { PROBITY_CPU_ARGUMENT_VECTORS = 8, PROBITY_CPU_RESULTS = 2 };

/* For a function that returns after a system call made by another function: it ends in a jump to
 * its return address. A return instruction would be mispredicted, at a cost of 15 ns (AMD EPYC),
 * because the kernel has filled the return stack buffer with its own addresses. */
#ifdef __has_attribute
#if defined(__x86_64__) && __has_attribute(function_return)
#define PROBITY_CPU_HAS_RETURN_BY_JUMP 1
#define PROBITY_CPU_RETURNS_BY_JUMP __attribute__((function_return("thunk-extern")))
#endif
#endif
#ifndef PROBITY_CPU_HAS_RETURN_BY_JUMP
#define PROBITY_CPU_HAS_RETURN_BY_JUMP 0
#define PROBITY_CPU_RETURNS_BY_JUMP
#endif

/* CRC-32C without initial and final XOR. Uses the CPU's instruction if there is one. */
uint32_t probity_cpu_crc32c(uint32_t crc, const uint8_t *bytes, size_t count);

/* Whether user code may read the CPU's counter and it runs at one rate on all cores: 1 or 0. */
int probity_cpu_counter_is_usable(void);

/* The enum probity_clock_kind of the counter (doc/trace-format.md). */
uint32_t probity_cpu_counter_kind(void);

/* Reads the counter. Call only if it is usable. The processor may read it before preceding
 * instructions have finished. */
uint64_t probity_cpu_counter(void);

/* The processor's name as in /proc/cpuinfo, at most PROBITY_CPU_MODEL_BYTES; "" if no instruction
 * provides it. */
enum { PROBITY_CPU_MODEL_BYTES = 49 };
void probity_cpu_model(char *ret_text);

/* Same as above, but only after all preceding instructions have finished. */
uint64_t probity_cpu_counter_ordered(void);

/* Runs instructions of one kind for 150 to 300 ns, each depending on the result of the previous
 * one. None accesses memory outside the L1 cache or raises a floating-point exception. */
enum probity_cpu_chain {
    PROBITY_CPU_CHAIN_INTEGERS, /* multiplications */
    PROBITY_CPU_CHAIN_LOADS,
    PROBITY_CPU_CHAIN_DOUBLES, /* multiplications and additions */
    PROBITY_CPU_CHAIN_DIVISIONS, /* of integers */
    PROBITY_CPU_CHAINS
};
void probity_cpu_chain(enum probity_cpu_chain kind);

/* Registers that libc may change and that hooks do not list as clobbered (PROBITY_HOOK_VECTORS in
 * probity.h): on x86 the vector registers 16 to 31 and the mask registers. A hook saves them before
 * it calls libc, and restores them afterwards. Async-signal-safe. */
struct probity_cpu_registers {
    uint64_t vector[16][8], mask[8];
};
void probity_cpu_keep(struct probity_cpu_registers *ret_kept);
void probity_cpu_restore(const struct probity_cpu_registers *kept);

/* Adds with one instruction, so that no addition is lost if a signal handler adds to the same
 * number. Not atomic with respect to other threads. */
static inline void probity_cpu_add(uint64_t *at, uint64_t value)
{
#if defined(__x86_64__)
    __asm__("addq %1, %0" : "+m"(*at) : "er"(value) : "cc");
#else
    __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
#endif
}

/* Copies two aligned words with one load and one store, so that a signal handler between any two
 * instructions never sees or leaves halves of two pairs. */
static inline void probity_cpu_copy_pair(void *to, const void *from)
{
    struct pair {
        uint64_t first, second;
    };
#if defined(__x86_64__)
    __asm__ volatile("movups %1, %%xmm0\n\tmovups %%xmm0, %0"
                     : "=m"(*(struct pair *)to)
                     : "m"(*(const struct pair *)from)
                     : "xmm0");
#elif defined(__aarch64__)
    uint64_t first, second;
    __asm__ volatile("ldp %0, %1, %2"
                     : "=&r"(first), "=&r"(second)
                     : "Q"(*(const struct pair *)from));
    __asm__ volatile("stp %1, %2, %0" : "=Q"(*(struct pair *)to) : "r"(first), "r"(second));
#else
    memcpy(to, from, sizeof(struct pair));
#endif
}

#endif
