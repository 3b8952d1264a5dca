/* SPDX-License-Identifier: MIT
 *
 * child.c: stores the addresses of segments in memory that a child inherits, unlike the session,
 * and copies the session fields that a probe in progress uses.
 */
#include "runtime/child.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/assert.h"
#include "base/limits.h"
#include "base/thread_local.h"
#include "runtime/profile_set.h"
#include "runtime/session_mapping.h"
#include "runtime/thread.h"

static struct {
    void *at;
    size_t bytes;
} segments[PROBITY_LIMIT_SEGMENTS];
static uint32_t segment_count;

void probity_child_note(void *segment, size_t bytes)
{
    uint32_t count = __atomic_load_n(&segment_count, __ATOMIC_RELAXED);

    probity_assert(segment != NULL && bytes > 0);
    if (count == PROBITY_LIMIT_SEGMENTS)
        return;
    segments[count].at = segment;
    segments[count].bytes = bytes;
    __atomic_store_n(&segment_count, count + 1, __ATOMIC_RELEASE);
}

void probity_child_forget(void)
{
    __atomic_store_n(&segment_count, 0, __ATOMIC_RELEASE);
}

/* State that the forking thread may be using. */
struct kept {
    struct kept *before; /* outer fork, during which a handler forked */
    struct probity_session *session; /* NULL: the thread is not in a slow path */
    struct probity_thread_state *slot; /* NULL: none */
    struct probity_profile_set *set; /* NULL: none */
    struct probity_session session_copy;
    struct probity_thread_state slot_copy;
};

PROBITY_THREAD_LOCAL(static, struct kept *, own_kept);

/* The set that this process had when it was forked; earlier ones are no longer in use. */
static struct probity_profile_set *of_parent;

/* Keeps the state for the child. A set is kept as it is, because only its thread uses it; whether
 * the thread is inside a scope is unknown. A child that inherits it from a raw clone in another
 * thread never reads it. Everything else belongs to the whole process, and is copied. */
static void keep(void)
{
    struct probity_thread_state *slot = probity_thread_slot();
    struct probity_profile_set *set = probity_profile_own;
    int before = errno;

    if (set != NULL && !set->in_use)
        set = NULL;
    int is_busy = (slot != NULL && slot->busy != 0) || (set != NULL && set->busy != 0);
    if (!is_busy && set == NULL)
        return;
    struct kept *mine = mmap(NULL, sizeof *mine, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mine != MAP_FAILED) {
        mine->before = own_kept;
        if (is_busy) {
            mine->session = probity_session_get();
            mine->slot = slot;
            memcpy(&mine->session_copy, mine->session, sizeof *mine->session);
            if (slot != NULL)
                memcpy(&mine->slot_copy, slot, sizeof *slot);
            mine->session_copy.state = PROBITY_SESSION_ENDED;
        }
        if (set != NULL && madvise(set, sizeof *set, MADV_KEEPONFORK) == 0)
            mine->set = set;
        own_kept = mine;
    }
    errno = before;
}

static void release_in_parent(void)
{
    struct kept *mine = own_kept;
    int before = errno;

    if (mine == NULL)
        return;
    own_kept = mine->before;
    if (mine->set != NULL && (own_kept == NULL || own_kept->set == NULL))
        madvise(mine->set, sizeof *mine->set, MADV_WIPEONFORK);
    munmap(mine, sizeof *mine);
    errno = before;
}

/* Runs in the child, on its only thread. Never overwrites another mapping. */
static void take_places(void)
{
    uint32_t count = __atomic_load_n(&segment_count, __ATOMIC_ACQUIRE);

    probity_assert(count <= PROBITY_LIMIT_SEGMENTS);
    for (uint32_t i = 0; i < count; i++) {
        void *at = mmap(segments[i].at, segments[i].bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        /* Kernels before 4.17 treat the address only as a hint. */
        if (at != MAP_FAILED && at != segments[i].at)
            munmap(at, segments[i].bytes);
    }
    probity_child_forget();
}

/* A probe that the child may return into gets its old state, in a recording that has ended. All
 * other probes start over. The state is reset first, because of signal handlers. */
static void give_to_child(struct kept *mine)
{
    probity_assert(mine->session == NULL || mine->session_copy.state == PROBITY_SESSION_ENDED);
    if (mine->set != NULL) {
        if (probity_profile_own == mine->set)
            probity_profile_set_own(NULL);
        mine->set->session = 0;
        if (of_parent != NULL)
            madvise(of_parent, sizeof *of_parent, MADV_DONTNEED);
        of_parent = mine->set;
    }
    if (mine->session == NULL)
        return;
    if (mine->slot != NULL)
        probity_thread_disown(mine->slot);
    probity_session_disown(mine->session);
    memcpy(mine->session, &mine->session_copy, sizeof *mine->session);
    if (mine->slot != NULL)
        memcpy(mine->slot, &mine->slot_copy, sizeof *mine->slot);
}

static void begin_child(void)
{
    struct kept *mine = own_kept;
    int before = errno;

    take_places();
    if (mine != NULL) {
        own_kept = mine->before;
        give_to_child(mine);
        munmap(mine, sizeof *mine);
    }
    errno = before;
}

void probity_child_prepare(void)
{
    /* Without memory for this, only a child that is forked inside a probe is affected. */
    pthread_atfork(keep, release_in_parent, begin_child);
}
