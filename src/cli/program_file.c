/* SPDX-License-Identifier: MIT
 *
 * program_file.c: see program_file.h. The file is trusted, since it is executed next; libelf checks
 * its lengths.
 */
#include "cli/program_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "symbols/elfutils.h"

static int is_program(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

int cli_program_find(const char *program, char ret_path[PATH_MAX])
{
    const char *path = getenv("PATH");

    if (strchr(program, '/') != NULL) {
        snprintf(ret_path, PATH_MAX, "%s", program);
        return is_program(ret_path);
    }
    for (path = path != NULL ? path : "/bin:/usr/bin"; *path != '\0';) {
        size_t bytes = strcspn(path, ":");
        int length = snprintf(ret_path, PATH_MAX, "%.*s%s%s", (int)bytes, path,
                              bytes > 0 ? "/" : "", program);
        if (length < PATH_MAX && is_program(ret_path))
            return 1;
        path += bytes + (path[bytes] == ':');
    }
    return 0;
}

static int has_segment(Elf *elf, uint32_t type)
{
    GElf_Phdr header;
    size_t count;

    if (elf_getphdrnum(elf, &count) != 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (gelf_getphdr(elf, (int)i, &header) != NULL && header.p_type == type)
            return 1;
    }
    return 0;
}

/* One entry of the list of libraries. */
static void take_library(const char *name, struct cli_program_file *file)
{
    if (name != NULL && strlen(name) < sizeof file->sanitizer &&
        (strncmp(name, "libasan.so", 10) == 0 || strncmp(name, "libclang_rt.asan", 16) == 0))
        memcpy(file->sanitizer, name, strlen(name) + 1);
}

static void take_libraries(Elf *elf, struct cli_program_file *file)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Dyn entry;

    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_DYNAMIC)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (int i = 0; data != NULL && gelf_getdyn(data, i, &entry) != NULL; i++) {
            if (entry.d_tag == DT_NEEDED)
                take_library(elf_strptr(elf, header.sh_link, entry.d_un.d_val), file);
        }
    }
}

void cli_program_inspect(const char *program, struct cli_program_file *ret_file)
{
    char path[PATH_MAX];
    GElf_Ehdr head;

    *ret_file = (struct cli_program_file){.is_static = 0};
    int descriptor = cli_program_find(program, path)
                         ? probity_os_open_regular(AT_FDCWD, path, O_RDONLY)
                         : -1;
    if (descriptor < 0)
        return;
    if (symbols_elf_load() != 0) {
        close(descriptor);
        return;
    }
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(descriptor, ELF_C_READ, NULL);
    if (elf != NULL && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &head) != NULL) {
        ret_file->is_static = !has_segment(elf, PT_INTERP);
        take_libraries(elf, ret_file);
    }
    elf_end(elf);
    close(descriptor);
}
