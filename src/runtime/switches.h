/* SPDX-License-Identifier: MIT
 *
 * switches.h: functions that are switched off while recording (`probity level --off`): their calls
 * are only counted, as are those of functions demoted by a budget. Rules also apply to functions
 * that are declared later; of the rules that match a name, the last one applies.
 *
 *     writer: rules, then for each function that is declared: state, code = 0 ─► next enter counts
 *     writer: switched on: state, each thread's counter = NULL ─► next enter declares it again
 *
 * Only descriptors that stay in memory for the life of the process are changed.
 */
#ifndef PROBITY_RUNTIME_SWITCHES_H
#define PROBITY_RUNTIME_SWITCHES_H

#include "runtime/session.h"

enum { PROBITY_SWITCHES_MAX = 32, PROBITY_SWITCH_BYTES = 256 };

struct probity_switching {
    int is_off;
    const char *pattern;
};

/* To be called when a recording begins: all are on. */
void probity_switches_begin(void);

/* To be called when a function is declared: marks it as only counted if it is off. Under
 * declare_lock. */
void probity_switches_declared(const struct probity_site_function *function, uint32_t number);

/* Prepares additional rules. Returns NULL, or why they cannot be added. In the writer thread. */
const char *probity_switches_check(const struct probity_session *session,
                                   const struct probity_switching *wanted, uint32_t count);

/* Puts the rules that were just checked in force, for all threads. In the writer thread. */
void probity_switches_apply(struct probity_session *session, const struct probity_switching *wanted,
                            uint32_t count);

/* Whether these patterns would make a function recorded that is only counted now. payload: the
 * event that declares it. In the writer thread. */
int probity_switches_turn_on(const struct probity_switching *wanted, uint32_t count, uint32_t kind,
                             const uint8_t *payload, size_t bytes);

/* How many functions are declared, and how many of these are off. *ret_unmatched: the first of the
 * patterns just applied that no declared function matches, or NULL. In the writer thread. */
uint32_t probity_switches_count(uint32_t *ret_off, const char **ret_unmatched);

#endif
