/* SPDX-License-Identifier: MIT
 *
 * parent.c: opens directories and compares files with their names. Runs in the tool, and in the
 * traced program when recording ends.
 */
#include "base/parent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"

int probity_parent_open(const char *path, struct probity_parent *ret_parent)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash != NULL ? (size_t)(slash - path) : 0;
    char directory[PATH_MAX];

    if (length >= sizeof directory || path[0] == 0 || (slash != NULL && slash[1] == 0)) {
        errno = length >= sizeof directory ? ENAMETOOLONG : EISDIR;
        return -1;
    }
    memcpy(directory, path, length);
    directory[length] = 0;
    const char *wanted = slash == NULL ? "." : length == 0 ? "/" : directory;
    ret_parent->directory = open(wanted, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ret_parent->name = slash != NULL ? slash + 1 : path;
    return ret_parent->directory >= 0 ? 0 : -1;
}

int probity_parent_of_target(const char *path)
{
    struct probity_parent parent = {.directory = -1};
    char *target = realpath(path, NULL);

    if (target != NULL && probity_parent_open(target, &parent) != 0)
        parent.directory = -1;
    free(target);
    return parent.directory;
}

int probity_parent_holds(const struct probity_parent *parent, uint64_t device, uint64_t inode)
{
    struct stat status;

    probity_assert(parent->directory >= 0);
    return fstatat(parent->directory, parent->name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(status.st_mode) && status.st_dev == device && status.st_ino == inode;
}

int probity_parent_remove(const struct probity_parent *parent, uint64_t device, uint64_t inode)
{
    probity_assert(parent->directory >= 0 && parent->name[0] != 0);
    if (!probity_parent_holds(parent, device, inode)) {
        errno = ESTALE;
        return -1;
    }
    return unlinkat(parent->directory, parent->name, 0);
}

void probity_parent_close(struct probity_parent *parent)
{
    if (parent->directory >= 0)
        close(parent->directory);
    parent->directory = -1;
}
