/* SPDX-License-Identifier: MIT
 *
 * wake_process.c: asks a process to start recording. Its directory in /proc is opened once, and its
 * memory through that: both stay with that process, so that another one with the same id is never
 * written to. The files that it has mapped, and its memory, are untrusted: they decide which of its
 * own writable bytes change, and nothing else.
 */
#include "writer/wake_process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "probity.h"
#include "spool/wake.h"

_Static_assert(PROBITY_WAKE_SETTINGS_MAX == PROBITY_WAKE_TEXT_BYTES - 2, "two zeros follow");

enum { HEADERS_MAX = 128, NOTES_MAX = 1 << 16, LEVEL_ALL = 5 };

struct range {
    uint64_t start, end;
};

struct target {
    int directory, memory;
    struct range *writable;
    size_t writable_count;
    uint64_t block; /* address; 0: not found */
    uint32_t noted_version;
};

/* ---- The library in the process ----------------------------------------------------------------
 */

static int is_writable(const struct target *target, uint64_t at, uint64_t bytes)
{
    for (size_t i = 0; i < target->writable_count; i++) {
        const struct range *range = &target->writable[i];
        if (at >= range->start && at < range->end && range->end - at >= bytes)
            return 1;
    }
    return 0;
}

/* Looks for the note among those in a buffer. Returns the place of its description, or 0. */
static size_t find_note(const uint8_t *notes, size_t bytes)
{
    for (size_t at = 0; bytes - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr head;
        memcpy(&head, notes + at, sizeof head);
        at += sizeof head;
        uint64_t name = ((uint64_t)head.n_namesz + 3) & ~UINT64_C(3);
        uint64_t size = ((uint64_t)head.n_descsz + 3) & ~UINT64_C(3);
        if (name > bytes - at || size > bytes - at - name)
            return 0;
        if (head.n_type == PROBITY_WAKE_NOTE && head.n_namesz == 8 && head.n_descsz == 8 &&
            memcmp(notes + at, "Probity", 8) == 0)
            return at + (size_t)name;
        at += (size_t)(name + size);
    }
    return 0;
}

/* bias: what is added to the file's addresses. */
static void take_notes(struct target *target, int file, const Elf64_Phdr *header, uint64_t bias)
{
    size_t bytes = header->p_filesz < NOTES_MAX ? (size_t)header->p_filesz : NOTES_MAX;
    uint8_t *notes = malloc(bytes + 1);
    ssize_t got = notes != NULL ? pread(file, notes, bytes, (off_t)header->p_offset) : -1;
    size_t at = got > 0 ? find_note(notes, (size_t)got) : 0;
    int32_t distance;

    if (at != 0) {
        memcpy(&target->noted_version, notes + at, 4);
        memcpy(&distance, notes + at + 4, 4);
        target->block = bias + header->p_vaddr + at + 4 + (uint64_t)(int64_t)distance;
    }
    free(notes);
}

