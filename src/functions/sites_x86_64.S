/* SPDX-License-Identifier: MIT
 *
 * sites_x86_64.S: called by patched sites of FN_FUNC (scope_sites.h). The usual enter and leave are
 * here: the same steps, in the same order, as in site_calls.c, which handles all others, but with
 * fewer registers to save. Sites do not use r10 and r11; all other registers keep their values.
 */
#ifdef __x86_64__
#ifdef __CET__
#include <cet.h>
#endif

#include "hooks_x86_64.h"

/* struct probity_scope_here */
#define SCOPE_RET 16
#define SCOPE_CODE 56
#define SCOPE_PLACE 64
#define SCOPE_RAISED 68
#define SCOPE_IS_OPEN 72

#define CXX 1 /* PROBITY_FUNCTION_CXX */
#define DEFERRED 2 /* PROBITY_SCOPE_DEFERRED */
#define FRAMES 48 /* PROBITY_SCOPE_FRAMES */
#define NEAR 0xfffffff /* PROBITY_SCOPE_NEAR, as a difference of struct probity_scope_place.minus */

    .hidden probity_site_enter, probity_site_leave

    .macro save_five
    save %rax
    save %rcx
    save %rdx
    save %rsi
    save %rdi
    .endm

    .macro save_all
    save_five
    save %r8
    save %r9
    .endm

    .macro restore_all
    restore %r9
    restore %r8
    restore_five
    .endm

/* The description of the function is above the return address. r10: the scope; r11: 16 bytes above
 * the frame. */
    .global probity_scope_site_enter_hook
    begin_function probity_scope_site_enter_hook, 8
    save_five
    movq 40(%rsp), %rdx
    testq %rdx, %rdx
    je 8f
    movzbl FUNCTION_LEVEL(%rdx), %eax
    movq probity_scope_level@GOTPCREL(%rip), %rcx
    cmpl %eax, (%rcx)
    jl 8f
    movq %rdx, (%r10)
    /* ecx: exceptions in flight */
    movq probity_scope_exceptions@gottpoff(%rip), %rcx
    movq %fs:(%rcx), %rcx
    testq %rcx, %rcx
    jne 2f
    testb $CXX, FUNCTION_FLAGS(%rdx)
    jne 8f
1:  movl FUNCTION_CODE(%rdx), %edi
    testl %edi, %edi
    je 8f
    movq probity_scope_profiles@GOTPCREL(%rip), %rax
    cmpl $0, (%rax)
    jne 8f
    movl %ecx, SCOPE_RAISED(%r10)
    movq probity_scope_depth@gottpoff(%rip), %rdx
    movl %fs:(%rdx), %eax
    cmpl $FRAMES, %eax
    jae 8f
    /* probity_scope_is_suspect(). rsi: the innermost place in use; rax: its frame */
    movq probity_scope_frame@gottpoff(%rip), %rsi
    addq %fs:0, %rsi
    shlq $4, %rax
    addq %rax, %rsi
    movq (%rsi), %rax
    leaq -16(%r11), %rcx
    negq %rcx
    shlq $16, %rcx
    subq %rax, %rcx
    cmpq $NEAR, %rcx
    ja 3f
    movq %rax, %rcx
    sarq $16, %rcx
    negq %rcx
    cmpw %ax, 8(%rcx)
    jne 8f
4:  movq $0, SCOPE_RET(%r10)
    movl %edi, SCOPE_CODE(%r10)
    movl %fs:(%rdx), %eax
    movl %eax, SCOPE_PLACE(%r10)
    movq probity_scope_epoch@GOTPCREL(%rip), %rcx
    movq (%rcx), %rcx
    movq %rcx, SCOPE_IS_OPEN(%r10)
    /* probity_scope_take() */
    addl $1, %eax
    movl %eax, %fs:(%rdx)
    movq 48(%rsp), %rax
    shlq $16, %rax
    movzwl %r10w, %ecx
    orq %rcx, %rax
    movq %rax, 24(%rsi)
    movzwl -8(%r11), %ecx
    leaq -16(%r11), %rax
    negq %rax
    shlq $16, %rax
    orq %rcx, %rax
    movq %rax, 16(%rsi)
    hit 8
2:  movl 8(%rcx), %ecx
    jmp 1b
3:  addq %rax, %rcx
    cmpq %rcx, %rax
    jb 4b
8:  save %r8
    save %r9
    movq %r10, %rdi
    movq 56(%rsp), %rsi
    leaq -16(%r11), %rdx
    movq 64(%rsp), %rcx
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    call probity_site_enter
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    restore_all
    leaq 8(%rsp), %rsp
    .cfi_adjust_cfa_offset -8
    ret
    end_function probity_scope_site_enter_hook

    .global probity_scope_site_leave_hook
    begin_function probity_scope_site_leave_hook
    movq probity_scope_epoch@GOTPCREL(%rip), %r11
    movq (%r11), %r11
    cmpq %r11, SCOPE_IS_OPEN(%r10)
    jne 9f
    save_five
    movl SCOPE_CODE(%r10), %edi
    cmpl $DEFERRED, %edi
    jbe 8f
    movl SCOPE_PLACE(%r10), %esi
    cmpl $FRAMES, %esi
    jae 8f
    movq probity_scope_depth@gottpoff(%rip), %rdx
    leal 1(%rsi), %ecx
    cmpl %ecx, %fs:(%rdx)
    jne 8f
    cmpq $0, SCOPE_RET(%r10)
    jne 8f
    movq probity_scope_exceptions@gottpoff(%rip), %rax
    movq %fs:(%rax), %rax
    testq %rax, %rax
    jne 2f
1:  movq $0, SCOPE_IS_OPEN(%r10)
    /* probity_scope_free() */
    movq probity_scope_frame@gottpoff(%rip), %rax
    addq %fs:0, %rax
    shlq $4, %rcx
    movq $0, (%rax,%rcx)
    movl %esi, %fs:(%rdx)
    addl $2, %edi
    hit 0
2:  movl 8(%rax), %eax
    cmpl SCOPE_RAISED(%r10), %eax
    jbe 1b
8:  save %r8
    save %r9
    movq %r10, %rdi
    call probity_site_leave
    restore_all
9:  ret
    end_function probity_scope_site_leave_hook
#endif
    .section .note.GNU-stack, "", @progbits
