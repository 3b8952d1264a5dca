/* SPDX-License-Identifier: MIT
 *
 * code_segments.c: see code_segments.h.
 */
#include "functions/code_segments.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"

int probity_code_has(const struct probity_object *object, uintptr_t address, size_t bytes)
{
    const ElfW(Phdr) *header = object->headers;

    for (size_t i = 0; i < object->header_count; i++) {
        const uint32_t wanted = PF_R | PF_X;
        uintptr_t start = object->offset + header[i].p_vaddr;
        if (header[i].p_type == PT_LOAD && (header[i].p_flags & wanted) == wanted &&
            header[i].p_filesz >= bytes && address - start <= header[i].p_filesz - bytes)
            return 1;
    }
    return 0;
}

int probity_code_protection(const ElfW(Phdr) *segment)
{
    return (segment->p_flags & PF_R ? PROT_READ : 0) | (segment->p_flags & PF_W ? PROT_WRITE : 0) |
           (segment->p_flags & PF_X ? PROT_EXEC : 0);
}

int probity_code_protect(uintptr_t first, uintptr_t end, int protection)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = first / page * page;

    return mprotect((void *)start, end - start, protection);
}

int probity_code_finish(uint8_t *made, size_t bytes)
{
    if (mprotect(made, bytes, PROT_READ | PROT_EXEC) == 0)
        return 0;
    int why = errno;
    munmap(made, bytes);
    errno = why;
    return -1;
}

int probity_code_update(const struct probity_object *object,
                        int (*update)(void *context, const ElfW(Phdr) *segment), void *context)
{
    const ElfW(Phdr) *header = object->headers;
    int why = 0;

    if (probity_os_code_barrier() != 0 && !probity_os_is_single_threaded()) {
        errno = ENOSYS;
        return -1;
    }
    for (size_t i = 0; i < object->header_count; i++) {
        if (header[i].p_type == PT_LOAD && (header[i].p_flags & PF_X) != 0 &&
            update(context, &header[i]) != 0)
            why = errno;
    }
    errno = why != 0 ? why : errno;
    return why != 0 ? -1 : 0;
}
