/* SPDX-License-Identifier: MIT
 *
 * scope.h: functions that scope_path.c calls in unusual cases. Called by the thread of the scope,
 * even in signal handlers; preserves errno.
 */
#ifndef PROBITY_RUNTIME_SCOPE_H
#define PROBITY_RUNTIME_SCOPE_H

#include "probity_scope.h"

/* Makes a description from a note and stores its address in *function. If another thread has stored
 * one, returns that one. NULL if out of memory. */
struct probity_site_function *probity_scope_describe(struct probity_site_function **function,
                                                     const void *note);

/* Value of `reserved` in such a description, which has copies of its texts, since a variable may be
 * shared with a library that is unloaded. */
enum { PROBITY_FUNCTION_NOTED = 0x4e4f };

/* Returns its note. */
const void *probity_scope_note_of(const struct probity_site_function *function);

/* What the enter hook with values records. Kept as long as the description. */
enum { PROBITY_SCOPE_VALUES_MAX = 8 };
struct probity_scope_values {
    struct probity_site_format enter, leave;
    uint32_t bytes, ret_bytes; /* of all values; of the returned one */
};

/* Clears the codes of functions with such descriptions: probity_budget_clear_codes(). */
void probity_scope_clear_codes(void);

/* A description made from a note. values: NULL if the note has none. */
struct probity_scope_described {
    struct probity_site_function function;
    struct probity_scope_values *values;
};

static inline struct probity_scope_values *
probity_scope_values_of(struct probity_site_function *function)
{
    /* An inline function may be shared with files whose macros make no notes, or different ones. */
    return function->reserved == PROBITY_FUNCTION_NOTED
               ? ((struct probity_scope_described *)function)->values
               : NULL;
}

/* Call if something is recorded in a scope that is not the innermost one. Records that the scopes
 * above it were jumped over, unless this code is in a function that they called, such as a lambda,
 * named `in`. */
void probity_scope_continues(const struct probity_scope_here *scope, uint64_t minus,
                             const char *in);

/* Profile mode: pauses the innermost scope (1), or ends its pause (0). */
void probity_scope_pause_slow(int is_pause);

/* For FN_ENTRY, at the enter. In profile mode, the scope begins here and is dropped unless it
 * reaches a checkpoint. */
void probity_scope_defer_slow(struct probity_scope_here *scope, uint64_t minus, uint64_t where);

/* For the first FN_CHECKPOINT: begins the scope. Returns whether to record it. */
int probity_scope_due_slow(struct probity_scope_here *scope, uint64_t minus, uint64_t where);

/* Records the pauses before a checkpoint, after that checkpoint. */
void probity_scope_paused_slow(struct probity_scope_here *scope);

/* For FN_PAUSE (1) and FN_RESUME (0) before the first checkpoint. */
void probity_scope_keep_pause(struct probity_scope_here *scope, int is_pause);

#endif
