/* SPDX-License-Identifier: MIT
 *
 * fentry_x86_64.S: called by functions that were compiled with -pg -mfentry
 * -minstrument-return=call. At such a call, registers of any kind may hold arguments or results, so
 * none may change. No return address is replaced.
 */
#ifdef __x86_64__
#ifdef __CET__
#include <cet.h>
#endif

#include "hooks_x86_64.h"

#define LEVEL 5 /* PROBITY_FUNCTIONS_LEVEL */

/* struct probity_calls and struct probity_call, of 48 bytes */
#define CALLS_MAX 65536
#define CALLS_TABLE 8
#define CALL_BYTES 48
#define CALL_BACK 8
#define CALL_FROM 16
#define CALL_STACK 24
#define CALL_CODE 32
#define CALL_DEPTH 36
#define CALL_PLACE 40 /* its highest bit: PROBITY_CALL_VALUED */
#define CALL_RAISED 44
#define ENTERING 2
#define NEAR 65536 /* PROBITY_CALL_NEAR */
#define READABLE 4096 /* PROBITY_CALL_READABLE */

/* probity_entries: a table of 2^18 pairs of an address and a descriptor, and of that: */
#define ENTRY_SHIFT 46
#define ENTRIES 16 /* PROBITY_FUNCTION_ENTRIES */
#define FUNCTION_NUMBER 44

    .hidden probity_calls, probity_fentry_enter, probity_fentry_leave
    .hidden probity_fentry_enter_unusual, probity_fentry_leave_unusual
    .hidden probity_arguments_are_described, probity_arguments_filter, probity_entries

/* While nothing is recorded and no call is open, this is a load and a test for each of the two.
 * Calls that are only counted are counted here, with few registers, because such functions are
 * called most often. The usual enter and leave are here too, instead of the functions in fentry.c,
 * for which the compiler saves twice as many registers: the same steps in the same order. */
    .global __fentry__
    begin_function __fentry__
    save %rax
    movq probity_scope_level@GOTPCREL(%rip), %rax
    cmpl $LEVEL, (%rax)
    jge 3f
    movq probity_calls@gottpoff(%rip), %rax
    cmpl $0, %fs:(%rax)
    jne 1f
    restore %rax
    ret
    .cfi_adjust_cfa_offset 8
    /* probity_calls_count() */
3:  movq probity_scope_counters@gottpoff(%rip), %rax
    movq %fs:(%rax), %rax
    testq %rax, %rax
    je 5f
    save %rcx
    save %rdx
    movq 24(%rsp), %rcx
    movabsq $0x9e3779b97f4a7c15, %rdx
    imulq %rcx, %rdx
    shrq $ENTRY_SHIFT, %rdx
    shlq $4, %rdx
    cmpq $0, probity_entries(%rip)
    je 4f
    addq probity_entries(%rip), %rdx
    cmpq %rcx, (%rdx)
    jne 4f
    movq 8(%rdx), %rdx
    testq %rdx, %rdx
    je 4f
    cmpl $0, FUNCTION_CODE(%rdx)
    jne 4f
    movl FUNCTION_NUMBER(%rdx), %ecx
    movq (%rax,%rcx,8), %rcx
    testq %rcx, %rcx
    je 4f
    addq $1, (%rcx)
    restore %rdx
    restore %rcx
    restore %rax
    ret
    .cfi_adjust_cfa_offset 24
4:  restore %rdx
    restore %rcx
1:  restore %rax
    cmpb $0, probity_arguments_are_described(%rip)
    je probity_fentry_enter
    /* Tests whether the function may have arguments to be recorded: arguments.c. */
    save %rax
    save %rcx
    movq 16(%rsp), %rcx
    shrq $4, %rcx
    movzwl %cx, %ecx
    leaq probity_arguments_filter(%rip), %rax
    cmpb $0, (%rax,%rcx)
    restore %rcx
    restore %rax
    je probity_fentry_enter
    jmp enter_with_registers
    .cfi_adjust_cfa_offset 8
    /* The usual enter: the function is known and recorded, and its frame is below that of the
     * innermost open call. */
5:  cmpb $0, probity_arguments_are_described(%rip)
    jne 1b
    save %rcx
    save %rdx
    save %rsi
    save %rdi
    movq 40(%rsp), %rsi
    movabsq $0x9e3779b97f4a7c15, %rax
    imulq %rsi, %rax
    shrq $ENTRY_SHIFT, %rax
    shlq $4, %rax
    movq probity_entries(%rip), %rdx
    testq %rdx, %rdx
    je 6f
    cmpq %rsi, (%rdx,%rax)
    jne 6f
    movq 8(%rdx,%rax), %rdx
    testq %rdx, %rdx
    je 6f
    testb $ENTRIES, FUNCTION_FLAGS(%rdx)
    jne 6f
    movl FUNCTION_CODE(%rdx), %edi
    testl %edi, %edi
    je 6f
    movq probity_scope_profiles@GOTPCREL(%rip), %rax
    cmpl $0, (%rax)
    jne 6f
    movq probity_calls@gottpoff(%rip), %rdx
    movl %fs:(%rdx), %ecx
    movq %fs:CALLS_TABLE(%rdx), %rax
    testq %rax, %rax
    je 6f
    cmpl $CALLS_MAX, %ecx
    jae 6f
    leaq (%rcx,%rcx,2), %rcx
    shlq $4, %rcx
    addq %rcx, %rax
    testq %rcx, %rcx
    leaq 48(%rsp), %rcx
    je 7f
    movq CALL_STACK - CALL_BYTES(%rax), %rsi
    subq %rcx, %rsi
    jbe 6f
    /* probity_calls_is_overwritten() */
    cmpq $READABLE, %rsi
    jae 8f
    movq (%rcx,%rsi), %rsi
    cmpq %rsi, CALL_BACK - CALL_BYTES(%rax)
    jne 6f
