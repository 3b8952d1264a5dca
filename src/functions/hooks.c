/* SPDX-License-Identifier: MIT
 *
 * hooks.c: the functions that are called by programs compiled with -finstrument-functions.
 */
#include "functions/call_stack.h"
#include "probity_scope.h"

void __cyg_profile_func_enter(void *function, void *back)
{
    if (probity_scope_is_on(PROBITY_FUNCTIONS_LEVEL) &&
        probity_calls_enter_counted(PROBITY_NUMBER(function)))
        return;
    probity_call_enter(PROBITY_NUMBER(function), PROBITY_NUMBER(back),
                       PROBITY_NUMBER(__builtin_return_address(0)), PROBITY_NUMBER(PROBITY_FRAME));
}

void __cyg_profile_func_exit(void *function, void *back)
{
    if (probity_calls_leave_counted(PROBITY_NUMBER(function)))
        return;
    probity_call_leave(PROBITY_NUMBER(function), PROBITY_NUMBER(back),
                       PROBITY_NUMBER(__builtin_return_address(0)), PROBITY_NUMBER(PROBITY_FRAME));
}
