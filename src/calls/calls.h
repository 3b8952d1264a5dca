/* SPDX-License-Identifier: MIT
 *
 * calls.h: shared by all replacements for functions of libc (doc/calls.md). The function that a
 * program calls tests one word and, if its family is off, jumps to libc's; otherwise it jumps to a
 * function that records. So a family that is off takes no stack and appears in no backtrace.
 *
 * All of this runs in the traced program, in any thread, in signal handlers, in constructors before
 * the library's own, inside the dynamic linker, in forked children, and in children of vfork() in
 * their parent's memory. It allocates nothing, takes no lock and preserves errno.
 */
#ifndef PROBITY_CALLS_CALLS_H
#define PROBITY_CALLS_CALLS_H

#include "base/called.h"
#include "base/cpu.h"
#include "calls/names.h"
#include "probity_scope.h"

/* This bit of probity_calls_shared.on is set while work remains to be done: the functions have not
 * been found, or a recording has begun whose mappings are not in the trace yet. */
#define PROBITY_CALLS_UNREADY (UINT32_C(1) << 31)
/* Functions of libc, or of a library between this one and libc. NULL: not found (yet). */
struct probity_calls_next {
#define PROBITY_CALLS_MEMBER(name) __typeof__(name) *name;
    PROBITY_CALLS_NAMES(PROBITY_CALLS_MEMBER)
#undef PROBITY_CALLS_MEMBER
};
extern struct probity_calls_next probity_calls_next __attribute__((visibility("hidden")));

/* Does the work that PROBITY_CALLS_UNREADY indicates, as far as possible now. `place`: the return
 * address of the call that found it. */
void probity_calls_prepare(const void *place) __attribute__((cold, visibility("hidden")));

/* Finds the functions. Also called before the constructor. */
void probity_calls_find(void) __attribute__((visibility("hidden")));

/* Returns the first function of this name in an object that is loaded after this library, or NULL.
 * For names that may belong to a library loaded by dlopen(). Takes the dynamic linker's lock. */
void *probity_calls_find_now(const char *name) __attribute__((visibility("hidden")));

/* Text segments of the libraries whose own calls are not recorded, each contiguous; bytes 0:
 * none. */
enum { PROBITY_CALLS_OWN = 4 };
struct probity_calls_own {
    uintptr_t start, bytes;
};

/* What most calls read, in as few cache lines as possible: after a system call, each of them may be
 * a miss. */
struct probity_calls_shared {
    uint32_t on;      /* the families that are on */
    uint32_t counted; /* see locks.h */
    struct probity_calls_own own[PROBITY_CALLS_OWN + 1]; /* the first one covers all others */
};
extern struct probity_calls_shared probity_calls_shared __attribute__((visibility("hidden")));

/* The same for one thread. */
struct probity_calls_thread;
struct probity_calls_local {
    uint32_t cost_left;  /* pieces of work until the next timed one (cost.h) */
    uint64_t has_waited; /* functions whose latest timed call took long (scopes.h) */
    struct probity_calls_thread *self; /* NULL: none yet, or the thread is ending (locks.h) */
};
extern __thread struct probity_calls_local probity_calls_local
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Returns whether a call is made by one of these libraries. */
static inline int probity_calls_is_own(const void *place)
{
    const struct probity_calls_own *own = probity_calls_shared.own;
    uintptr_t at = (uintptr_t)place;

    if (__builtin_expect(at - own[0].start >= own[0].bytes, 1))
        return 0;
    for (int i = 1; i <= PROBITY_CALLS_OWN; i++) {
        if (at - own[i].start < own[i].bytes)
            return 1;
    }
    return 0;
}

/* Returns which of these families are on, with PROBITY_CALLS_UNREADY. */
static inline __attribute__((always_inline)) uint32_t probity_calls_on_of(uint32_t families)
{
    return __atomic_load_n(&probity_calls_shared.on, __ATOMIC_RELAXED) &
           (families | PROBITY_CALLS_UNREADY);
}

/* Returns whether no call of these families is recorded. If true, everything in the table is
 * found. */
