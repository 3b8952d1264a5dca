/* SPDX-License-Identifier: MIT
 *
 * session_mapping.c: the memory of the session, and how it is found. Separate from session.c, since
 * the record path looks for the session while signals are not blocked.
 */
#include "runtime/session_mapping.h"

#include <stddef.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/os.h"

unsigned *probity_session_thread_count;
uint64_t probity_session_own_threads;

/* The mapping. A forked child inherits the address, but sees zeroes there. */
static struct probity_session *session_at;

enum {
    HEAD_BYTES = (sizeof(struct probity_session) + 4095) & ~4095u,
    SLOTS_BYTES = (PROBITY_LIMIT_THREADS * sizeof(struct probity_thread_state) + 63) & ~63u,
    PASS_BYTES = 640 << 10, /* sufficient unless chunks are larger than usual */
    MAPPING_BYTES = HEAD_BYTES + PROBITY_SESSION_WORK_BYTES + PASS_BYTES + SLOTS_BYTES
};

struct probity_session *probity_session_get(void)
{
    struct probity_session *old = __atomic_load_n(&session_at, __ATOMIC_ACQUIRE);

    if (old != NULL && __atomic_load_n(&old->is_made, __ATOMIC_ACQUIRE))
        return old;
    char *at = mmap(NULL, MAPPING_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    if (madvise(at, MAPPING_BYTES, MADV_WIPEONFORK) != 0) {
        munmap(at, MAPPING_BYTES);
        return NULL;
    }
    struct probity_session *session = (struct probity_session *)at;
    /* The work area, which each recording uses first: within few page tables. */
    session->work = at + HEAD_BYTES;
    at += HEAD_BYTES + PROBITY_SESSION_WORK_BYTES;
    session->live.memory = at;
    session->live.memory_bytes = PASS_BYTES;
    session->live.slot = (struct probity_thread_state *)(at + PASS_BYTES);
    session->is_made = 1;
    /* Leaves a wiped mapping alone: threads of the child still point into it, and must continue to
     * see zeroes. */
    if (__atomic_compare_exchange_n(&session_at, &old, session, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return session;
    munmap(session, MAPPING_BYTES);
    return old;
}

void probity_session_disown(struct probity_session *session)
{
    struct probity_session *expected = session;

    probity_assert(session != NULL);
    madvise(session, MAPPING_BYTES, MADV_KEEPONFORK);
    __atomic_compare_exchange_n(&session_at, &expected, NULL, 0, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
}

struct probity_session *probity_session_recording(void)
{
    struct probity_session *session = __atomic_load_n(&session_at, __ATOMIC_ACQUIRE);

    return session != NULL && session->is_made &&
                   __atomic_load_n(&session->state, __ATOMIC_ACQUIRE) == PROBITY_SESSION_RECORDING
               ? session
               : NULL;
}

void probity_session_await_end(void)
{
    enum { TRIES = 10000, EACH_NS = 1000000 };
    struct probity_session *session = __atomic_load_n(&session_at, __ATOMIC_ACQUIRE);
    uint32_t never = 0;

    for (int i = 0; i < TRIES && session != NULL && session->is_made &&
                    __atomic_load_n(&session->state, __ATOMIC_ACQUIRE) == PROBITY_SESSION_ENDING;
         i++)
        probity_os_wait(&never, 0, EACH_NS);
}
