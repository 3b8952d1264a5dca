/* SPDX-License-Identifier: MIT
 *
 * backoff.h: exponential back-off counted in attempts: after a failure the next attempt is skipped,
 * then the next two, and so on up to a limit. Not thread-safe: the caller holds a lock.
 */
#ifndef PROBITY_BASE_BACKOFF_H
#define PROBITY_BASE_BACKOFF_H

#include <stdint.h>

struct probity_backoff {
    uint32_t skip; /* attempts to skip before the next real one */
    uint32_t next; /* attempts to skip after the next failure */
};

/* Whether the caller should skip this attempt. */
static inline int probity_backoff_skip(struct probity_backoff *backoff)
{
    return backoff->skip > 0 && backoff->skip-- > 0;
}

/* Records the result of an attempt: 0 is success. */
static inline void probity_backoff_update(struct probity_backoff *backoff, int result)
{
    enum { MAX = 1024 };
    uint32_t next = backoff->next;

    backoff->skip = result != 0 ? next : 0;
    backoff->next = result == 0 ? 0 : next == 0 ? 1 : next < MAX ? 2 * next : MAX;
}

#endif
