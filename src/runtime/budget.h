/* SPDX-License-Identifier: MIT
 *
 * budget.h: PROBITY_BUDGET, the share of the program's CPU time that recording may take. The writer
 * thread estimates what recording costs, from the records that it drains and the cost of a record
 * measured in this run. If that is too much, the most frequently called functions are no longer
 * recorded but counted in cells, as in profile mode.
 *
 *     writer: marks the number ─► all enters take the slow path for a moment
 *     thread: enter, slow path ─► clears the descriptor's code ─► later enters only count
 *     writer: even counting costs too much ─► the function's hooks are removed, if possible
 *
 * The writer never touches a descriptor: its library may have been unloaded.
 */
#ifndef PROBITY_RUNTIME_BUDGET_H
#define PROBITY_RUNTIME_BUDGET_H

#include <stdint.h>

#include "base/limits.h"
#include "probity_scope.h"

struct probity_pass;
struct probity_session;

/* Flags of a function, by its number (site number + 1). */
enum {
    PROBITY_BUDGET_FUNCTION = 1,  /* a function, which may be counted */
    PROBITY_BUDGET_ADDRESSED = 2, /* a function without a macro */
    PROBITY_BUDGET_COUNTED = 4,   /* calls are only counted */
    PROBITY_BUDGET_REMOVED = 8,   /* not even counted: its hooks were removed */
    PROBITY_BUDGET_FIXED = 16,    /* hooks cannot be removed */
    PROBITY_BUDGET_ENTRIES = 32,  /* no leaves are recorded */
    PROBITY_BUDGET_TRIED = 64,    /* removal failed: its library may have been unloaded */
    PROBITY_BUDGET_CALL = 256,    /* one of libc's: its calls that wait are recorded even so */
    PROBITY_BUDGET_LISTED = 512,  /* in the list of functions that are or were counted */
    PROBITY_BUDGET_OFF = 1024,    /* a site, not a function: it is switched off (switches.h) */
    PROBITY_BUDGET_STAYS = 2048,  /* a site that cannot be switched off */
    PROBITY_BUDGET_CHANGED = 4096, /* OFF has changed, but not yet in the trace */
    PROBITY_BUDGET_HITS = 128     /* not a function, but hits of libprobity-calls, which may be able
                                   * to count them; COUNTED: requested to */
};
extern uint16_t probity_budget_state[PROBITY_LIMIT_SITES + 1];

/* Returns whether calls of the function are only counted. */
static inline int probity_budget_counts(const struct probity_site_function *function)
{
    uint32_t number = __atomic_load_n(&function->number, __ATOMIC_RELAXED);

    return (__atomic_load_n(&probity_budget_state[number], __ATOMIC_RELAXED) &
            PROBITY_BUDGET_COUNTED) != 0;
}

/* Call when the function has been given its number. */
void probity_budget_declared(struct probity_site_function *function);

/* Makes calls of the function with this enter's site only counted from now on, if that is allowed.
 * Under declare_lock, or in the writer thread. */
void probity_budget_mark(uint32_t site);

/* Clears the code of a function whose calls are only counted, or compared with a condition, so that
 * each thread takes the slow path at its next call. */
void probity_budget_clear_code(struct probity_site_function *function);

/* Does so for all functions whose descriptors stay in memory. In the writer thread, or when a
 * recording begins. */
void probity_budget_clear_codes(void);

/* Call when a site that is not a function has been given its number. Under declare_lock. */
void probity_budget_declared_site(const struct probity_site *site, uint32_t number);

/* Returns the numbers of the functions that are counted. */
const uint32_t *probity_budget_numbers(uint32_t *ret_count);

/* Call when a recording begins, before its writer does: all functions are recorded. Session's lock
 * held. */
void probity_budget_begin(struct probity_session *session);

/* Sets the share of time for readings of the CPU clock: a quarter of the budget, if there is one,
 * or less if the settings require it. */
void probity_budget_share_readings(struct probity_session *session);

/* In the writer thread: sets or replaces the budget. Functions that are only counted at that time
 * remain so. */
void probity_budget_change(struct probity_session *session, uint32_t share);

/* Evaluates the interval since the last call, and writes the decisions to the trace; at the last
 * call, also the cost of recording. In the writer thread, or in the thread that replaces it at the
 * end. Returns 0 or PROBITY_ERROR_WRITE. */
int probity_budget_look(void *owner, struct probity_pass *pass, int is_last);

#endif
