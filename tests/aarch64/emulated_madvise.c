/* SPDX-License-Identifier: MIT
 *
 * emulated_madvise.c: for programs in qemu (7.2), which accepts any advice about memory and ignores
 * it. In children, memory that they must not inherit is wiped or unmapped after a fork(); unknown
 * advice fails, as in a kernel that does not support it. Linked with test programs, and preloaded
 * into those that scripts compile (tests/tool/emulated_start.c). Not for forks by system calls.
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RANGES = 1024, POPULATE_WRITE = 23 };

static struct range {
    uintptr_t start, end; /* end 0: free */
    int advice;
} range[RANGES];
static int is_taken;

static void take(void)
{
    while (__atomic_exchange_n(&is_taken, 1, __ATOMIC_ACQUIRE))
        continue;
}

static void give(void)
{
    __atomic_store_n(&is_taken, 0, __ATOMIC_RELEASE);
}

/* Only whole ranges: the library gives advice only about entire mappings. */
static void forget(uintptr_t start, uintptr_t end)
{
    for (int i = 0; i < RANGES; i++) {
        if (range[i].start < end && start < range[i].end)
            range[i] = (struct range){0};
    }
}

static void keep(uintptr_t start, uintptr_t end, int advice)
{
    for (int i = 0; i < RANGES; i++) {
        if (range[i].end == 0) {
            range[i] = (struct range){start, end, advice};
            return;
        }
    }
}

/* Fails like the kernel if a page is not mapped, or if the file system is full: a store by the
 * program would then cause a signal, which qemu repeats endlessly, but a system call that stores
 * just fails. Nothing has been stored in these pages. */
static int populate(volatile char *at, size_t bytes)
{
    enum { PAGE = 4096 };

    for (size_t i = 0; i < bytes; i += PAGE) {
        if (syscall(SYS_getrandom, at + i, 1, 0) != 1)
            return -1;
        at[i] = 0;
    }
    return 0;
}

int madvise(void *at, size_t bytes, int advice)
{
    uintptr_t start = (uintptr_t)at;

    switch (advice) {
    case MADV_WIPEONFORK:
    case MADV_DONTFORK:
    case MADV_KEEPONFORK:
    case MADV_DOFORK:
        take();
        forget(start, start + bytes);
        if (advice == MADV_WIPEONFORK || advice == MADV_DONTFORK)
            keep(start, start + bytes, advice);
        give();
        return 0;
    case POPULATE_WRITE: return populate(at, bytes);
    case MADV_DONTNEED:
    case MADV_NOHUGEPAGE:
    case MADV_HUGEPAGE: return (int)syscall(SYS_madvise, at, bytes, advice);
    default: errno = EINVAL; return -1;
    }
}

int munmap(void *at, size_t bytes)
{
    take();
    forget((uintptr_t)at, (uintptr_t)at + bytes);
    give();
    return (int)syscall(SYS_munmap, at, bytes);
}

static void forked(void)
{
    is_taken = 0;
    for (int i = 0; i < RANGES; i++) {
        void *at = (void *)range[i].start;
        size_t bytes = range[i].end - range[i].start;
        if (range[i].end == 0)
            continue;
        if (range[i].advice == MADV_DONTFORK) {
            syscall(SYS_munmap, at, bytes);
            range[i] = (struct range){0};
        } else {
            mmap(at, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        }
    }
}

#ifdef EMULATED_MADVISE_LIBRARY
/* Linked with -z initfirst: before the constructors of all other libraries. */
__attribute__((constructor))
#endif
static void begin(void)
{
    pthread_atfork(NULL, NULL, forked);
}

#ifndef EMULATED_MADVISE_LIBRARY
/* Before all constructors, so that no other handler runs before this one in a child. */
__attribute__((section(".preinit_array"), used)) static void (*const begins)(void) = begin;
#endif
