/* SPDX-License-Identifier: MIT
 *
 * notices.h: messages from threads to the writer of a ring: a condition was met, or a dump is
 * requested. In the private memory of a recording. Any thread may post, even in a signal handler,
 * between any two instructions of another post; only the writer thread takes notices.
 */
#ifndef PROBITY_SPOOL_NOTICES_H
#define PROBITY_SPOOL_NOTICES_H

#include <stdint.h>

enum { PROBITY_NOTICES = 256, PROBITY_NOTICE_TEXT = 128, PROBITY_NOTICE_NO_CONDITION = -1 };

struct probity_notice {
    uint32_t kind;      /* an enum probity_dump_kind */
    int32_t condition;  /* index, or PROBITY_NOTICE_NO_CONDITION */
    uint32_t thread, tid, number, from, flags;
    uint64_t start, end, limit, id;
    char text[PROBITY_NOTICE_TEXT]; /* zero-terminated */
};

/* A place is free (0), being filled (1) or ready (2). A thread that never finishes filling a place
 * blocks only that one. */
struct probity_notices {
    uint32_t posted; /* number of notices that became ready so far */
    uint32_t lost;   /* number of notices without a free place */
    uint32_t state[PROBITY_NOTICES];
    struct probity_notice notice[PROBITY_NOTICES];
};

/* Copies the notice. Returns 1, or 0 if there is no free place. */
static inline int probity_notices_post(struct probity_notices *notices,
                                       const struct probity_notice *notice)
{
    uint32_t first = __atomic_load_n(&notices->posted, __ATOMIC_RELAXED);

    for (uint32_t i = 0; i < PROBITY_NOTICES; i++) {
        uint32_t at = (first + i) % PROBITY_NOTICES, is_free = 0;
        /* Acquire: the writer has copied what was stored here. Pairs with its release. */
        if (!__atomic_compare_exchange_n(&notices->state[at], &is_free, 1, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        notices->notice[at] = *notice;
        /* Release: the notice is complete. Pairs with probity_notices_take(). */
        __atomic_store_n(&notices->state[at], 2, __ATOMIC_RELEASE);
        __atomic_add_fetch(&notices->posted, 1, __ATOMIC_SEQ_CST);
        return 1;
    }
    __atomic_add_fetch(&notices->lost, 1, __ATOMIC_RELAXED);
    return 0;
}

/* Takes the first ready notice at or after place *at; advances *at. Returns 1, or 0 if there is
 * none. */
static inline int probity_notices_take(struct probity_notices *notices, uint32_t *at,
                                       struct probity_notice *ret_notice)
{
    for (; *at < PROBITY_NOTICES; ++*at) {
        if (__atomic_load_n(&notices->state[*at], __ATOMIC_ACQUIRE) != 2)
            continue;
        *ret_notice = notices->notice[*at];
        __atomic_store_n(&notices->state[*at], 0, __ATOMIC_RELEASE);
        ++*at;
        return 1;
    }
    return 0;
}

#endif
