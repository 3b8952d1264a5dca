/* SPDX-License-Identifier: MIT
 *
 * probity_patchable.h: scopes of files compiled with PROBITY_PATCHABLE. A scope begins and ends
 * with a no-op instruction, which libprobity-functions replaces with a call or a jump while the
 * program runs. Included by probity_scope.h; the public interface is FnTrace.h.
 */
#ifndef PROBITY_PATCHABLE_H
#define PROBITY_PATCHABLE_H

#include "probity_scope.h"

#if !defined(PROBITY_REFUSED) && PROBITY_SCOPE_PATCHABLE

#ifdef __cplusplus
extern "C" {
#endif

/* In libprobity-functions; the code of PROBITY_SCOPE_SITE below jumps to both. */
PROBITY_API void probity_scope_site_enter_hook(void);
PROBITY_API void probity_scope_site_leave_hook(void);

/* Value of is_open in scopes that were entered through their sites since the code was last
 * patched. */
extern PROBITY_API uint64_t probity_scope_epoch;

/* Call when an object with such scopes was loaded: turns them into calls if a recording is in
 * progress. Weak, so that a file that includes this header without using it needs no library. */
PROBITY_API void probity_scope_sites_loaded(void) __attribute__((__weak__));

/* One for each executable and shared library. */
extern int probity_scope_sites_are_known
    __attribute__((__weak__, __visibility__("hidden")));
int probity_scope_sites_are_known = 0;

/* Runs before other constructors of an object that dlopen() loads, whatever calls dlopen(). */
__attribute__((__constructor__(101), __no_instrument_function__)) static void
probity_scope_sites_come(void)
{
    if (!probity_scope_sites_are_known && probity_scope_sites_loaded)
        probity_scope_sites_loaded();
    probity_scope_sites_are_known = 1;
}

/* A site: the five bytes of `test $DISTANCE, %eax`, at a point where the flags may change. To patch
 * it, the first byte is replaced with that of `call`, whose distance then leads to the code in
 * probity_stubs. That code passes on the operands that the compiler has chosen: it undoes the
 * call's push while it computes their addresses, so that the stack pointer is the same as in the
 * function. The return address is in the function, so its unwind information applies. */
#define PROBITY_SCOPE_SITE                                                                         \
    ".Lprobity_site%=:\n\t.byte 0xa9\n\t.long .Lprobity_stub%= - . - 4\n"                          \
    "\t.pushsection probity_sites, \"ao?\", %%progbits, .Lprobity_site%=\n"                        \
    "\t.balign 4\n\t.long .Lprobity_site%= - .\n\t.popsection\n"                                  \
    "\t.pushsection probity_stubs, \"axo?\", %%progbits, .Lprobity_site%=\n"
#define PROBITY_SCOPE_SITE_END "\t.popsection\n"
/* A jump through the global offset table. */
#define PROBITY_SCOPE_SITE_JUMP(hook)                                                              \
    "\t{jmp *" hook "@GOTPCREL(%%rip)|.byte 0xff, 0x25\n\t.long " hook "@GOTPCREL - 4}\n"

/* Makes the compiler assume a call, so that the function has no red zone. Generates no code. */
__attribute__((__always_inline__)) PROBITY_INLINE void probity_scope_call_something(void)
{
    __asm__ goto("" : : : : never);
    return;
never:
    probity_scope_never();
}

/* The enter. The description is pushed; the distance to the note is before the code. variable: that
 * of `function`, by a constant address. */
#define PROBITY_SCOPE_ENTER_SITE(scope, variable, ...)                                             \
    do {                                                                                           \
        probity_scope_call_something();                                                            \
        __asm__ __inline__ volatile(                                                               \
            PROBITY_NOTE(3, 4, 5, 6, 7, 8, 9, 10, 11)                                              \
            "\n" PROBITY_SCOPE_SITE "\t.long .Lprobity_note%= - .\n"                               \
            ".Lprobity_stub%=:\n"                                                                  \
            "\t{pushq %c2(%%rip)|push qword ptr [rip+%c2]}\n"                                      \
            "\t{leaq 16(%%rsp), %%rsp|lea rsp, [rsp+16]}\n"                                        \
            "\t{leaq %0, %%r10|lea r10, %0}\n\t{leaq %1, %%r11|lea r11, %1}\n"                     \
            "\t{leaq -16(%%rsp), %%rsp|lea rsp, [rsp-16]}\n"                                       \
            PROBITY_SCOPE_SITE_JUMP("probity_scope_site_enter_hook") PROBITY_SCOPE_SITE_END        \
            : "=m"(*(scope))                                                                       \
            : "m"(*PROBITY_BYTES(PROBITY_FRAME)), "i"(&(variable)), PROBITY_NOTE_OF(__VA_ARGS__)   \
            : "cc", "r10", "r11");                                                                 \
    } while (0)

/* The enter of a scope with values, or of FN_ENTRY: its instruction is replaced with a jump to the
 * code that evaluates the values and calls a hook, wherever the compiler has placed it. Returns
 * whether the instruction was replaced. The jump leads through probity_stubs, where a no-op
 * instruction marks it. */
__attribute__((__always_inline__)) PROBITY_INLINE int probity_scope_is_patched(void)
{
    __asm__ __inline__ goto(PROBITY_SCOPE_SITE ".Lprobity_stub%=:\n"
                            "\t.byte 0x0f, 0x1f, 0x44, 0x50, 0x53\n" /* no-op */
                            "\tjmp %l0\n" PROBITY_SCOPE_SITE_END
                            :
                            :
                            : "cc"
                            : patched);
    return 0;
patched:
    return 1;
}

/* Makes the compiler consider the scope's memory initialized, without generating code. */
__attribute__((__always_inline__)) PROBITY_INLINE void
probity_scope_unknown(struct probity_scope_here *scope)
{
    __asm__("" : "=m"(*scope));
}

/* For use after a hook that sets is_open to 0 or 1. */
PROBITY_INLINE void
probity_scope_open_patched(struct probity_scope_here *scope)
{
    scope->is_open *= __atomic_load_n(&probity_scope_epoch, __ATOMIC_RELAXED);
}

/* The leave of a scope that was entered through its site, or not at all. "memory": the hook reads
 * the variable of FN_RETVAL. */
__attribute__((__always_inline__)) PROBITY_INLINE void
probity_scope_leave_site(struct probity_scope_here *scope)
{
    __asm__ __inline__ volatile(PROBITY_SCOPE_SITE ".Lprobity_stub%=:\n"
                                "\tpop{q %%r11| r11}\n\t{leaq %0, %%r10|lea r10, %0}\n"
                                "\tpush{q %%r11| r11}\n"
                                PROBITY_SCOPE_SITE_JUMP("probity_scope_site_leave_hook")
                                PROBITY_SCOPE_SITE_END
                                : "+m"(*scope)
                                :
                                : "memory", "cc", "r10", "r11");
}

/* Until the scope's code is patched, its memory, including is_open, is uninitialized. Call before
 * reading is_open. */
PROBITY_INLINE void
probity_scope_find_out(struct probity_scope_here *scope)
{
    if (scope->is_open != __atomic_load_n(&probity_scope_epoch, __ATOMIC_RELAXED))
        scope->is_open = 0;
}

#ifdef __cplusplus
}
#endif

#endif

#endif
