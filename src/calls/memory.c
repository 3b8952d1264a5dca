/* SPDX-License-Identifier: MIT
 *
 * memory.c: replacements for libc's functions that allocate and free memory, or for another
 * library's replacements of these. An allocation is recorded after it is made, and a free before it
 * is made: no lock of the allocator is held.
 */
#include "calls/memory.h"

#include <errno.h>
#include <stdarg.h>

__thread uint32_t probity_calls_new __attribute__((tls_model("initial-exec")));
__thread const void *probity_calls_deleted __attribute__((tls_model("initial-exec")));

#define MEMORY(type, name, parameters, arguments)                                                  \
    PROBITY_CALLS_WRAP(PROBITY_CALLS_MEMORY, type, name, parameters, arguments)

/* ---- malloc ------------------------------------------------------------------------------------
 */

#define ALLOCATES(name, parameters, arguments, bytes)                                              \
    PROBITY_CALLS_ALLOCATES(site_##name, #name);                                                   \
    MEMORY(void *, name, parameters, arguments)                                                    \
    {                                                                                              \
        const void *place = PROBITY_CALLS_PLACE;                                                   \
        void *at = probity_calls_next.name arguments;                                              \
                                                                                                   \
        if (probity_calls_are_of_program(place) && !probity_calls_is_of_new(at))                   \
            probity_calls_allocated(&site_##name, at, bytes, place);                               \
        return at;                                                                                 \
    }

/* Returns the product, or at most 2^64 - 1. */
static inline uint64_t product(size_t count, size_t bytes)
{
    uint64_t result;

    return __builtin_mul_overflow(count, bytes, &result) ? UINT64_MAX : result;
}

ALLOCATES(malloc, (size_t bytes), (bytes), bytes)
ALLOCATES(calloc, (size_t count, size_t bytes), (count, bytes), product(count, bytes))
ALLOCATES(aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes), bytes)
ALLOCATES(memalign, (size_t alignment, size_t bytes), (alignment, bytes), bytes)
ALLOCATES(valloc, (size_t bytes), (bytes), bytes)
ALLOCATES(pvalloc, (size_t bytes), (bytes), bytes)

PROBITY_CALLS_ALLOCATES(site_posix_memalign, "posix_memalign");
MEMORY(int, posix_memalign, (void **ret_at, size_t alignment, size_t bytes),
       (ret_at, alignment, bytes))
{
    const void *place = PROBITY_CALLS_PLACE;
    int error = probity_calls_next.posix_memalign(ret_at, alignment, bytes);
    const void *at = error == 0 ? *ret_at : NULL;

    if (probity_calls_are_of_program(place) && !probity_calls_is_of_new(at))
        probity_calls_allocated(&site_posix_memalign, at, bytes, place);
    return error;
}

PROBITY_CALLS_FREES(site_free, "free");
PROBITY_CALLS_WRAP_VOID(PROBITY_CALLS_MEMORY, free, (void *at), (at))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (__builtin_expect(at == probity_calls_deleted, 0))
        probity_calls_deleted = NULL; /* already recorded; or at is NULL, which frees nothing */
    else if (at != NULL && probity_calls_are_of_program(place))
        probity_calls_freed(&site_free, at, 0, place);
    probity_calls_next.free(at);
}

/* ---- realloc -----------------------------------------------------------------------------------
 */

PROBITY_CALLS_ALLOCATES(site_realloc, "realloc");
PROBITY_CALLS_FREES(site_realloc_free, "realloc");

/* Records a block that still exists, although its free has been recorded. The size originally
 * requested is unknown. */
static void record_kept(const void *at, const void *place)
{
    int saved = errno;
    void *found = probity_calls_find_now("malloc_usable_size");
    size_t (*usable)(const void *) = (size_t (*)(const void *))(uintptr_t)found;

    probity_calls_allocated(&site_realloc, at, usable != NULL ? usable(at) : 0, place);
    errno = saved;
}

static void record_reallocated(const void *before, const void *at, uint64_t bytes,
                               const void *place)
{
    if (at != NULL || bytes > 0)
        probity_calls_allocated(&site_realloc, at, bytes, place);
    if (at == NULL && bytes > 0 && before != NULL)
        record_kept(before, place);
}

