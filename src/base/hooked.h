/* SPDX-License-Identifier: MIT
 *
 * hooked.h: the functions that libprobity-functions, if it is in the program, provides for
 * measuring the cost of a call recorded by its hooks, and for staying within a budget. The two
 * libraries may be of different builds: any change here requires new names for the functions.
 */
#ifndef PROBITY_BASE_HOOKED_H
#define PROBITY_BASE_HOOKED_H

#include <stdint.h>

/* A flag of struct probity_site_function: its calls have enters but no leaves. */
enum { PROBITY_FUNCTION_ENTRIES = 16 };

enum { PROBITY_HOOKED_ROOM = 32 };

struct probity_hooked_trial {
    void (*enter)(void *function, void *back), (*leave)(void *function, void *back);
    void *function; /* to be passed to both */
    uint64_t room[PROBITY_HOOKED_ROOM]; /* data of libprobity-functions */
};

/* Until probity_hooked_trial_end(), this thread's hooks start from an empty stack of calls and
 * record calls of ret_trial->function with this code. Returns 0, or -1 if that is not possible.
 * Signals must be blocked. */
int probity_hooked_trial_begin(struct probity_hooked_trial *ret_trial, uint32_t code)
    __attribute__((weak, visibility("default")));
void probity_hooked_trial_end(struct probity_hooked_trial *trial)
    __attribute__((weak, visibility("default")));

/* Removes the calls to the hooks from a function declared with this number. Returns 1; 0 if the
 * calls cannot be removed, because the compiler generated them. Called by the writer thread. */
int probity_hooked_remove(uint32_t number) __attribute__((weak, visibility("default")));

/* Restores all calls that were removed. Any thread, not in a signal handler. */
void probity_hooked_restore(void) __attribute__((weak, visibility("default")));

/* Call when a recording has begun on request from outside: inserts calls of the hooks into the
 * functions selected by these rules (in the form of PROBITY_SELECT; "": all), and removes them from
 * all others. Returns 0, or -1 with errno if code cannot be changed: EAGAIN if a fork, or another
 * thread that changes code, takes too long; ECHILD in a forked child whose parent had other
 * threads; ENODATA if there are `file` rules but no debugging information; ENOTSUP if an entry to
 * be patched is that of a function whose calls must have ends (a line `ends PATTERN`, which only
 * requests have). In the writer thread, with no lock held. */
int probity_hooked_wake(const char *rules) __attribute__((weak, visibility("default")));

/* Call when that recording has ended: removes all these calls. Returns 0, or -1 with errno if some
 * remain for now. In the writer thread, or the thread that ends the recording. */
int probity_hooked_take_out(void) __attribute__((weak, visibility("default")));

/* Call when a recording begins, at the request of the program or from outside: patches the sites of
 * FN_FUNC into calls (scope_sites.h), until probity_hooked_take_out(). from_outside: no other
 * functions are recorded unless probity_hooked_wake() follows. Returns 0, or -1 with errno and a
 * line on stderr if some sites cannot be changed. In the thread that begins the recording, with no
 * lock held. */
int probity_hooked_start(int from_outside) __attribute__((weak, visibility("default")));

#endif