8:  movq 40(%rsp), %rsi
7:  addl $1, %fs:(%rdx)
    movq %rsi, (%rax)
    movq (%rcx), %rsi
    movq $0, CALL_FROM(%rax)
    movq %rsi, CALL_BACK(%rax)
    movq probity_scope_depth@gottpoff(%rip), %rdx
    movl %fs:(%rdx), %esi
    movl %esi, CALL_DEPTH(%rax)
    movl %esi, CALL_PLACE(%rax)
    movl $-1, CALL_RAISED(%rax)
    movl $ENTERING, CALL_CODE(%rax)
    movq %rcx, CALL_STACK(%rax)
    addl $1, %esi
    movl %esi, %fs:(%rdx)
    movl %edi, CALL_CODE(%rax)
    hit 0
6:  restore_five
    jmp probity_fentry_enter
    end_function __fentry__

    .global __return__
    begin_function __return__
    save %rax
    movq probity_calls@gottpoff(%rip), %rax
    cmpq $0, %fs:(%rax) /* the number of open calls, and above it minus that of valued ones */
    jg 3f
    restore %rax
    jl 1f
    ret
    .cfi_adjust_cfa_offset 8
    /* Tests whether the leave belongs to a call that was only counted: is_of_counted() in
     * fentry.c. */
3:  save %rcx
    movq probity_scope_counters@gottpoff(%rip), %rcx
    cmpq $0, %fs:(%rcx)
    je 5f
    movl %fs:(%rax), %ecx
    movq %fs:CALLS_TABLE(%rax), %rax
    decl %ecx
    cmpl $CALLS_MAX, %ecx
    jae 2f
    testq %rax, %rax
    je 2f
    leaq (%rcx,%rcx,2), %rcx
    shlq $4, %rcx
    movq CALL_STACK(%rax,%rcx), %rax
    leaq 24(%rsp), %rcx /* address of the function's return address */
    subq %rcx, %rax
    decq %rax
    cmpq $NEAR, %rax
    jae 2f
    restore %rcx
    restore %rax
    ret
    /* Tests whether the result of the innermost call is recorded. */
1:  save %rax
    save %rcx
    movq probity_calls@gottpoff(%rip), %rax
    movl %fs:(%rax), %ecx
    movq %fs:CALLS_TABLE(%rax), %rax
    decl %ecx
    cmpl $CALLS_MAX, %ecx
    jae 2f
    testq %rax, %rax
    je 2f
    leaq (%rcx,%rcx,2), %rcx
    shlq $4, %rcx
    cmpl $0, CALL_PLACE(%rax,%rcx)
    restore %rcx
    restore %rax
    jl leave_with_registers
    jmp probity_fentry_leave
    .cfi_adjust_cfa_offset 16
2:  restore %rcx
    restore %rax
    jmp probity_fentry_leave
    .cfi_adjust_cfa_offset 16
    /* The usual leave: that of the innermost call, which is recorded. */
5:  save %rdx
    save %rsi
    save %rdi
    movl %fs:(%rax), %ecx
    movq %fs:CALLS_TABLE(%rax), %rdx
    testq %rdx, %rdx
    je 6f
    cmpl $CALLS_MAX, %ecx
    ja 6f
    leaq (%rcx,%rcx,2), %rcx
    shlq $4, %rcx
    leaq -CALL_BYTES(%rdx,%rcx), %rdx
    leaq 48(%rsp), %rcx
    cmpq %rcx, CALL_STACK(%rdx)
    jne 6f
    cmpq $0, CALL_FROM(%rdx)
    jne 6f
    movl CALL_CODE(%rdx), %edi
    cmpl $ENTERING, %edi
    jbe 6f
    movl CALL_PLACE(%rdx), %esi
    movq probity_scope_depth@gottpoff(%rip), %rcx
    addl $1, %esi
    cmpl %esi, %fs:(%rcx)
    jne 6f
    movq $0, CALL_STACK(%rdx)
    subl $1, %fs:(%rax)
    subl $1, %esi
    movl %esi, %fs:(%rcx)
    addl $2, %edi
    hit 0
6:  restore_five
    jmp probity_fentry_leave
    end_function __return__

