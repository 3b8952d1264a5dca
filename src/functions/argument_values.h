/* SPDX-License-Identifier: MIT
 *
 * argument_values.h: reads the arguments and results of one call from registers and stack, and
 * records them. See arguments.h.
 */
#ifndef PROBITY_FUNCTIONS_ARGUMENT_VALUES_H
#define PROBITY_FUNCTIONS_ARGUMENT_VALUES_H

#include "functions/arguments.h"

/* Makes the formats of a function whose description is set. Returns 0, or -1 if out of memory. */
int probity_argument_values_prepare(const struct probity_arguments *all,
                                    struct probity_valued_function *function);

/* Records the leave (is_result) or the enter of a call with its values. Returns the record's tick,
 * or 0 if it is dropped. Async-signal-safe; preserves errno. */
uint64_t probity_argument_values_record(const struct probity_arguments *all,
                                        struct probity_valued_function *function, int is_result,
                                        uint32_t code, const struct probity_registers *registers);

#endif
