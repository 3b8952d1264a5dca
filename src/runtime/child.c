/* SPDX-License-Identifier: MIT
 *
 * child.c: the addresses of segments, where a child can read them, unlike the session; and copies
 * of what the session says where a probe is at work with it.
 */
#include "runtime/child.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/limits.h"
#include "runtime/profile_set.h"
#include "runtime/session.h"
#include "runtime/thread.h"

static struct {
    void *at;
    size_t bytes;
} segments[PROBITY_LIMIT_SEGMENTS];
static uint32_t segment_count;

void probity_child_note(void *segment, size_t bytes)
{
    uint32_t count = __atomic_load_n(&segment_count, __ATOMIC_RELAXED);

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

/* What the forking thread may be in the midst of. */
struct kept {
    struct kept *before; /* of a fork that a signal handler interrupted, and that goes on */
    struct probity_session *session; /* NULL: the thread is in no slow path */
    struct probity_slot *slot;       /* NULL: it has none */
    struct probity_profile_set *set; /* NULL: it has none */
    struct probity_session session_copy;
    struct probity_slot slot_copy;
};

static __thread struct kept *kept __attribute__((tls_model("initial-exec")));

/* The set that this process was forked with; of what came before, nobody is in the midst. */
static struct probity_profile_set *of_parent;

/* A set is its thread's alone, so it may be inherited as it is: who is in the midst of a scope
 * cannot be told from who is not. A child of another thread's raw clone that inherits it too never
 * looks there. The rest is the whole process's, and so copied. */
static void keep(void)
{
    struct probity_slot *slot = probity_thread_slot();
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
        mine->before = kept;
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
        kept = mine;
    }
    errno = before;
}

static void let_go_in_parent(void)
{
    struct kept *mine = kept;
    int before = errno;

    if (mine == NULL)
        return;
    kept = mine->before;
    if (mine->set != NULL && (kept == NULL || kept->set == NULL))
        madvise(mine->set, sizeof *mine->set, MADV_WIPEONFORK);
    munmap(mine, sizeof *mine);
    errno = before;
}

/* In the child, on its only thread. Never over what somebody else has put there. */
static void take_places(void)
{
    uint32_t count = __atomic_load_n(&segment_count, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < count; i++) {
        void *at = mmap(segments[i].at, segments[i].bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        /* Kernels before 4.17 take the address for a wish. */
        if (at != MAP_FAILED && at != segments[i].at)
            munmap(at, segments[i].bytes);
    }
    probity_child_forget();
}

/* The probe that the child may return into finds what it knew, in a recording that is over; all
 * others begin anew. First these, for the sake of signal handlers. */
static void give_to_child(struct kept *mine)
{
    if (mine->set != NULL) {
        if (probity_profile_own == mine->set)
            probity_profile_own = NULL;
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
    struct kept *mine = kept;
    int before = errno;

    take_places();
    if (mine != NULL) {
        kept = mine->before;
        give_to_child(mine);
        munmap(mine, sizeof *mine);
    }
    errno = before;
}

void probity_child_prepare(void)
{
    /* Without memory for it, only a child that is forked inside a probe is worse off. */
    pthread_atfork(keep, let_go_in_parent, begin_child);
}
