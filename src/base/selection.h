/* SPDX-License-Identifier: MIT
 *
 * selection.h: selects the functions without macros to be recorded, by rules in a text: see
 * probity-functions(7). Allocates nothing, takes no lock, async-signal-safe. The text is trusted,
 * since it comes from the user.
 */
#ifndef PROBITY_BASE_SELECTION_H
#define PROBITY_BASE_SELECTION_H

#include <stddef.h>
#include <stdint.h>

struct probity_selection_subject {
    const char *symbol; /* name in the symbol table, without a suffix such as ".constprop.0" */
    const char *object; /* file name of its executable or shared library */
    uint64_t bytes;     /* size of its code; 0: unknown, never excluded by a rule */
    int is_file;        /* probity_selection_takes_file() takes its source file */
};

/* Whether a pattern (* ? [a-z]) matches a name. */
int probity_selection_matches(const char *pattern, const char *name);

/* Returns the number of the first line without a valid rule, starting at 1; 0 if all are valid. */
size_t probity_selection_check(const char *rules);

/* Whether the function is recorded: 1 or 0. Ignores invalid rules. */
int probity_selection_takes(const char *rules, const struct probity_selection_subject *subject);

/* Whether there is a `file` rule. */
int probity_selection_has_files(const char *rules);

/* Whether a `file` rule matches the path of a source file, or the part of it after a slash. */
int probity_selection_takes_file(const char *rules, const char *path);

/* Gets the classes, namespaces and name of a C++ function from its symbol (Itanium C++ ABI, 5.1),
 * without parameters and template arguments: "shape::box::area" from _ZNK5shape3box4areaEv.
 * Unsupported parts, such as operators and names local to a function, become "?": "shape::box::?".
 * Returns 0 if the symbol is not that of a C++ function, cannot be parsed at all, or does not
 * fit. */
int probity_selection_cxx_name(const char *symbol, char *ret_name, size_t room);

#endif
