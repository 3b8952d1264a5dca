/* SPDX-License-Identifier: MIT
 *
 * usage.c: adds up the sizes of the files in a directory. Runs in the traced program when recording
 * starts, possibly in a signal handler, and therefore does not use opendir(), which allocates
 * memory.
 */
#include "spool/usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/assert.h"
#include "probity.h"

struct sum {
    uint64_t bytes, measured, others; /* the last two are numbers of files */
};

/* Adds the entries that getdents64() returned. */
static void add_entries(int directory, const char *entries, size_t bytes, struct sum *sum)
{
    for (size_t at = 0; at < bytes;) {
        const char *name = entries + at + offsetof(struct dirent64, d_name);
        unsigned short length;
        struct stat status;

        memcpy(&length, entries + at + offsetof(struct dirent64, d_reclen), sizeof length);
        at += length;
        probity_assert(length > 0 && at <= bytes);
        if (sum->measured == PROBITY_USAGE_FILES_MAX) {
            sum->others++;
        } else if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                   S_ISREG(status.st_mode)) {
            sum->bytes += (uint64_t)status.st_blocks * 512;
            sum->measured++;
        }
    }
}

int probity_usage_of_system(const char *directory, uint64_t *ret_bytes, uint64_t *ret_used)
{
    int before = errno;
    struct statfs system;
    int result = statfs(directory, &system);

    if (result == 0) {
        *ret_bytes = (uint64_t)system.f_blocks * (uint64_t)system.f_bsize;
        *ret_used = (uint64_t)(system.f_blocks - system.f_bfree) * (uint64_t)system.f_bsize;
    }
    errno = before;
    return result == 0 ? 0 : PROBITY_ERROR_OPEN;
}

int probity_usage_of_files(const char *directory, void *buffer, size_t room, uint64_t *ret_used)
{
    int before = errno, file = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct sum sum = {0, 0, 0};
    ssize_t got;

    if (file >= 0) {
        while ((got = getdents64(file, buffer, room)) > 0)
            add_entries(file, buffer, (size_t)got, &sum);
        close(file);
        *ret_used = sum.others > 0 ? sum.bytes + sum.bytes / sum.measured * sum.others : sum.bytes;
    }
    errno = before;
    return file >= 0 ? 0 : PROBITY_ERROR_OPEN;
}
