/* SPDX-License-Identifier: MIT
 *
 * hooks.c: the functions that a program calls if it was compiled with -finstrument-functions.
 */
#include "functions/calls.h"
#include "probity_scope.h"

void __cyg_profile_func_enter(void *function, void *back)
{
    probity_call_enter(PROBITY_NUMBER(function), PROBITY_NUMBER(back),
                       PROBITY_NUMBER(__builtin_return_address(0)), PROBITY_NUMBER(PROBITY_FRAME));
}

void __cyg_profile_func_exit(void *function, void *back)
{
    probity_call_leave(PROBITY_NUMBER(function), PROBITY_NUMBER(back),
                       PROBITY_NUMBER(__builtin_return_address(0)), PROBITY_NUMBER(PROBITY_FRAME));
}