/* start: where the file's beginning is mapped. */
static void look_into(struct target *target, int file, uint64_t start)
{
    Elf64_Ehdr head;
    Elf64_Phdr headers[HEADERS_MAX];
    uint64_t first = 0;

    if (pread(file, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_phentsize != sizeof *headers || head.e_phnum == 0 || head.e_phnum > HEADERS_MAX)
        return;
    ssize_t bytes = (ssize_t)(head.e_phnum * sizeof *headers);
    if (pread(file, headers, (size_t)bytes, (off_t)head.e_phoff) != bytes)
        return;
    for (size_t i = 0; i < head.e_phnum; i++) {
        if (headers[i].p_type == PT_LOAD && headers[i].p_offset == 0)
            first = headers[i].p_vaddr;
    }
    for (size_t i = 0; i < head.e_phnum && target->block == 0; i++) {
        if (headers[i].p_type == PT_NOTE)
            take_notes(target, file, &headers[i], start - first);
    }
}

/* The file as the process sees it, if it still is the one that is mapped. */
static int open_mapped(const struct target *target, const char *path, uint64_t inode)
{
    char name[4200];
    struct stat status;

    snprintf(name, sizeof name, "root%s", path);
    int file = openat(target->directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file >= 0 && (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
                      (uint64_t)status.st_ino != inode)) {
        close(file);
        file = -1;
    }
    return file;
}

static int add_writable(struct target *target, uint64_t start, uint64_t end)
{
    struct range *ranges =
        realloc(target->writable, (target->writable_count + 1) * sizeof *ranges);

    if (ranges == NULL)
        return 0;
    target->writable = ranges;
    if (target->writable_count > 0 && ranges[target->writable_count - 1].end == start)
        ranges[target->writable_count - 1].end = end; /* .data and .bss */
    else
        ranges[target->writable_count++] = (struct range){start, end};
    return 1;
}

static void take_mapping(struct target *target, char *line)
{
    uint64_t start, end, offset, inode;
    char rights[8];
    int at = 0;

    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64 " %n", &start, &end,
               rights, &offset, &inode, &at) < 5 || at == 0)
        return;
    if (rights[0] == 'r' && rights[1] == 'w' && rights[3] == 'p')
        add_writable(target, start, end);
    if (offset != 0 || inode == 0 || line[at] != '/' || target->block != 0)
        return;
    int file = open_mapped(target, line + at, inode);
    if (file >= 0) {
        look_into(target, file, start);
        close(file);
    }
}

static enum probity_wake_refusal find_block(struct target *target)
{
    int descriptor = openat(target->directory, "maps", O_RDONLY | O_CLOEXEC);
    FILE *maps = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;
    char *line = NULL;
    size_t room = 0;

    if (maps == NULL) {
        if (descriptor >= 0)
            close(descriptor);
        return errno == EACCES || errno == EPERM ? PROBITY_WAKE_NO_RIGHTS
                                                 : PROBITY_WAKE_NO_PROCESS;
    }
    while (getline(&line, &room, maps) > 0)
        take_mapping(target, line);
    free(line);
    fclose(maps);
    if (target->block == 0)
        return PROBITY_WAKE_NO_LIBRARY;
    return target->noted_version == PROBITY_WAKE_VERSION ? PROBITY_WAKE_OK
                                                         : PROBITY_WAKE_OTHER_VERSION;
}

static enum probity_wake_refusal target_open(uint32_t pid, struct target *ret_target)
{
    char path[32];
    struct stat status;

    *ret_target = (struct target){.directory = -1, .memory = -1};
    snprintf(path, sizeof path, "/proc/%" PRIu32, pid);
    ret_target->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (ret_target->directory < 0 || fstat(ret_target->directory, &status) != 0)
        return PROBITY_WAKE_NO_PROCESS;
    if (status.st_uid != geteuid())
        return PROBITY_WAKE_OTHER_USER;
    ret_target->memory = openat(ret_target->directory, "mem", O_RDWR | O_CLOEXEC);
    if (ret_target->memory < 0)
        return errno == EACCES || errno == EPERM ? PROBITY_WAKE_NO_RIGHTS
                                                 : PROBITY_WAKE_NO_PROCESS;
    return find_block(ret_target);
}

static void target_close(struct target *target)
{
    if (target->directory >= 0)
        close(target->directory);
    if (target->memory >= 0)
        close(target->memory);
    free(target->writable);
}

/* ---- The request -------------------------------------------------------------------------------
 */

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int put(const struct target *target, uint64_t at, const void *bytes, size_t count)
{
    return pwrite(target->memory, bytes, count, (off_t)at) == (ssize_t)count;
}

static int put_u32(const struct target *target, uint64_t at, uint32_t value)
{
    return put(target, at, &value, sizeof value);
}

