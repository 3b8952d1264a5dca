/* SPDX-License-Identifier: MIT
 *
 * posix/sys/vfs.h: the size of a file system.
 */
#ifndef PROBITY_POSIX_SYS_VFS_H
#define PROBITY_POSIX_SYS_VFS_H

#include <stdint.h>

struct statfs {
    uint64_t f_blocks, f_bfree, f_bavail, f_bsize;
    long f_type;
};
int statfs(const char *path, struct statfs *ret_status) __asm__("probity_posix_statfs");

#endif
