/* SPDX-License-Identifier: MIT
 *
 * switches.h: functions and named sites that are switched off while recording (`probity level
 * --off`). Calls are then only counted, as are those of functions demoted by a budget; hits are
 * ignored. Rules also apply to later declarations; the last rule that matches a name is used.
 *
 *     writer: rules, then for each declared function: state, code = 0 ─► next enter counts
 *     writer: switched on: state, each thread's counter = NULL ─► next enter declares it again
 *     writer: site: state, code = 0 ─► next hit returns; on: state ─► next hit declares it again
 *
 * Changes only descriptors that stay in memory for the life of the process.
 */
#ifndef PROBITY_RUNTIME_SWITCHES_H
#define PROBITY_RUNTIME_SWITCHES_H

#include "probity_scope.h"
#include "runtime/session_mapping.h"

enum { PROBITY_SWITCHES_MAX = 32, PROBITY_SWITCH_BYTES = 256 };

struct probity_switching {
    int is_off;
    const char *pattern;
};

/* Call when a recording begins: everything is on, except that a forked child has its parent's
 * rules. What they switch off has no code, so its first call or hit in the child declares it. */
void probity_switches_begin(int is_child);

/* Call when a function is declared: marks it as only counted if it is off. Under declare_lock. */
void probity_switches_declared(const struct probity_site_function *function, uint32_t number);

/* Prepares additional rules. Returns NULL, or why they cannot be added. In the writer thread. */
const char *probity_switches_check(const struct probity_session *session,
                                   const struct probity_switching *wanted, uint32_t count);

/* Puts the rules that were just checked into effect, for all threads. In the writer thread. */
void probity_switches_apply(struct probity_session *session, const struct probity_switching *wanted,
                            uint32_t count);

/* Returns whether these patterns would switch on a function that is only counted now. payload: the
 * event that declares it. In the writer thread. */
int probity_switches_turn_on(const struct probity_switching *wanted, uint32_t count, uint32_t kind,
                             const uint8_t *payload, size_t bytes);

/* Call when a site is declared, under declare_lock: stores its code and returns it, or 0 if the
 * site is off. */
uint32_t probity_switches_site(struct probity_session *session, struct probity_site *site,
                               uint32_t number, uint32_t code);

/* How many functions and sites are declared, and how many of them are off. */
struct probity_switched {
    uint32_t functions, functions_off, sites, sites_off;
    const char *unmatched; /* the first pattern just applied that matches nothing; or NULL */
    char stays[PROBITY_LIMIT_NAME + 1]; /* a site that matches a rule but cannot be off; or "" */
};

/* Counts them. In the writer thread. */
void probity_switches_count(struct probity_switched *ret_switched);

/* Writes which sites probity_switches_apply() has switched: off at this tick, or on now. owner: the
 * session. In the writer thread. */
void probity_switches_write(void *owner, struct probity_pass *pass, uint64_t tick);

#endif
