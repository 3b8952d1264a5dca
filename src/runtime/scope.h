/* SPDX-License-Identifier: MIT
 *
 * scope.h: functions that scope_path.c calls outside the usual path of a scope. Called by the
 * thread of the scope, also in signal handlers; preserves errno.
 */
#ifndef PROBITY_RUNTIME_SCOPE_H
#define PROBITY_RUNTIME_SCOPE_H

#include "probity_scope.h"

/* The description that a note makes; NULL if out of memory. Sets *function, unless another thread
 * has done so: then that is the result. */
struct probity_site_function *probity_scope_describe(struct probity_site_function **function,
                                                     const void *note);

/* `reserved` of a description made in this way, with copies of its texts, since a variable may
 * be shared with a library that is unloaded. */
enum { PROBITY_FUNCTION_NOTED = 0x4e4f };

/* Its note. */
const void *probity_scope_note_of(const struct probity_site_function *function);

/* What the enter hook with values records. Kept as long as the description. */
enum { PROBITY_SCOPE_VALUES_MAX = 8 };
struct probity_scope_values {
    struct probity_site_format enter, leave;
    uint32_t bytes, ret_bytes; /* of all values, and of the one that is returned */
};

/* Takes their codes from the functions so described whose calls are only counted. In the writer
 * thread. */
void probity_scope_clear_counted(void);

/* A description that a note made. values: NULL if the note has none. */
struct probity_scope_described {
    struct probity_site_function function;
    struct probity_scope_values *values;
};

static inline struct probity_scope_values *
probity_scope_values_of(struct probity_site_function *function)
{
    /* An inline function may be shared with files whose macros make no notes, or other ones. */
    return function->reserved == PROBITY_FUNCTION_NOTED
               ? ((struct probity_scope_described *)function)->values
               : NULL;
}

/* Called if the scope continues although it is not the innermost one: the scopes above it were
 * jumped over, unless this code runs in a function that they have called (a lambda, for example),
 * named `in`. Records that they were. */
void probity_scope_continues(const struct probity_scope_here *scope, uint64_t minus,
                             const char *in);

/* Profile mode: pauses the innermost scope (1), or ends its pause (0). */
void probity_scope_pause_slow(int is_pause);

/* FN_ENTRY, at the enter. In profile mode its scope begins here and is dropped unless it reaches a
 * checkpoint. */
void probity_scope_defer_slow(struct probity_scope_here *scope, uint64_t minus, uint64_t where);

/* FN_CHECKPOINT, the first one: begins the scope. Returns whether to record it. */
int probity_scope_due_slow(struct probity_scope_here *scope, uint64_t minus, uint64_t where);

/* Records the pauses before a checkpoint, after that checkpoint. */
void probity_scope_paused_slow(struct probity_scope_here *scope);

/* FN_PAUSE (1) and FN_RESUME (0) before the first checkpoint. */
void probity_scope_keep_pause(struct probity_scope_here *scope, int is_pause);

#endif
