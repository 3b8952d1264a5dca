/* SPDX-License-Identifier: MIT
 *
 * interpreter.c: finds the dynamic linker that an executable requests. The file is untrusted.
 */
#include "symbols/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/os.h"

static int read_at(int file, void *to, size_t bytes, uint64_t at)
{
    return at <= INT64_MAX && pread(file, to, bytes, (off_t)at) == (ssize_t)bytes ? 0 : -1;
}

static int find(int file, char *ret_path, size_t room)
{
    Elf64_Phdr header;
    Elf64_Ehdr head;

    if (read_at(file, &head, sizeof head, 0) != 0 ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_machine != PROBITY_CPU_ELF_MACHINE || head.e_phentsize != sizeof header)
        return -1;
    for (size_t i = 0; i < head.e_phnum; i++) {
        if (read_at(file, &header, sizeof header, head.e_phoff + i * sizeof header) != 0)
            return -1;
        if (header.p_type != PT_INTERP)
            continue;
        if (header.p_filesz < 2 || header.p_filesz > room ||
            read_at(file, ret_path, header.p_filesz, header.p_offset) != 0)
            return -1;
        return ret_path[header.p_filesz - 1] == '\0' && ret_path[0] == '/' ? 0 : -1;
    }
    return -1;
}

int symbols_interpreter(const char *path, char *ret_path, size_t room)
{
    int file = probity_os_open_regular(AT_FDCWD, path, O_RDONLY);

    if (file < 0)
        return -1;
    int result = find(file, ret_path, room);
    close(file);
    return result;
}
