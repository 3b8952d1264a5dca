/* SPDX-License-Identifier: MIT
 *
 * declare.h: what a trace must know by name: sites and probes. Copies are kept for the process's
 * life, because strings in a library that is unloaded are gone, and because each further recording
 * (a forked child's, a new start) needs them.
 */
#ifndef PROBITY_RUNTIME_DECLARE_H
#define PROBITY_RUNTIME_DECLARE_H

#include "probity_values.h"
#include "runtime/session.h"

/* Keeps a declaration (an event's kind and payload). session->declare_lock held. Returns 0 or
 * PROBITY_ERROR_MEMORY, _LIMIT. */
int probity_declare(uint32_t kind, const void *payload, size_t bytes);

/* Records all declarations so far, oldest first, as events of this thread. */
void probity_declare_all(struct probity_session *session, struct probity_slot *slot);

/* Declares a function unless it is. Starts recording where that is undecided. Returns the code of
 * its enter, or 0 where nothing is recorded. Signal handlers too. */
uint32_t probity_declare_function(struct probity_site_function *function);

/* Likewise. Returns the number, or 0. */
uint32_t probity_declare_format(struct probity_site_format *format);

/* A value's type as the trace has it: an array may be a literal. */
uint32_t probity_format_type(const struct probity_site_format *format, uint32_t value);

#endif
