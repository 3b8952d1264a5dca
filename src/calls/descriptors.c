/* SPDX-License-Identifier: MIT
 *
 * descriptors.c: records, as messages, the files and peers of the descriptors that are open when
 * recording begins. Reads /proc/self/fd with system calls, since opendir() allocates.
 */
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls/calls.h"
#include "calls/scopes.h"

/* The format of the kernel's getdents64(). */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t bytes;
    uint8_t type;
    char name[];
};

static void record_descriptor(int number, const char *target)
{
    enum { COUNT = 3 };
    static const uint8_t types[COUNT] = {PROBITY_CALLS_LITERAL, PROBITY_CALLS_I32,
                                         PROBITY_CALLS_TEXT};
    static const char *const texts[COUNT] = {"\"descriptor\"", "fd", "path"};
    static struct probity_site_format format = {types, texts, NULL, COUNT, 0, 0};
    const struct probity_value values[COUNT] = {
        {"descriptor", 10, NULL, PROBITY_AT_DATA},
        {&number, sizeof number, NULL, PROBITY_AT_VALUE},
        {target, strlen(target), NULL, PROBITY_AT_DATA}};
    enum { EVENT_MESSAGE = 9 };

    probity_values_slow(EVENT_MESSAGE, 0, 0, &format, values);
}

static int number_of(const char *name)
{
    int number = 0;

    if (*name == '\0')
        return -1;
    for (; *name != '\0'; name++) {
        if (*name < '0' || *name > '9' || number > 99999999)
            return -1;
        number = 10 * number + (*name - '0');
    }
    return number;
}

static void record_entry(int directory, const struct entry *entry)
{
    enum { TARGET_BYTES = 1024 };
    char target[TARGET_BYTES];
    int number = number_of(entry->name);

    if (number < 0 || number == directory)
        return;
    ssize_t length = readlinkat(directory, entry->name, target, sizeof target - 1);
    if (length < 0)
        return;
    target[length] = '\0';
    record_descriptor(number, target);
}

void probity_calls_descriptors_record(void)
{
    enum { ROOM = 1024 };
    _Alignas(8) char entries[ROOM];
    int directory = probity_calls_next.open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long got;

    if (directory < 0 || !probity_is_recording())
        got = 0;
    else
        got = syscall(SYS_getdents64, directory, entries, sizeof entries);
    while (got > 0) {
        for (long at = 0; at < got;) {
            const struct entry *entry = (const struct entry *)(const void *)(entries + at);
            record_entry(directory, entry);
            at += entry->bytes;
        }
        got = syscall(SYS_getdents64, directory, entries, sizeof entries);
    }
    if (directory >= 0)
        probity_calls_next.close(directory);
}
