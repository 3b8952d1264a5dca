/* SPDX-License-Identifier: MIT
 *
 * posix/sys/mman.h: memory and mapped files, for the Windows build (doc/porting.md).
 */
#ifndef PROBITY_POSIX_SYS_MMAN_H
#define PROBITY_POSIX_SYS_MMAN_H

#include <stddef.h>
#include <sys/types.h>

enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2, PROT_EXEC = 4 };
enum {
    MAP_SHARED = 1,
    MAP_PRIVATE = 2,
    MAP_FIXED = 16,
    MAP_ANONYMOUS = 32,
    MAP_NORESERVE = 0x4000,
    MAP_POPULATE = 0x8000,
    MAP_FIXED_NOREPLACE = 0x100000
};
enum {
    MADV_DONTNEED = 4,
    MADV_SEQUENTIAL = 2,
    MADV_RANDOM = 1,
    MADV_WILLNEED = 3,
    MADV_DONTFORK = 10,
    MADV_NOHUGEPAGE = 15,
    MADV_DONTDUMP = 16,
    MADV_WIPEONFORK = 18,
    MADV_KEEPONFORK = 19
};
#define MADV_WIPEONFORK MADV_WIPEONFORK
#define MAP_FAILED ((void *)-1)
enum { MREMAP_MAYMOVE = 1, MREMAP_FIXED = 2 };

/* MAP_FIXED is accepted only for anonymous memory over a mapped file. The file stays mapped,
 * because threads that were preempted may still store there. PROT_NONE with a file fails. */
void *mmap(void *at, size_t bytes, int protection, int flags, int descriptor, off_t offset)
    __asm__("probity_posix_mmap");
/* Only for whole mappings. */
int munmap(void *at, size_t bytes) __asm__("probity_posix_munmap");
int mprotect(void *at, size_t bytes, int protection) __asm__("probity_posix_mprotect");
/* Does nothing: there is no fork. */
int madvise(void *at, size_t bytes, int advice) __asm__("probity_posix_madvise");
/* Fails. */
void *mremap(void *at, size_t before, size_t bytes, int flags, ...)
    __asm__("probity_posix_mremap");
/* A file in memory as far as the system allows: temporary, and deleted when closed. */
enum { MFD_CLOEXEC = 1 };
int memfd_create(const char *name, unsigned flags) __asm__("probity_posix_memfd_create");
int msync(void *at, size_t bytes, int flags) __asm__("probity_posix_msync");

#endif