MEMORY(void *, realloc, (void *before, size_t bytes), (before, bytes))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (!probity_calls_are_of_program(place))
        return probity_calls_next.realloc(before, bytes);
    if (before != NULL)
        probity_calls_freed(&site_realloc_free, before, 0, place);
    void *at = probity_calls_next.realloc(before, bytes);
    record_reallocated(before, at, bytes, place);
    return at;
}

/* Calls realloc() in libc, without recording it again. */
MEMORY(void *, reallocarray, (void *before, size_t count, size_t bytes), (before, count, bytes))
{
    const void *place = PROBITY_CALLS_PLACE;

    if (!probity_calls_are_of_program(place))
        return probity_calls_next.reallocarray(before, count, bytes);
    if (before != NULL)
        probity_calls_freed(&site_realloc_free, before, 0, place);
    probity_thread_inside++;
    void *at = probity_calls_next.reallocarray(before, count, bytes);
    probity_thread_inside--;
    record_reallocated(before, at, product(count, bytes), place);
    return at;
}

/* ---- mmap --------------------------------------------------------------------------------------
 */

PROBITY_CALLS_ALLOCATES(site_mmap, "mmap");
PROBITY_CALLS_FREES(site_munmap, "munmap");
PROBITY_CALLS_ALLOCATES(site_mremap, "mremap");
PROBITY_CALLS_FREES(site_mremap_free, "mremap");

static const void *mapped(const void *at)
{
    return at != MAP_FAILED ? at : NULL;
}

#define MAPS(name, offset_type)                                                                    \
    MEMORY(void *, name,                                                                           \
           (void *where, size_t bytes, int access, int flags, int fd, offset_type offset),         \
           (where, bytes, access, flags, fd, offset))                                              \
    {                                                                                              \
        const void *place = PROBITY_CALLS_PLACE;                                                   \
        void *at = probity_calls_next.name(where, bytes, access, flags, fd, offset);               \
                                                                                                   \
        if (probity_calls_are_of_program(place))                                                   \
            probity_calls_allocated(&site_mmap, mapped(at), bytes, place);                         \
        return at;                                                                                 \
    }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)

/* If the call fails, the mapping still exists. */
MEMORY(int, munmap, (void *at, size_t bytes), (at, bytes))
{
    const void *place = PROBITY_CALLS_PLACE;
    int is_recorded = probity_calls_are_of_program(place);

    if (is_recorded)
        probity_calls_freed(&site_munmap, at, bytes, place);
    int result = probity_calls_next.munmap(at, bytes);
    if (result != 0 && is_recorded)
        probity_calls_allocated(&site_mmap, at, bytes, place);
    return result;
}

/* Returns whether the mapping is moved: it is copied if its size is given as 0, or with this
 * flag. */
static int is_moved(size_t bytes_before, int flags)
{
    enum { KEEPS_MAPPING = 4 /* MREMAP_DONTUNMAP */ };

    return bytes_before != 0 && (flags & KEEPS_MAPPING) == 0;
}

/* The last argument is passed only with a flag; libc's function always reads it. */
PROBITY_API void *mremap(void *before, size_t bytes_before, size_t bytes, int flags, ...)
{
    const void *place = PROBITY_CALLS_PLACE;
    va_list rest;

    va_start(rest, flags);
    void *where = flags & ~MREMAP_MAYMOVE ? va_arg(rest, void *) : NULL;
    va_end(rest);
    if (probity_calls_are_off(PROBITY_CALLS_MEMORY) || !probity_calls_are_of_program(place))
        return probity_calls_next.mremap(before, bytes_before, bytes, flags, where);
    int is_freed = is_moved(bytes_before, flags);
    if (is_freed)
        probity_calls_freed(&site_mremap_free, before, bytes_before, place);
    void *at = probity_calls_next.mremap(before, bytes_before, bytes, flags, where);
    if (at != MAP_FAILED)
        probity_calls_allocated(&site_mremap, at, bytes, place);
    else if (is_freed)
        probity_calls_allocated(&site_mremap, before, bytes_before, place);
    return at;
}
