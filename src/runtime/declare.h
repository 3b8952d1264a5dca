/* SPDX-License-Identifier: MIT
 *
 * declare.h: the declarations of sites and probes, which each trace must contain. Copies are kept
 * for the life of the process, because the strings of a library disappear when it is unloaded, and
 * because each later recording (after a fork or a restart) needs them.
 */
#ifndef PROBITY_RUNTIME_DECLARE_H
#define PROBITY_RUNTIME_DECLARE_H

#include "probity_values.h"
#include "runtime/session_mapping.h"

/* Keeps a declaration (an event's kind and payload). Call with session->declare_lock held. Returns
 * 0 or PROBITY_ERROR_MEMORY, _LIMIT. */
int probity_declare(uint32_t kind, const void *payload, size_t bytes);

/* Records all declarations so far, oldest first, as events of this thread. Returns 0, or
 * PROBITY_ERROR_LIMIT if one was dropped. */
int probity_declare_all(struct probity_session *session, struct probity_thread_state *slot);

/* Declares a function if necessary. Starts recording if that is undecided. Returns the code of its
 * enter, or 0 if nothing is recorded. Async-signal-safe. */
uint32_t probity_declare_function(struct probity_site_function *function);

/* Counts a record that is dropped because its declaration could not be made for lack of memory.
 * Async-signal-safe. */
void probity_declare_dropped(void);

/* Declares a format in the same way. Returns the number, or 0. */
uint32_t probity_declare_format(struct probity_site_format *format);

/* Returns the end of the argument that begins at `at`: a comma outside parentheses and quotes, as
 * for the preprocessor, or the end of the text. */
const char *probity_argument_end(const char *at);

/* Returns a value's type in the trace: an array may be a literal. */
uint32_t probity_format_type(const struct probity_site_format *format, uint32_t value);

/* Calls the function for each declaration so far. Any thread; no lock is needed. */
void probity_declare_each(void (*each)(uint32_t kind, const uint8_t *payload, size_t bytes));

#endif
