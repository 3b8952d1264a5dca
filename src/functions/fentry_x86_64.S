/* SPDX-License-Identifier: MIT
 *
 * fentry_x86_64.S: what functions call that were compiled with -pg -mfentry
 * -minstrument-return=call. At such a call, arguments or results are in registers of all kinds, so
 * none may change. No return address is replaced.
 */
#ifdef __x86_64__
#ifdef __CET__
#include <cet.h>
#endif

#define LEVEL 5 /* PROBITY_FUNCTIONS_LEVEL */

    .macro begin_function name
    .section .text.\name, "ax", @progbits
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
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

    .hidden probity_calls, probity_fentry_enter, probity_fentry_leave

/* While nothing is recorded and no call is open, a load and a test of each. */
    .global __fentry__
    begin_function __fentry__
    save %rax
    movq probity_scope_level@GOTPCREL(%rip), %rax
    cmpl $LEVEL, (%rax)
    jge 1f
    movq probity_calls@gottpoff(%rip), %rax
    cmpl $0, %fs:(%rax)
    jne 1f
    restore %rax
    ret
    .cfi_adjust_cfa_offset 8
1:  restore %rax
    jmp probity_fentry_enter
    end_function __fentry__

    .global __return__
    begin_function __return__
    save %rax
    movq probity_calls@gottpoff(%rip), %rax
    cmpl $0, %fs:(%rax)
    restore %rax
    jne probity_fentry_leave
    ret
    end_function __return__

/* void probity_keep_vectors(void (*function)(void), uint64_t, uint64_t, uint64_t): calls the
 * function with these arguments; changes no register, and none of the x87, SSE, AVX, AVX-512 and APX
 * state. The function finds the x87 stack empty and no floating-point exception unmasked. */
#define CALLER_SAVED 9 /* below the frame pointer: */
#define FUNCTION -40(%rbp)
#define ARGUMENT_1 -32(%rbp)
#define ARGUMENT_2 -24(%rbp)
#define ARGUMENT_3 -16(%rbp)

    .global probity_keep_vectors
    .hidden probity_keep_vectors
    begin_function probity_keep_vectors
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    andq $-64, %rsp
    movl vector_bytes(%rip), %eax
    testl %eax, %eax
    jne 1f
    call find_vector_bytes
    movl vector_bytes(%rip), %eax
1:  subq %rax, %rsp
    movl vector_components(%rip), %eax
    testl %eax, %eax
    je 2f
    xorl %edx, %edx /* XSAVE leaves parts of its header as they are, and XRSTOR checks them */
    .irp offset, 512, 520, 528, 536, 544, 552, 560, 568
    movq %rdx, \offset(%rsp)
    .endr
    xsave64 (%rsp)
    jmp 3f
2:  fxsave64 (%rsp)
3:  emms
    ldmxcsr all_masked(%rip)
    movq ARGUMENT_1, %rdi
    movq ARGUMENT_2, %rsi
    movq ARGUMENT_3, %rdx
    call *FUNCTION
    movl vector_components(%rip), %eax
    testl %eax, %eax
    je 4f
    xorl %edx, %edx
    xrstor64 (%rsp)
    jmp 5f
4:  fxrstor64 (%rsp)
5:  leaq -8 * CALLER_SAVED(%rbp), %rsp
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
    popq %rbp
    .cfi_def_cfa %rsp, 8
    ret
    end_function probity_keep_vectors

/* Of the states that an operating system may enable, those that code may use without asking for
 * them: x87, SSE, AVX, the three of AVX-512, the general registers of APX. The size is stored last:
 * of two threads that come here, both store the same. Changes %rax to %rdx, %r8 to %r11. */
#define COMPONENTS 0x800e7
#define LEGACY_BYTES 512
#define HEADER_BYTES 64
#define OSXSAVE 27

    begin_function find_vector_bytes
    save %rbx
    .cfi_rel_offset %rbx, 0
    xorl %r8d, %r8d
    movl $LEGACY_BYTES, %r9d
    movl $1, %eax
    cpuid
    btl $OSXSAVE, %ecx
    jnc 3f
    xorl %ecx, %ecx
    xgetbv
    movl %eax, %r8d
    andl $COMPONENTS, %r8d
    movl $(LEGACY_BYTES + HEADER_BYTES), %r9d
    movl $2, %r10d
1:  btl %r10d, %r8d
    jnc 2f
    movl $0xd, %eax
    movl %r10d, %ecx
    cpuid /* size and offset of the component */
    addl %ebx, %eax
    cmpl %r9d, %eax
    cmoval %eax, %r9d
2:  incl %r10d
    cmpl $20, %r10d
    jb 1b
3:  addl $63, %r9d
    andl $-64, %r9d
    movl %r8d, vector_components(%rip)
    movl %r9d, vector_bytes(%rip)
    restore %rbx
    .cfi_restore %rbx
    ret
    end_function find_vector_bytes

    .local vector_components, vector_bytes
    .comm vector_components, 4, 4 /* 0: the CPU or the system has no XSAVE */
    .comm vector_bytes, 4, 4 /* 0: not known yet */

    .section .rodata.all_masked, "a", @progbits
    .p2align 2
all_masked:
    .long 0x1f80
#endif
    .section .note.GNU-stack, "", @progbits
