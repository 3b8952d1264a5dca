/* SPDX-License-Identifier: MIT
 *
 * inside.h: marks the calling thread as being inside the library, with signals blocked. Functions
 * of libprobity-calls that replace libc's then record nothing: some run while our locks are held,
 * such as the allocations of pthread_create() and pthread_setspecific().
 */
#ifndef PROBITY_RUNTIME_INSIDE_H
#define PROBITY_RUNTIME_INSIDE_H

#include "base/os.h"
#include "probity_scope.h"

/* The same as probity_os_signals_block() and its counterpart, and marks the thread. */
static inline void probity_inside_begin(struct probity_os_signals *ret_before)
{
    probity_os_signals_block(ret_before);
    probity_thread_inside++;
}

static inline void probity_inside_end(const struct probity_os_signals *before)
{
    probity_thread_inside--;
    probity_os_signals_restore(before);
}

#endif
