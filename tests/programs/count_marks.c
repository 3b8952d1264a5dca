/* SPDX-License-Identifier: MIT
 *
 * count_marks.c: an independent reader of the markers of probity_usdt.h, using the kernel's
 * uprobes: counts how often another program passes each of its USDT markers. Arguments: a program
 * and its arguments. Prints lines "NAME COUNT". Status 77, with the reason, if the kernel does not
 * allow it.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MARKS_MAX = 64, SKIPPED = 77 };

static struct mark {
    const char *name;
    uint64_t offset; /* in the file */
    int event;
} marks[MARKS_MAX];
static int mark_count;

static int skip(const char *what)
{
    printf("%s: %s\n", what, strerror(errno));
    return SKIPPED;
}

/* Converts an address as linked to an offset in the file; 0 if it is in no segment. */
static uint64_t offset_of(const char *file, uint64_t address)
{
    const Elf64_Ehdr *head = (const void *)file;
    const Elf64_Phdr *segments = (const void *)(file + head->e_phoff);

    for (int i = 0; i < head->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && address >= segments[i].p_vaddr &&
            address - segments[i].p_vaddr < segments[i].p_filesz)
            return address - segments[i].p_vaddr + segments[i].p_offset;
    }
    return 0;
}

static void read_notes(const char *file, const char *at, const char *end)
{
    while (at + sizeof(Elf64_Nhdr) < end && mark_count < MARKS_MAX) {
        const Elf64_Nhdr *note = (const void *)at;
        const char *body = at + sizeof *note + (note->n_namesz + 3) / 4 * 4;
        uint64_t address;
        memcpy(&address, body, sizeof address);
        if (strcmp(at + sizeof *note, "stapsdt") == 0 && note->n_type == 3) {
            const char *provider = body + 24;
            marks[mark_count].name = provider + strlen(provider) + 1;
            marks[mark_count++].offset = offset_of(file, address);
        }
        at = body + (note->n_descsz + 3) / 4 * 4;
    }
}

static int read_marks(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &status) != 0)
        return -1;
    char *file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file == MAP_FAILED)
        return -1;
    const Elf64_Ehdr *head = (const void *)file;
    const Elf64_Shdr *sections = (const void *)(file + head->e_shoff);
    const char *names = file + sections[head->e_shstrndx].sh_offset;
    for (int i = 0; i < head->e_shnum; i++) {
        if (strcmp(names + sections[i].sh_name, ".note.stapsdt") == 0)
            read_notes(file, file + sections[i].sh_offset,
                       file + sections[i].sh_offset + sections[i].sh_size);
    }
    return 0;
}

static int count_at(const char *path, struct mark *mark, pid_t pid, uint32_t type)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = type;
    attr.config1 = (uint64_t)(uintptr_t)path;
    attr.config2 = mark->offset;
    attr.inherit = 1;
    mark->event = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return mark->event < 0 ? -1 : 0;
}

/* Runs the program after `go` is closed. */
static pid_t start(char **arguments, int go[2])
{
    char byte;
    pid_t pid = fork();

    if (pid == 0) {
        close(go[1]);
        ssize_t got = read(go[0], &byte, 1);
        int quiet = open("/dev/null", O_WRONLY);
        dup2(quiet, 1);
        execv(arguments[0], arguments);
        _exit(got == 0 ? 127 : 126);
    }
    close(go[0]);
    return pid;
}

int main(int argc, char **argv)
{
    uint32_t type = 0;
    int go[2], status;
    FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");

    if (file == NULL)
        return skip("the kernel has no uprobes");
    if (argc < 2 || fscanf(file, "%u", &type) != 1 || read_marks(argv[1]) != 0 || pipe(go) != 0)
        return 1;
    fclose(file);
    pid_t pid = start(argv + 1, go);
    for (int i = 0; i < mark_count; i++)
        if (count_at(argv[1], &marks[i], pid, type) != 0)
            return skip("perf_event_open of an uprobe");
    close(go[1]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        return 1;
    for (int i = 0; i < mark_count; i++) {
        uint64_t count = 0;
        if (read(marks[i].event, &count, sizeof count) != sizeof count)
            return 1;
        printf("%s %llu\n", marks[i].name, (unsigned long long)count);
    }
    return 0;
}
