/* SPDX-License-Identifier: MIT
 *
 * names_memory.h: the functions of the family `memory`, for names.h: libc's, and C++'s operators
 * new and delete by their mangled names, if size_t is unsigned long.
 */
#ifndef PROBITY_CALLS_NAMES_MEMORY_H
#define PROBITY_CALLS_NAMES_MEMORY_H

#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

/* new, new[]: plain, nothrow, aligned, both. */
void *_Znwm(size_t bytes);
void *_Znam(size_t bytes);
void *_ZnwmRKSt9nothrow_t(size_t bytes, const void *nothrow);
void *_ZnamRKSt9nothrow_t(size_t bytes, const void *nothrow);
void *_ZnwmSt11align_val_t(size_t bytes, size_t alignment);
void *_ZnamSt11align_val_t(size_t bytes, size_t alignment);
void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *nothrow);
void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *nothrow);

/* delete, delete[]: plain, with a size, nothrow, aligned, and combinations. */
void _ZdlPv(void *at);
void _ZdaPv(void *at);
void _ZdlPvm(void *at, size_t bytes);
void _ZdaPvm(void *at, size_t bytes);
void _ZdlPvRKSt9nothrow_t(void *at, const void *nothrow);
void _ZdaPvRKSt9nothrow_t(void *at, const void *nothrow);
void _ZdlPvSt11align_val_t(void *at, size_t alignment);
void _ZdaPvSt11align_val_t(void *at, size_t alignment);
void _ZdlPvmSt11align_val_t(void *at, size_t bytes, size_t alignment);
void _ZdaPvmSt11align_val_t(void *at, size_t bytes, size_t alignment);
void _ZdlPvSt11align_val_tRKSt9nothrow_t(void *at, size_t alignment, const void *nothrow);
void _ZdaPvSt11align_val_tRKSt9nothrow_t(void *at, size_t alignment, const void *nothrow);

#define PROBITY_CALLS_NAMES_NEW(X)                                                                 \
    X(_Znwm) X(_Znam) X(_ZnwmRKSt9nothrow_t) X(_ZnamRKSt9nothrow_t)                                \
    X(_ZnwmSt11align_val_t) X(_ZnamSt11align_val_t)                                                \
    X(_ZnwmSt11align_val_tRKSt9nothrow_t) X(_ZnamSt11align_val_tRKSt9nothrow_t)

#define PROBITY_CALLS_NAMES_DELETE(X)                                                              \
    X(_ZdlPv) X(_ZdaPv) X(_ZdlPvm) X(_ZdaPvm) X(_ZdlPvRKSt9nothrow_t) X(_ZdaPvRKSt9nothrow_t)      \
    X(_ZdlPvSt11align_val_t) X(_ZdaPvSt11align_val_t)                                              \
    X(_ZdlPvmSt11align_val_t) X(_ZdaPvmSt11align_val_t)                                            \
    X(_ZdlPvSt11align_val_tRKSt9nothrow_t) X(_ZdaPvSt11align_val_tRKSt9nothrow_t)

#define PROBITY_CALLS_NAMES_MEMORY(X)                                                              \
    X(malloc) X(calloc) X(realloc) X(reallocarray) X(free) X(aligned_alloc) X(posix_memalign)      \
    X(memalign) X(valloc) X(pvalloc) X(mmap) X(mmap64) X(munmap) X(mremap)                         \
    PROBITY_CALLS_NAMES_NEW(X) PROBITY_CALLS_NAMES_DELETE(X)

#endif
