/* SPDX-License-Identifier: MIT
 *
 * watch.h: what the record path reads because of conditions, in every program.
 */
#ifndef PROBITY_RUNTIME_WATCH_H
#define PROBITY_RUNTIME_WATCH_H

#include <stdint.h>

#include "base/limits.h"

/* The set of conditions of each function, by half of its site number. 0: none. */
extern uint64_t probity_trigger_functions[PROBITY_LIMIT_SITES / 2 + 1];

/* Whether conditions are compared when a gap is found: spans and waits. */
extern int probity_trigger_has_gaps;

/* number: that of the enter's site. */
static inline uint64_t probity_trigger_of(uint32_t number)
{
    return __atomic_load_n(&probity_trigger_functions[number / 2], __ATOMIC_RELAXED);
}

#endif