static enum probity_wake_refusal read_block(const struct target *target,
                                            struct probity_wake *ret_block)
{
    if (pread(target->memory, ret_block, sizeof *ret_block, (off_t)target->block) !=
        (ssize_t)sizeof *ret_block)
        return PROBITY_WAKE_NO_PROCESS;
    if (memcmp(ret_block->magic, PROBITY_WAKE_MAGIC, sizeof ret_block->magic) != 0)
        return PROBITY_WAKE_NO_LIBRARY;
    if (ret_block->version != PROBITY_WAKE_VERSION || ret_block->bytes != sizeof *ret_block ||
        !is_writable(target, target->block, sizeof *ret_block) ||
        !is_writable(target, ret_block->active, 4) || !is_writable(target, ret_block->level, 4) ||
        !is_writable(target, ret_block->text, PROBITY_WAKE_TEXT_BYTES))
        return PROBITY_WAKE_OTHER_VERSION;
    return PROBITY_WAKE_OK;
}

#define FIELD(TARGET, NAME) ((TARGET)->block + offsetof(struct probity_wake, NAME))

/* Probes look for the request from the moment of the first store, and find it after the last. So
 * nothing is written to these two words once the recording has begun. */
static int make_request(const struct target *target, const struct probity_wake *block,
                        const char *settings, size_t settings_bytes, uint64_t until_ns,
                        uint32_t serial)
{
    static const char end[2];

    return put(target, block->text, settings, settings_bytes) &&
           put(target, block->text + settings_bytes, end, sizeof end) &&
           put(target, FIELD(target, until_ns), &until_ns, sizeof until_ns) &&
           put_u32(target, block->level, LEVEL_ALL) && put_u32(target, block->active, 1) &&
           put_u32(target, FIELD(target, requested), serial);
}

/* If the library takes the request at the same moment, its answer has a later serial than this. */
static void withdraw(const struct target *target, uint32_t serial)
{
    uint64_t never = 0;

    put_u32(target, FIELD(target, requested), serial - 1);
    put(target, FIELD(target, until_ns), &never, sizeof never);
}

static enum probity_wake_refusal wait_for(const struct target *target, uint32_t serial,
                                          int64_t until_ns, int *ret_error)
{
    static const struct timespec a_moment = {0, 500000};
    struct probity_wake block;

    for (;;) {
        int is_late = now_ns() >= until_ns;
        if (is_late)
            withdraw(target, serial);
        enum probity_wake_refusal refusal = read_block(target, &block);
        if (refusal != PROBITY_WAKE_OK)
            return PROBITY_WAKE_NO_PROCESS; /* it has called exec, or ended */
        if (block.taken == serial && block.result != 0) {
            *ret_error = block.result;
            return PROBITY_WAKE_REFUSED;
        }
        if (block.taken == serial)
            return PROBITY_WAKE_OK;
        if (is_late)
            return PROBITY_WAKE_TIMEOUT;
        nanosleep(&a_moment, NULL);
    }
}

enum probity_wake_refusal probity_wake_process(uint32_t pid, const char *settings,
                                               size_t settings_bytes, int64_t wait_ns,
                                               int *ret_error)
{
    struct target target;
    struct probity_wake block;
    int64_t until_ns = now_ns() + wait_ns;
    enum probity_wake_refusal refusal = target_open(pid, &target);

    if (refusal == PROBITY_WAKE_OK)
        refusal = read_block(&target, &block);
    if (refusal == PROBITY_WAKE_OK && probity_wake_is_requested(&block) &&
        block.until_ns > (uint64_t)now_ns())
        refusal = PROBITY_WAKE_BUSY;
    if (refusal == PROBITY_WAKE_OK) {
        uint32_t serial = block.taken + 1;
        refusal = make_request(&target, &block, settings, settings_bytes, (uint64_t)until_ns,
                               serial)
                      ? wait_for(&target, serial, until_ns, ret_error)
                  : errno == ESRCH ? PROBITY_WAKE_NO_PROCESS
                                   : PROBITY_WAKE_SYSTEM;
    }
    int before = errno;
    target_close(&target);
    errno = before;
    return refusal;
}
