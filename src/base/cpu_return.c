/* SPDX-License-Identifier: MIT
 *
 * cpu_return.c: the end of functions with PROBITY_CPU_RETURNS_BY_JUMP, for libprobity-calls. The
 * compiler chooses its name. If the thread has a shadow stack, it must be a return instruction.
 */
#include "base/cpu.h"

#if PROBITY_CPU_HAS_RETURN_BY_JUMP
__asm__("\t.text\n\t.hidden __x86_return_thunk\n\t.globl __x86_return_thunk\n"
        "\t.type __x86_return_thunk, @function\n\t.p2align 4\n__x86_return_thunk:\n"
        "\t.cfi_startproc\n"
        "\txorl %ecx, %ecx\n"
        "\t.byte 0xf3, 0x48, 0x0f, 0x1e, 0xc9\n" /* rdsspq %rcx; without shadow stacks a no-op */
        "\ttestq %rcx, %rcx\n"
        "\tjne 1f\n"
        "\tpopq %rcx\n\t.cfi_adjust_cfa_offset -8\n\t.cfi_register %rip, %rcx\n"
        "\tjmp *%rcx\n"
        "1:\t.cfi_restore %rip\n\t.cfi_adjust_cfa_offset 8\n"
        "\tret\n"
        "\t.cfi_endproc\n\t.size __x86_return_thunk, . - __x86_return_thunk\n");
#endif
