/* SPDX-License-Identifier: MIT
 *
 * thread_stack.h: the scopes of a thread that are open after a record, by the rules of
 * doc/trace-format.md, "Scopes". Has only the features that an index needs: no times, no deferred
 * scopes.
 */
#ifndef PROBITY_READER_THREAD_STACK_H
#define PROBITY_READER_THREAD_STACK_H

#include <stddef.h>
#include <stdint.h>

/* A function, by the site number of its enter. */
struct probity_stack_scope {
    uint32_t number;
    int is_declared; /* 0: number as recorded, without a declaration */
    int is_paused;
    uint64_t enter_tick;
};

/* All zero: empty. */
struct probity_thread_stack {
    struct probity_stack_scope *scopes; /* the outermost first */
    uint32_t depth;
    size_t capacity;
};

/* Returns 0 or PROBITY_ERROR_MEMORY. */
int probity_thread_stack_enter(struct probity_thread_stack *stack,
                               const struct probity_stack_scope *scope);

/* Closes the scope and those inside it; no effect if it is not open. Returns the number of scopes
 * that were compared. */
uint32_t probity_thread_stack_leave_other(struct probity_thread_stack *stack, uint32_t number,
                                          int is_declared);

static inline uint32_t probity_thread_stack_leave(struct probity_thread_stack *stack,
                                                  uint32_t number, int is_declared)
{
    if (__builtin_expect(stack->depth > 0 && stack->scopes[stack->depth - 1].number == number &&
                             stack->scopes[stack->depth - 1].is_declared == is_declared, 1)) {
        stack->depth--;
        return 0;
    }
    return probity_thread_stack_leave_other(stack, number, is_declared);
}

/* Closes the innermost `count` scopes, or all. */
void probity_thread_stack_unwind(struct probity_thread_stack *stack, uint32_t count);

/* Pauses or resumes the innermost scope. */
void probity_thread_stack_pause(struct probity_thread_stack *stack, int is_paused);

void probity_thread_stack_release(struct probity_thread_stack *stack);

#endif
