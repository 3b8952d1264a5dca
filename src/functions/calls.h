/* SPDX-License-Identifier: MIT
 *
 * calls.h: records the calls that a compiler's hooks report. A thread keeps a stack of its open
 * calls, to pair enters with leaves and to detect calls abandoned by longjmp().
 */
#ifndef PROBITY_FUNCTIONS_CALLS_H
#define PROBITY_FUNCTIONS_CALLS_H

#include <stdint.h>

#include "probity.h"

/* A call, as seen by its hook. */
struct probity_call_site {
    uintptr_t function; /* its address */
    uintptr_t back;     /* return address of the function */
    uintptr_t from;     /* return address of the hook */
    uintptr_t stack;    /* of the hook's frame: a constant distance below that of the function */
};

/* Parameters are the members of a site. A call excluded by the current level is kept as open all
 * the same, so that leaves are paired if the level changes meanwhile. Any thread,
 * async-signal-safe; preserve errno. */
void probity_call_enter(uintptr_t function, uintptr_t back, uintptr_t from, uintptr_t stack);
void probity_call_leave(uintptr_t function, uintptr_t back, uintptr_t from, uintptr_t stack);

void __cyg_profile_func_enter(void *function, void *back) PROBITY_API;
void __cyg_profile_func_exit(void *function, void *back) PROBITY_API;

/* For unusual calls through sleds. registers: NULL if a result is not available. */
struct probity_registers;
void probity_call_enter_unusual(const struct probity_call_site *site,
                                const struct probity_registers *registers);
void probity_call_leave_unusual(const struct probity_call_site *site,
                                const struct probity_registers *registers);

/* For unusual calls through __fentry__ and __return__ (fentry.c). from: return address of the hook;
 * stack: address of the function's return address; general, vectors: members of struct
 * probity_registers. general NULL: they were not saved. */
void probity_fentry_enter_unusual(uintptr_t from, uintptr_t stack, const uint64_t *general,
                                  const uint8_t *vectors);
void probity_fentry_leave_unusual(uintptr_t from, uintptr_t stack, const uint64_t *general,
                                  const uint8_t *vectors);

#endif
