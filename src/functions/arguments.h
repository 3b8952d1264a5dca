/* SPDX-License-Identifier: MIT
 *
 * arguments.h: arguments and results of functions without macros, for which `probity record --args`
 * has passed a description (doc/arguments.md). They are recorded as FnTrace's macros record values,
 * by hooks that see the registers of the function: __fentry__, __return__ and sleds.
 */
#ifndef PROBITY_FUNCTIONS_ARGUMENTS_H
#define PROBITY_FUNCTIONS_ARGUMENTS_H

#include <stdint.h>

#include "base/arguments.h"
#include "base/objects.h"
#include "functions/symbol_table.h"
#include "probity_scope.h"

/* `reserved` of a descriptor that is the first member of a struct probity_valued_function. The code
 * of the descriptor stays 0, so that hooks treat its calls as unusual without a separate test. */
enum { PROBITY_FUNCTION_VALUED = 1 };

struct probity_valued_function {
    struct probity_site_function found; /* found by hooks */
    struct probity_addressed_function own;
    const struct probity_arguments_function *description;
    struct probity_site_format arguments, results;
    /* For both, with addresses instead of referenced values, in case those cannot be read. */
    struct probity_site_format addressed[2];
};

/* Registers of the program in a hook. general, vectors: as saved (cpu_sleds.h); stack: the address
 * of the function's return address or, on AArch64, of where that would be: below the arguments on
 * the stack. */
struct probity_registers {
    const uint64_t *general;
    const uint8_t *vectors;
    uintptr_t stack;
};

/* Reads the description in PROBITY_ARGUMENTS, if there is one. Called when the library is
 * loaded, before the program runs. */
void probity_arguments_load(void);

/* Passes the described functions of all loaded objects to __fentry__. Any thread;
 * not from a signal handler. */
void probity_arguments_update(void);

/* Returns the description of an object, or NULL. Any thread, async-signal-safe, like all functions
 * below. */
const struct probity_arguments_object *
probity_arguments_object_of(const struct probity_object *loaded,
                            const struct probity_file_id *file);

/* Returns a descriptor that also has the values of the function; NULL if it is not described, or
 * out of memory. */
struct probity_site_function *
probity_arguments_describe(const struct probity_arguments_object *object,
                           const struct probity_addressed_function *function);

/* Returns the descriptor with which calls are recorded. */
static inline struct probity_site_function *
probity_function_own(struct probity_site_function *found)
{
    return found->reserved == PROBITY_FUNCTION_VALUED
               ? &((struct probity_valued_function *)found)->own.function
               : found;
}

/* Returns NULL if the function has no values to be recorded now. */
struct probity_valued_function *
probity_function_valued(struct probity_site_function *found);

/* Records the enter or the leave of a call, with the values. code: that of the enter. Returns the
 * record's tick, or 0 if it is dropped. */
uint64_t probity_arguments_record(struct probity_valued_function *function, uint32_t code,
                                  const struct probity_registers *registers);
uint64_t probity_results_record(struct probity_valued_function *function, uint32_t code,
                                const struct probity_registers *registers);

/* Reports, once, that the arguments of a function are requested but no hook has access to them. */
void probity_arguments_report_unseen(const struct probity_site_function *found);

#endif