static inline __attribute__((always_inline)) int probity_calls_are_off(uint32_t families)
{
    uint32_t on = probity_calls_on_of(families);

    if (__builtin_expect(on == 0, 1))
        return 1;
    if (__builtin_expect((on & PROBITY_CALLS_UNREADY) == 0, 1))
        return 0;
    probity_calls_prepare(__builtin_return_address(0));
    return (__atomic_load_n(&probity_calls_shared.on, __ATOMIC_RELAXED) & families) == 0;
}

/* Returns whether a call that returns to `place` was made by the program, not by Probity. Only if
 * the family is on. */
static inline __attribute__((always_inline)) int probity_calls_are_of_program(const void *place)
{
    return __builtin_expect(probity_thread_inside == 0, 1) && !probity_calls_is_own(place);
}

/* Defines the function that the program calls as `name`, and begins the one that records, whose
 * body follows. Both have these parameters. */
#define PROBITY_CALLS_WRAP(families, type, name, parameters, arguments)                            \
    PROBITY_CALLS_WRAP_AS(, 0, families, type, name, parameters, arguments)

/* For a function that usually makes a system call. */
#define PROBITY_CALLS_WRAP_SYSTEM(families, type, name, parameters, arguments)                     \
    PROBITY_CALLS_WRAP_AS(PROBITY_CPU_RETURNS_BY_JUMP, 0, families, type, name, parameters,        \
                          arguments)

/* done: if true, nothing else has to be done for the call. Preparations are in a separate function,
 * so that this one saves no registers. All of them are entered by jumps, so each has the program's
 * return address. */
#define PROBITY_CALLS_WRAP_AS(attribute, done, families, type, name, parameters, arguments)        \
    static __attribute__((noinline)) attribute type record_##name parameters;                      \
    static __attribute__((noinline, cold)) type prepare_##name parameters                          \
    {                                                                                              \
        if (probity_calls_are_off(families))                                                       \
            return probity_calls_next.name arguments;                                              \
        return record_##name arguments;                                                            \
    }                                                                                              \
    PROBITY_API type name parameters                                                               \
    {                                                                                              \
        uint32_t on = probity_calls_on_of(families);                                               \
                                                                                                   \
        if (__builtin_expect(on & PROBITY_CALLS_UNREADY, 0))                                       \
            return prepare_##name arguments;                                                       \
        if (__builtin_expect(on == 0, 1) || (done))                                                \
            return probity_calls_next.name arguments;                                              \
        return record_##name arguments;                                                            \
    }                                                                                              \
    static type record_##name parameters

/* The same for a function without a result. */
#define PROBITY_CALLS_WRAP_VOID(families, name, parameters, arguments)                             \
    static __attribute__((noinline)) void record_##name parameters;                                \
    static __attribute__((noinline, cold)) void prepare_##name parameters                          \
    {                                                                                              \
        if (probity_calls_are_off(families))                                                       \
            probity_calls_next.name arguments;                                                     \
        else                                                                                       \
            record_##name arguments;                                                               \
    }                                                                                              \
    PROBITY_API void name parameters                                                               \
    {                                                                                              \
        uint32_t on = probity_calls_on_of(families);                                               \
                                                                                                   \
        if (__builtin_expect(on & PROBITY_CALLS_UNREADY, 0))                                       \
            prepare_##name arguments;                                                              \
        else if (__builtin_expect(on == 0, 1))                                                     \
            probity_calls_next.name arguments;                                                     \
        else                                                                                       \
            record_##name arguments;                                                               \
    }                                                                                              \
    static void record_##name parameters

/* The return address, in the program, of a function that records. */
#define PROBITY_CALLS_PLACE __builtin_return_address(0)

/* ---- Mappings and descriptors ------------------------------------------------------------------
 */

/* Lists the objects that have been loaded since the last call, and records each if anything is
 * being recorded. Takes the dynamic linker's lock. */
void probity_calls_mappings_update(void) __attribute__((visibility("hidden")));

/* Records all listed objects. Takes no lock. */
void probity_calls_mappings_record(void) __attribute__((visibility("hidden")));

/* Records the files and peers of the open descriptors. */
void probity_calls_descriptors_record(void) __attribute__((visibility("hidden")));

#endif