/* Saves all registers, and the x87, SSE, AVX, AVX-512 and APX state at %rsp. */
#define CALLER_SAVED 9 /* below the frame pointer: */
#define FUNCTION -40(%rbp)
#define ARGUMENT_1 -32(%rbp)
#define ARGUMENT_2 -24(%rbp)
#define ARGUMENT_3 -16(%rbp)
#define GENERAL -56(%rbp) /* r9, r8, rdi, rsi, rdx, rcx, rax */

    .macro save_general
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
    .endm

    .macro restore_general
    leaq -8 * CALLER_SAVED(%rbp), %rsp
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
    .endm

    .macro save_everything
    save_general
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
    .endm

    .macro restore_everything
    movl vector_components(%rip), %eax
    testl %eax, %eax
    je 4f
    xorl %edx, %edx
    xrstor64 (%rsp)
    jmp 5f
4:  fxrstor64 (%rsp)
5:  restore_general
    .endm

/* void probity_keep_vectors(void (*function)(void), uint64_t, uint64_t, uint64_t): calls the
 * function with these arguments and the address of the saved vectors; changes no register. The
 * function finds the x87 stack empty and no floating-point exception unmasked. */
    .global probity_keep_vectors
    .hidden probity_keep_vectors
    begin_function probity_keep_vectors
    save_everything
    movq ARGUMENT_1, %rdi
    movq ARGUMENT_2, %rsi
    movq ARGUMENT_3, %rdx
    movq %rsp, %rcx
    call *FUNCTION
    restore_everything
    end_function probity_keep_vectors

/* The first 16 vector registers, each in 64 bytes at %rsp. */
    .macro each_vector instruction, name, is_store
    .irp register, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .if \is_store
    \instruction %\name\register, 64 * \register(%rsp)
    .else
    \instruction 64 * \register(%rsp), %\name\register
    .endif
    .endr
    .endm

/* Does the same for a function that changes no other vector registers, like the hooks in
 * libprobity, in a tenth of the time of XSAVE and XRSTOR. Upper parts that are in their initial
 * state, which is zero, are not saved. The fourth argument is not passed. */
#define KINDS 1024(%rsp)
#define UPPER_256 (1 << 2)
#define UPPER_512 (1 << 6)
    .global probity_keep_low_vectors
    .hidden probity_keep_low_vectors
    begin_function probity_keep_low_vectors
    save_general
    subq $1088, %rsp
    cmpl $0, vector_bytes(%rip)
    jne 1f
    call find_vector_bytes
1:  movl vector_components(%rip), %eax
    cmpl $0, vectors_in_use_are_known(%rip)
    je 2f
    movl $1, %ecx
    xgetbv
    andl vector_components(%rip), %eax
2:  movl %eax, KINDS
    testl $UPPER_512, %eax
    jne 4f
    testl $UPPER_256, %eax
    jne 3f
    each_vector movaps, xmm, 1
    jmp 5f
3:  each_vector vmovaps, ymm, 1
    jmp 5f
4:  each_vector vmovaps, zmm, 1
5:  movq ARGUMENT_1, %rdi
    movq ARGUMENT_2, %rsi
    movq ARGUMENT_3, %rdx
    call *FUNCTION
    testl $UPPER_512, KINDS
    jne 7f
    testl $UPPER_256, vector_components(%rip)
    je 6f
    vzeroupper
    testl $UPPER_256, KINDS
    jne 8f
6:  each_vector movaps, xmm, 0
    jmp 9f
7:  each_vector vmovaps, zmm, 0
    jmp 9f
8:  each_vector vmovaps, ymm, 0
9:  restore_general
    end_function probity_keep_low_vectors

/* Called instead of probity_fentry_enter and probity_fentry_leave: calls the functions for unusual
 * calls, with all registers of the program saved. */
    .macro with_registers name, function
    begin_function \name
    save_everything
    movq 8(%rbp), %rdi
    leaq 16(%rbp), %rsi
    leaq GENERAL, %rdx
    movq %rsp, %rcx
    call \function
    restore_everything
    end_function \name
    .endm

    with_registers enter_with_registers, probity_fentry_enter_unusual
    with_registers leave_with_registers, probity_fentry_leave_unusual

/* The states that code may use without a request to the operating system: x87, SSE, AVX, the three
 * of AVX-512, the general registers of APX. The size is stored last; two threads that get here
 * store the same values. Changes %rax to %rdx, %r8 to %r11. */
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
    movl $0xd, %eax
    movl $1, %ecx
    cpuid
    shrl $2, %eax /* XGETBV with 1 */
    andl $1, %eax
    movl %eax, vectors_in_use_are_known(%rip)
3:  addl $63, %r9d
    andl $-64, %r9d
    movl %r8d, vector_components(%rip)
    movl %r9d, vector_bytes(%rip)
    restore %rbx
    .cfi_restore %rbx
    ret
    end_function find_vector_bytes

    .local vector_components, vector_bytes, vectors_in_use_are_known
    .comm vectors_in_use_are_known, 4, 4
    .comm vector_components, 4, 4 /* 0: the CPU or the system has no XSAVE */
    .comm vector_bytes, 4, 4 /* 0: not known yet */

    .section .rodata.all_masked, "a", @progbits
    .p2align 2
all_masked:
    .long 0x1f80
#endif
    .section .note.GNU-stack, "", @progbits
