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

/* Returns the rules in effect. Equal rules have the same address. */
const char *probity_rules_now(void);

/* Returns the rules with this text, which probity_rules_set() puts into effect. NULL: out of
 * memory. One thread at a time; threads that select meanwhile use the old ones. */
const char *probity_rules_make(const char *text);
void probity_rules_set(const char *rules);

/* If there are rules for source files: finds the functions of an object that come from them, using
 * the debugging information of the file at the path. Other threads may use the symbols
 * meanwhile. */
void probity_rules_find_sources(const char *rules, const char *path,
                                const struct probity_object *loaded,
                                struct probity_symbol_table *symbols);

/* Returns whether `file` rules cannot select anything because neither the executable nor any
 * library has debugging information. Takes the dynamic linker's lock. */
int probity_rules_lack_sources(const char *rules);

/* Returns whether there is a line `ends PATTERN`. */
int probity_rules_have_ends(const char *rules);

/* Returns whether such a line names the function: a condition compares its calls, so their ends
 * must be recorded. Such lines select nothing. */
int probity_rules_need_ends(const char *rules, const char *symbol);

/* Returns whether to record the function. has_sources: the source file of any function of its
 * object is known; if not, and a function is excluded for that reason, reports this once. */
int probity_rules_take(const struct probity_selection_subject *subject, int has_sources);

#endif
