/* SPDX-License-Identifier: MIT
 *
 * elf_file.c: see elf_file.h.
 */
#include "symbols/elf_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array_grow.h"
#include "base/os.h"
#include "symbols/symbols.h"

static void (*on_unused)(const char *path, const char *why);

void symbols_on_unused(void (*report)(const char *path, const char *why))
{
    on_unused = report;
}

/* libdwfl would decompress any other file into memory, however large. */
static int is_elf(int file)
{
    char magic[SELFMAG];

    return pread(file, magic, SELFMAG, 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Reading a kernel file, whose size is 0, may have side effects. Returns -1 on failure. */
static int open_elf(const char *path)
{
    int file = probity_os_open_regular(AT_FDCWD, path, O_RDONLY);
    struct stat status;

    if (file >= 0 && (fstat(file, &status) != 0 || status.st_size == 0 || !is_elf(file))) {
        close(file);
        return -1;
    }
    return file;
}

static void begin(struct symbols_elf_file *file, int descriptor, const char *path)
{
    void **data; /* data of the module */

    file->session = symbols_begin_offline();
    if (file->session != NULL)
        file->module = dwfl_report_offline(file->session, "", path, descriptor);
    if (file->module == NULL)
        return;
    dwfl_module_info(file->module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
    *data = file->files;
    dwfl_report_end(file->session, NULL, NULL);
}

void symbols_elf_file_open(const char *path, struct symbols_elf_file *ret_file)
{
    int descriptor = open_elf(path);

    *ret_file = (struct symbols_elf_file){0};
    if (descriptor < 0)
        return;
    ret_file->files = malloc(sizeof *ret_file->files);
    if (ret_file->files != NULL) {
        symbols_debug_files_init(ret_file->files, path, descriptor);
        begin(ret_file, descriptor, ret_file->files->path);
    }
    if (ret_file->module == NULL)
        close(descriptor);
}

void symbols_elf_file_close(struct symbols_elf_file *file)
{
    if (file->session != NULL)
        dwfl_end(file->session);
    free(file->files);
}

/* Names of compressed sections have other prefixes, those of split units another suffix. */
static int has_section(Elf *elf, const char *part)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;

    if (elf == NULL || elf_getshdrstrndx(elf, &names) != 0)
        return 1;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        const char *name = gelf_getshdr(section, &header) != NULL
                               ? elf_strptr(elf, names, header.sh_name)
                               : NULL;
        if (name != NULL && strstr(name, part) != NULL)
            return 1;
    }
    return 0;
}

/* Several answers may open the same file. */
static void report_unused(const char *path, const char *why)
{
    static char **reported;
    static size_t count, capacity;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(reported[i], path) == 0)
            return;
    }
    void *room = probity_array_room(reported, sizeof *reported, count, &capacity);
    char *copy = strdup(path);
    if (room != NULL)
        reported = room;
    if (room != NULL && copy != NULL)
        reported[count++] = copy;
    else
        free(copy);
    if (on_unused != NULL)
        on_unused(path, why);
}

Dwarf *symbols_elf_file_dwarf(struct symbols_elf_file *file)
{
    struct symbols_debug_files *files = file->files;
    Dwarf *dwarf = NULL;
    GElf_Addr bias;

    if (file->module == NULL)
        return NULL;
    if (!files->is_trusted &&
        has_section(dwfl_module_getelf(file->module, &bias), "gnu_debugaltlink"))
        files->is_refused = 1;
    else
        dwarf = dwfl_module_getdwarf(file->module, &bias);
    file->is_unused = files->is_refused;
    if (file->is_unused)
        report_unused(files->path, files->why);
    return file->is_unused ? NULL : dwarf;
}
