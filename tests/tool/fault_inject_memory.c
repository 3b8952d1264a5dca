/* SPDX-License-Identifier: MIT
 *
 * fault_inject_memory.c: for LD_PRELOAD: makes an allocation of a program, or of any library in it,
 * fail, or all from then on. Starts counting when all libraries are loaded, so that the dynamic
 * linker is not affected. Allocations of libdw, directly, through libc or for thread-local data,
 * never fail: its assertions, or the dynamic linker, would end the process. glibc.
 *
 *     FAULT_INJECT_MEMORY=REPORT:FIRST[:ever]
 *         REPORT is an existing file of at least 16 bytes, which receives two numbers of 8 bytes:
 * the
 *         allocations made and those that failed; FIRST counts from 1.
 *         If that allocation is one of libdw, the next one fails
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static uint64_t nowhere[2], *report = nowhere; /* reached, refused */
static uint64_t first_refused;
static int is_for_ever, is_counting, has_refused;

__attribute__((constructor)) static void begin(void)
{
    const char *wanted = getenv("FAULT_INJECT_MEMORY");
    const char *colon = wanted != NULL ? strchr(wanted, ':') : NULL;
    char path[4096];

    if (colon == NULL || (size_t)(colon - wanted) >= sizeof path)
        return;
    memcpy(path, wanted, (size_t)(colon - wanted));
    path[colon - wanted] = '\0';
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *at = file >= 0 ? mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                         : MAP_FAILED;
    if (file >= 0)
        close(file);
    if (at == MAP_FAILED)
        return;
    report = at;
    first_refused = strtoull(colon + 1, NULL, 10);
    is_for_ever = strstr(colon + 1, ":ever") != NULL;
    /* The first call allocates memory. */
    backtrace(&(void *){NULL}, 1);
    is_counting = 1;
}

static int is_of_libdw(const void *caller)
{
    Dl_info info;

    return dladdr(caller, &info) != 0 && info.dli_fname != NULL &&
           (strstr(info.dli_fname, "/libdw") != NULL || strstr(info.dli_fname, "/libelf") != NULL);
}

/* Returns whether libdw called the allocating function: strdup(), or one of the dynamic linker. */
static int is_below_libdw(void)
{
    enum { DEPTH = 32 };
    void *callers[DEPTH];
    int count = backtrace(callers, DEPTH), at = 0;

    while (at < count && !is_of_libdw(callers[at]))
        at++;
    return at < count;
}

static int is_refused(const void *caller)
{
    if (!is_counting || is_of_libdw(caller))
        return 0;
    uint64_t place = __atomic_add_fetch(&report[0], 1, __ATOMIC_RELAXED);
    int is_over = !is_for_ever && __atomic_load_n(&has_refused, __ATOMIC_RELAXED);
    if (first_refused == 0 || place < first_refused || is_over || is_below_libdw())
        return 0;
    if (__atomic_exchange_n(&has_refused, 1, __ATOMIC_RELAXED) && !is_for_ever)
        return 0;
    __atomic_add_fetch(&report[1], 1, __ATOMIC_RELAXED);
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return is_refused(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **ret_memory, size_t alignment, size_t bytes)
{
    void *memory = is_refused(__builtin_return_address(0)) ? NULL
                                                           : __libc_memalign(alignment, bytes);

    if (memory == NULL)
        return ENOMEM;
    *ret_memory = memory;
    return 0;
}
