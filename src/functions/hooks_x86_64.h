/* SPDX-License-Identifier: MIT
 *
 * hooks_x86_64.h: macros for the hooks in fentry_x86_64.S and sites_x86_64.S. When a hook is
 * called, registers of any kind may hold arguments or results, so none may change.
 */
#ifndef PROBITY_FUNCTIONS_HOOKS_X86_64_H
#define PROBITY_FUNCTIONS_HOOKS_X86_64_H

/* struct probity_site_function */
#define FUNCTION_LEVEL 36
#define FUNCTION_FLAGS 37
#define FUNCTION_CODE 40

/* above: number of bytes between the return address and the stack pointer, at the first
 * instruction. */
    .macro begin_function name, above=0
    .section .text.\name, "ax", @progbits
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    .if \above
    .cfi_def_cfa_offset 8 + \above
    .endif
    endbr64
    .endm

    .macro end_function name
    .cfi_endproc
    .size \name, . - \name
    .endm

    .macro save register
    pushq \register
    .cfi_adjust_cfa_offset 8
    .endm

    .macro restore register
    popq \register
    .cfi_adjust_cfa_offset -8
    .endm

/* struct probity_thread */
#define VALID_BIT 8
#define LAST_TICK 16
#define GAP_TICKS 24

/* Does the same as probity_hit() with the code in %edi, and returns. Saved are %rax, %rcx, %rdx,
 * %rsi, %rdi and, before them, `dropped` other bytes, which are dropped. */
    .macro hit dropped
    movq probity_thread_self@gottpoff(%rip), %rcx
    movq %fs:(%rcx), %rcx
    testq %rcx, %rcx
    je 10f
    movl $8, %esi
    xaddq %rsi, (%rcx)
    testq %rsi, VALID_BIT(%rcx)
    je 11f
    rdtsc
    shlq $32, %rdx
    orq %rdx, %rax
    movq %rax, %rdx
    subq LAST_TICK(%rcx), %rdx
    cmpq GAP_TICKS(%rcx), %rdx
    jae 12f
    movq %rax, LAST_TICK(%rcx)
    shlq $24, %rax
    orq %rdi, %rax
    movq %rax, (%rsi)
13: restore_five
    .if \dropped
    leaq \dropped(%rsp), %rsp
    .cfi_adjust_cfa_offset -\dropped
    .endif
    ret
    .cfi_adjust_cfa_offset 40 + \dropped
10: movq probity_active@GOTPCREL(%rip), %rax
    cmpl $0, (%rax)
    je 13b
11: movl %edi, %esi
    movq probity_probe_slow@GOTPCREL(%rip), %rdi
    xorl %edx, %edx
    xorl %ecx, %ecx
    call probity_keep_low_vectors
    jmp 13b
12: movq %rsi, %rdx
    movl %edi, %esi
    movq %rax, %rcx
    movq probity_probe_gap@GOTPCREL(%rip), %rdi
    call probity_keep_low_vectors
    jmp 13b
    .endm

    .macro restore_five
    restore %rdi
    restore %rsi
    restore %rdx
    restore %rcx
    restore %rax
    .endm

    .hidden probity_keep_low_vectors

#endif
