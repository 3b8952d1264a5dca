/* SPDX-License-Identifier: MIT
 *
 * probity_usdt.h: markers for other tracers. If PROBITY_USDT is defined before the include of
 * probity.h, Logger.h or FnTrace.h, each probe and each scope is also a static user-space marker
 * (USDT), which bpftrace, perf, SystemTap and GDB find in the ELF notes of the program:
 *
 *     bpftrace -l 'usdt:./prog:*'
 *     bpftrace -e 'usdt:./prog:probity:function_enter { @[str(arg0)] = count(); }' -c ./prog
 *
 *     Name             Arguments                                         Defined by
 *     function_enter   const char * function's name, int level           FN_FUNC and similar
 *     function_leave   const char * function's name                      the same, however left
 *     probe_7          uint32_t 7                                        PROBITY_PROBE(7)
 *     probe            uint32_t number                                   PROBITY_PROBE(n), LogEvent
 *     probe_with       uint64_t correlation id, object id, uint32_t n    PROBITY_PROBE_WITH ...
 *     NAME             none                                              PROBITY_PROBE_NAMED
 *     NAME__put ...    uint64_t correlation id, object id                PROBITY_QUEUE_PUT ...
 *
 * An id that a probe does not have is 0. The provider is "probity", or PROBITY_USDT_PROVIDER, a
 * string literal. A marker is a no-op instruction of five bytes (AArch64: four); its arguments are
 * in registers or memory. It is executed at any level, whether or not anything is recorded.
 * Parameters of functions, and messages, are not arguments, because they are evaluated only if they
 * are recorded. A name must not contain a percent sign, and tools may reject names with characters
 * other than letters, digits and underscores. With -masm=intel, tools cannot read the arguments.
 *
 * For the layout of the notes, see SystemTap's wiki (UserSpaceProbeImplementation).
 */
#ifndef PROBITY_USDT_H
#define PROBITY_USDT_H

#include "probity.h"

#if !defined(PROBITY_REFUSED) && !defined(PROBITY_MSVC)

#ifndef PROBITY_USDT_PROVIDER
#define PROBITY_USDT_PROVIDER "probity"
#endif

#ifndef PROBITY_USDT_NOP
#error "PROBITY_USDT: there are no markers for this CPU (x86-64 and AArch64)"
#endif

/* A marker. The variable arguments are its asm operands. From the second section, tools determine
 * by how much a prelinked file was moved. */
#define PROBITY_USDT_MARK(name, arguments, ...)                                                    \
    __asm__ __inline__ volatile(                                                                   \
        ".Lprobity_mark%=:\n\t" PROBITY_USDT_NOP "\t.pushsection .note.stapsdt, \"?\", %%note\n"   \
        "\t.balign 4\n\t.long 8, .Lprobity_mark_end%= - .Lprobity_mark_body%=, 3\n"                \
        "\t.asciz \"stapsdt\"\n"                                                                   \
        ".Lprobity_mark_body%=:\n\t.quad .Lprobity_mark%=, _.stapsdt.base, 0\n"                    \
        "\t.asciz \"" PROBITY_USDT_PROVIDER "\"\n\t.asciz \"" name "\"\n"                          \
        "\t.asciz \"" arguments "\"\n.Lprobity_mark_end%=:\n\t.balign 4\n\t.popsection\n"          \
        "\t.ifndef _.stapsdt.base\n"                                                               \
        "\t.pushsection .stapsdt.base, \"aG\", %%progbits, .stapsdt.base, comdat\n"                \
        "\t.weak _.stapsdt.base\n\t.hidden _.stapsdt.base\n_.stapsdt.base:\n\t.space 1\n"          \
        "\t.size _.stapsdt.base, 1\n\t.popsection\n\t.endif\n"                                     \
        :                                                                                          \
        : __VA_ARGS__)

/* A probe whose number is, or is not, a constant to the compiler's front end
 * (PROBITY_LIST_NUMBER). */
#define PROBITY_USDT_NUMBERED(number)                                                              \
    PROBITY_USDT_MARK("probe_%c0", PROBITY_USDT_WORD(1), "i"(number),                              \
                      PROBITY_USDT_PLACE(PROBITY_CAST(uint32_t, number)))
#define PROBITY_USDT_UNNUMBERED(number)                                                            \
    PROBITY_USDT_MARK("probe", PROBITY_USDT_WORD(0),                                               \
                      PROBITY_USDT_PLACE(PROBITY_CAST(uint32_t, number)))
#define PROBITY_USDT_NAMED(name) PROBITY_USDT_MARK(name, "", )
#define PROBITY_USDT_WITH(name, correlation, object)                                               \
    PROBITY_USDT_MARK(name, PROBITY_USDT_LONG(0) " " PROBITY_USDT_LONG(1),                         \
                      PROBITY_USDT_PLACE(correlation), PROBITY_USDT_PLACE(object))

#define PROBITY_USDT_NUMBERED_WITH(number, correlation, object)                                    \
    PROBITY_USDT_MARK("probe_with",                                                                \
                      PROBITY_USDT_LONG(0) " " PROBITY_USDT_LONG(1) " " PROBITY_USDT_WORD(2),      \
                      PROBITY_USDT_PLACE(correlation), PROBITY_USDT_PLACE(object),                 \
                      PROBITY_USDT_PLACE(PROBITY_CAST(uint32_t, number)))

/* Reads the name, because tracers in the kernel cannot read a page that the program has not yet
 * accessed. */
#define PROBITY_USDT_ENTER(name, level)                                                            \
    PROBITY_USDT_TOUCH(name);                                                                      \
    PROBITY_USDT_MARK("function_enter", PROBITY_USDT_LONG(0) " " PROBITY_USDT_WORD(1),             \
                      "r"(name), PROBITY_USDT_PLACE(PROBITY_CAST(int, level)))

#define PROBITY_USDT_TOUCH(name)                                                                   \
    __asm__ volatile("" : : "r"(*PROBITY_CAST(const volatile char *, name)))

/* Runs when a variable with the name of the function goes out of scope. */
static inline __attribute__((__always_inline__, __no_instrument_function__, __unused__)) void
probity_usdt_leave(const char *const *name)
{
    PROBITY_USDT_MARK("function_leave", PROBITY_USDT_LONG(0), PROBITY_USDT_PLACE(*name));
}

#endif /* PROBITY_REFUSED */

#endif
