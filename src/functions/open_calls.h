/* SPDX-License-Identifier: MIT
 *
 * open_calls.h: the stack of a thread's open calls, which calls.c owns, and sled_calls.c uses for
 * calls that need nothing but integer registers.
 */
#ifndef PROBITY_FUNCTIONS_OPEN_CALLS_H
#define PROBITY_FUNCTIONS_OPEN_CALLS_H

#include <stddef.h>

#include "functions/calls.h"
#include "probity_scope.h"

enum { CALLS_MAX = 65536 };

/* Codes of a call: 0 not recorded, 1 profile mode, otherwise of its enter; or: */
enum { ENTERING = 2 };

struct call {
    struct probity_call_site site; /* stack 0: not complete yet */
    uint32_t code, depth, place, raised;
};

/* What is above count has stack 0, also for a signal handler between any two instructions. In
 * thread-local storage there is little: a library that dlopen() loads shares a small reserve. */
struct calls {
    uint32_t count;
    uint32_t destructor_runs;
    struct call *call; /* CALLS_MAX; NULL: the thread has not called yet, or is out of memory */
};

extern __thread struct calls calls
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Of the C++ library, if there is one. The second member of what it returns is the number of
 * exceptions that the thread has thrown and not caught yet. */
extern void *__cxa_get_globals(void) __attribute__((weak));

/* Number of exceptions in flight, if that can be found out without a call. */
static inline int is_raised_known(uint32_t *ret_raised)
{
    const uint32_t *globals = probity_scope_exceptions;

    *ret_raised = globals != NULL ? globals[sizeof(void *) / sizeof(uint32_t)] : 0;
    return globals != NULL || __cxa_get_globals == NULL;
}

#endif
