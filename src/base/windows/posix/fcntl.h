/* SPDX-License-Identifier: MIT
 *
 * posix/fcntl.h: files by descriptor, for the Windows build (doc/porting.md). A descriptor is the
 * number of a Windows handle, so there is no table; 0 to 2 are the standard streams.
 */
#ifndef PROBITY_POSIX_FCNTL_H
#define PROBITY_POSIX_FCNTL_H

#include <sys/types.h>

#undef O_RDONLY
enum {
    O_RDONLY = 0,
    O_WRONLY = 1,
    O_RDWR = 2,
    O_ACCMODE = 3,
    O_CREAT = 0x100,
    O_EXCL = 0x400,
    O_TRUNC = 0x200,
    O_APPEND = 0x8,
    /* Ignored: */
    O_CLOEXEC = 0,
    O_NOFOLLOW = 0,
    O_NONBLOCK = 0,
    O_NOCTTY = 0,
    /* For directories: */
    O_DIRECTORY = 0x10000,
    O_PATH = 0x20000,
    /* Not available: opening fails with EOPNOTSUPP. */
    O_TMPFILE = 0x40000
};
#define O_CLOEXEC O_CLOEXEC
#define O_NOFOLLOW O_NOFOLLOW

enum {
    AT_FDCWD = -100,
    AT_SYMLINK_NOFOLLOW = 0x100,
    AT_SYMLINK_FOLLOW = 0x400,
    AT_EMPTY_PATH = 0x1000 /* not available */
};
enum { F_RDLCK = 0, F_WRLCK = 1, F_UNLCK = 2 };
enum { F_DUPFD = 0, F_GETFD = 1, F_SETFD = 2, F_GETFL = 3, F_SETFL = 4, F_DUPFD_CLOEXEC = 1030 };
enum { F_OFD_GETLK = 36, F_OFD_SETLK = 37 };
enum { FD_CLOEXEC = 1 };

struct flock {
    short l_type, l_whence;
    off_t l_start, l_len;
    int l_pid;
};

int open(const char *path, int flags, ...) __asm__("probity_posix_open");
int openat(int directory, const char *path, int flags, ...) __asm__("probity_posix_openat");
/* Supports only locks. They are beyond the end of the file, since Windows forbids access to locked
 * bytes. F_OFD_GETLK tries to lock, then unlocks. */
int fcntl(int descriptor, int command, ...) __asm__("probity_posix_fcntl");
/* Sets the size, and makes the file system allocate the space. */
int fallocate(int descriptor, int mode, off_t offset, off_t bytes)
    __asm__("probity_posix_fallocate");
int posix_fallocate(int descriptor, off_t offset, off_t bytes)
    __asm__("probity_posix_posix_fallocate");

#endif
