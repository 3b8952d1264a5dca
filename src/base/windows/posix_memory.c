/* SPDX-License-Identifier: MIT
 *
 * windows/posix_memory.c: memory and mapped files of posix/.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <windows.h>

#include "base/os.h"
#include "base/windows/posix.h"

static void *failed(void)
{
    probity_posix_fail();
    return MAP_FAILED;
}

static void *map_file(void *at, size_t bytes, int protection, int flags, int descriptor,
                      off_t offset)
{
    int is_private = (flags & MAP_PRIVATE) != 0, is_written = (protection & PROT_WRITE) != 0;
    DWORD pages = is_private ? PAGE_WRITECOPY : is_written ? PAGE_READWRITE : PAGE_READONLY;
    DWORD access = !is_written ? FILE_MAP_READ : is_private ? FILE_MAP_COPY : FILE_MAP_ALL_ACCESS;

    if (protection == PROT_NONE) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    HANDLE section = CreateFileMappingW(probity_posix_handle(descriptor), NULL, pages, 0, 0, NULL);
    if (section == NULL)
        return failed();
    void *found = MapViewOfFileEx(section, access, (DWORD)((uint64_t)offset >> 32), (DWORD)offset,
                                  bytes, at);
    if (found == NULL)
        found = failed();
    CloseHandle(section); /* the view keeps the section open */
    return found;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int descriptor, off_t offset)
{
    if ((flags & MAP_ANONYMOUS) == 0)
        return map_file(NULL, bytes, protection, flags, descriptor, offset);
    if (flags & MAP_FIXED)
        return at;
    DWORD how = protection == PROT_NONE ? MEM_RESERVE : MEM_RESERVE | MEM_COMMIT;
    void *found = VirtualAlloc(NULL, bytes, how,
                               protection == PROT_NONE ? PAGE_NOACCESS : PAGE_READWRITE);
    return found != NULL ? found : failed();
}

int munmap(void *at, size_t bytes)
{
    MEMORY_BASIC_INFORMATION region;

    (void)bytes;
    if (VirtualQuery(at, &region, sizeof region) == 0)
        return probity_posix_fail();
    int done = region.Type == MEM_MAPPED ? UnmapViewOfFile(at) : VirtualFree(at, 0, MEM_RELEASE);
    return done ? 0 : probity_posix_fail();
}

int mprotect(void *at, size_t bytes, int protection)
{
    DWORD before, pages = protection & PROT_WRITE  ? PAGE_READWRITE
                          : protection & PROT_READ ? PAGE_READONLY
                                                   : PAGE_NOACCESS;

    return VirtualProtect(at, bytes, pages, &before) ? 0 : probity_posix_fail();
}

int madvise(void *at, size_t bytes, int advice)
{
    (void)at;
    (void)bytes;
    (void)advice;
    return 0;
}

void *mremap(void *at, size_t before, size_t bytes, int flags, ...)
{
    (void)at;
    (void)before;
    (void)bytes;
    (void)flags;
    errno = ENOSYS;
    return MAP_FAILED;
}

int msync(void *at, size_t bytes, int flags)
{
    (void)flags;
    return FlushViewOfFile(at, bytes) ? 0 : probity_posix_fail();
}

/* Views begin at multiples of 64 KiB. Reserves more than needed, releases it and maps there;
 * repeats this if another thread takes the addresses in between. */
void *probity_os_map_aligned(int descriptor, size_t bytes, size_t window)
{
    enum { GRANULARITY = 65536, TRIES = 100 };

    window = window > GRANULARITY ? window : GRANULARITY;
    for (int i = 0; i < TRIES; i++) {
        char *wide = VirtualAlloc(NULL, bytes + window, MEM_RESERVE, PAGE_NOACCESS);
        if (wide == NULL)
            return NULL;
        char *at = wide + (window - (uintptr_t)wide % window) % window;
        VirtualFree(wide, 0, MEM_RELEASE);
        at = map_file(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (at != MAP_FAILED)
            return at;
    }
    return NULL;
}
