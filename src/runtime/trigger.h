/* SPDX-License-Identifier: MIT
 *
 * trigger.h: what triggers dumps of a ring (doc/triggers.md): conditions, which the program's
 * threads check, and requests by the program. A program with the static library has this code only
 * if it refers to probity_snapshot (doc/architecture.md): the rest of the library calls it through
 * the table of trigger_calls.h.
 */
#ifndef PROBITY_RUNTIME_TRIGGER_H
#define PROBITY_RUNTIME_TRIGGER_H

#include "runtime/session_mapping.h"
#include "runtime/trigger_calls.h"
#include "runtime/watch.h"

/* Why calls of a function can never meet a condition on their duration. */
#define PROBITY_TRIGGER_ENDLESS "-fpatchable-function-entry records no ends of calls"

/* The first function in the table of trigger_calls.h. */
const char *probity_trigger_read_settings(const char *dumps, struct probity_settings *settings,
                                          uint64_t *ret_ring_ns);

/* For change.c: the conditions, and pointers to the functions that match names against patterns. */
struct probity_trigger_parts {
    struct probity_condition *conditions;
    uint64_t *limits;
    uint32_t *count; /* stored last (release) */
    struct probity_watch **watch;
    int *are_added; /* whether conditions on functions were added while recording */
    int (*is_function)(const char *pattern, const struct probity_site_function *function);
    int (*is_site)(const struct probity_condition_name *wanted, const char *name);
};
const struct probity_trigger_parts *probity_trigger_parts(void);

/* Returns whether the pattern matches a site's name, or the name of a typed site without the
 * role. */
int probity_trigger_is_site(const char *pattern, const char *name);

/* Returns whether a condition names the declared site, which then stays recorded. */
int probity_trigger_names_site(uint32_t number);

#endif
