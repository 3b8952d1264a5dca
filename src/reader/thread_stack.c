/* SPDX-License-Identifier: MIT
 *
 * thread_stack.c: an array of open scopes. src/analysis/scopes.c keeps the same stack, with times.
 */
#include "reader/thread_stack.h"

#include <stdlib.h>

#include "base/array_grow.h"
#include "base/assert.h"
#include "probity.h"

int probity_thread_stack_enter(struct probity_thread_stack *stack,
                               const struct probity_stack_scope *scope)
{
    if (__builtin_expect(stack->depth == stack->capacity, 0)) {
        void *grown =
            probity_array_extend(stack->scopes, sizeof *stack->scopes, &stack->capacity);
        if (grown == NULL)
            return PROBITY_ERROR_MEMORY;
        stack->scopes = grown;
    }
    probity_assert(stack->depth < stack->capacity);
    stack->scopes[stack->depth++] = *scope;
    return 0;
}

uint32_t probity_thread_stack_leave_other(struct probity_thread_stack *stack, uint32_t number,
                                          int is_declared)
{
    probity_assert(stack->depth <= stack->capacity);
    for (uint32_t depth = stack->depth; depth > 0; depth--) {
        const struct probity_stack_scope *scope = &stack->scopes[depth - 1];
        if (scope->number != number || scope->is_declared != is_declared)
            continue;
        uint32_t compared = stack->depth - depth;
        stack->depth = depth - 1;
        return compared;
    }
    return stack->depth;
}

void probity_thread_stack_unwind(struct probity_thread_stack *stack, uint32_t count)
{
    probity_assert(stack->depth <= stack->capacity);
    stack->depth -= count < stack->depth ? count : stack->depth;
}

void probity_thread_stack_pause(struct probity_thread_stack *stack, int is_paused)
{
    probity_assert(is_paused == 0 || is_paused == 1);
    if (stack->depth > 0)
        stack->scopes[stack->depth - 1].is_paused = is_paused;
}

void probity_thread_stack_release(struct probity_thread_stack *stack)
{
    free(stack->scopes);
    *stack = (struct probity_thread_stack){NULL, 0, 0};
}
