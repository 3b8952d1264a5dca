/* SPDX-License-Identifier: MIT
 *
 * own_threads.h: counts the library's threads in the process, so that one of them can detect that
 * all threads of the program have exited while others of the library remain. Each thread registers
 * itself; a forked child, which has none of its parent's threads, begins at 0. Any thread,
 * async-signal-safe.
 */
#ifndef PROBITY_BASE_OWN_THREADS_H
#define PROBITY_BASE_OWN_THREADS_H

#include <stdint.h>

#include "base/os.h"

/* For the calling thread. count: that of the process, 0 at first; NULL: nothing is counted. */
void probity_own_threads_begin(uint64_t *count);
void probity_own_threads_end(uint64_t *count);

/* Whether only the library's threads, including the caller, are left in the process: 1 or 0.
 * threads: the same as in probity_os_is_last_thread(). */
int probity_own_threads_are_alone(const uint64_t *count, const struct probity_os_threads *threads);

#endif
