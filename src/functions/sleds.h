/* SPDX-License-Identifier: MIT
 *
 * sleds.h: functions that were compiled with clang's -fxray-instrument. Their sleds are replaced
 * with calls while the program runs, in objects that are loaded, and only in functions that are
 * selected.
 */
#ifndef PROBITY_FUNCTIONS_SLEDS_H
#define PROBITY_FUNCTIONS_SLEDS_H

#include <stdint.h>

#include "probity_scope.h"

/* A function whose sleds were replaced. Its id is its index, from 1. */
struct probity_sled_function {
    uintptr_t address;
    struct probity_site_function *function; /* NULL: not looked up yet */
    uint32_t is_removed, unused; /* its sleds must not be replaced */
};

enum { PROBITY_SLED_FUNCTIONS_MAX = 1 << 18 };
extern struct probity_sled_function *probity_sled_functions
    __attribute__((visibility("hidden")));

/* `from` of a call through a sled (calls.h). Its stack position is that of its return address: the
 * same at the enter and the leave, and different from that of other hooks. Two such calls at one
 * position are never inlined into each other. */
enum { PROBITY_SLED_FROM = 1 };

/* For every call that sled_calls.c itself does not record. is_tail: the function ends with a jump
 * to another one. vectors: as in struct probity_registers. */
void probity_sled_enter_unusual(uint32_t id, const uintptr_t *back, uint64_t unused,
                                const uint8_t *vectors);
void probity_sled_leave_unusual(uint32_t id, const uintptr_t *back, uint64_t is_tail,
                                const uint8_t *vectors);

/* Replaces the sleds of objects that were loaded since the last call, and drops those that were
 * unloaded. Does nothing if recording was not requested. Any thread; not from a signal
 * handler. Preserves errno. */
void probity_sleds_update(void);

#endif
