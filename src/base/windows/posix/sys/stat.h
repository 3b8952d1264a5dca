/* SPDX-License-Identifier: MIT
 *
 * posix/sys/stat.h: see fcntl.h.
 */
#ifndef PROBITY_POSIX_SYS_STAT_H
#define PROBITY_POSIX_SYS_STAT_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct stat {
    uint64_t st_dev, st_ino;
    uint32_t st_mode, st_nlink, st_uid;
    int64_t st_size, st_blocks;
    struct timespec st_mtim;
};
#define st_mtime st_mtim.tv_sec

#define S_IFMT 0xf000
#define S_IFREG 0x8000
#define S_IFDIR 0x4000
#define S_IFLNK 0xa000
#define S_IFCHR 0x2000
#define S_IFIFO 0x1000
#define S_ISREG(mode) (((mode) & S_IFMT) == S_IFREG)
#define S_ISDIR(mode) (((mode) & S_IFMT) == S_IFDIR)
#define S_ISLNK(mode) (((mode) & S_IFMT) == S_IFLNK)
#define S_ISCHR(mode) (((mode) & S_IFMT) == S_IFCHR)
#define S_ISFIFO(mode) (((mode) & S_IFMT) == S_IFIFO)

int stat(const char *path, struct stat *ret_status) __asm__("probity_posix_stat");
int lstat(const char *path, struct stat *ret_status) __asm__("probity_posix_stat");
int fstat(int descriptor, struct stat *ret_status) __asm__("probity_posix_fstat");
int fstatat(int directory, const char *path, struct stat *ret_status, int flags)
    __asm__("probity_posix_fstatat");
int mkdir(const char *path, mode_t mode) __asm__("probity_posix_mkdir");
int fchmod(int descriptor, mode_t mode) __asm__("probity_posix_fchmod");
mode_t umask(mode_t mode) __asm__("probity_posix_umask");

#endif
