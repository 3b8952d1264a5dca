/* SPDX-License-Identifier: MIT
 *
 * child.c: the addresses of segments, where a child can read them, unlike the session.
 */
#include "runtime/child.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/limits.h"

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

/* In the child, on its only thread. Never over what somebody else has put there. */
static void take_places(void)
{
    uint32_t count = __atomic_load_n(&segment_count, __ATOMIC_ACQUIRE);
    int before = errno;

    for (uint32_t i = 0; i < count; i++) {
        void *at = mmap(segments[i].at, segments[i].bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        /* Kernels before 4.17 take the address for a wish. */
        if (at != MAP_FAILED && at != segments[i].at)
            munmap(at, segments[i].bytes);
    }
    probity_child_forget();
    errno = before;
}

void probity_child_prepare(void)
{
    /* Without memory for it, only a child that is forked inside a probe is worse off. */
    pthread_atfork(NULL, NULL, take_places);
}
