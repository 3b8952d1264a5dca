/* SPDX-License-Identifier: MIT
 *
 * rules.h: the rules of PROBITY_SELECT, which select functions. Any thread, async-signal-safe;
 * preserves errno.
 */
#ifndef PROBITY_FUNCTIONS_RULES_H
#define PROBITY_FUNCTIONS_RULES_H

#include "base/objects.h"
#include "base/selection.h"
#include "functions/symbol_table.h"

/* Replaces the rules. Returns whether they differ from those before. One thread at a time; who asks
 * meanwhile has the old ones. */
int probity_rules_set(const char *text);

/* If there are rules for source files: finds out which functions of an object come from those, by
 * the debugging information of the file at the path. */
void probity_rules_find_sources(const char *path, const struct probity_object *loaded,
                                struct probity_symbol_table *symbols);

/* Whether to record the function. has_sources: the source file of any function of its object is
 * known; if not, and a function is left out for that, this is reported once. */
int probity_rules_take(const struct probity_selection_subject *subject, int has_sources);

#endif
