/* SPDX-License-Identifier: MIT
 *
 * posix/dirent.h: lists a directory.
 */
#ifndef PROBITY_POSIX_DIRENT_H
#define PROBITY_POSIX_DIRENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dirent64 {
    uint64_t d_ino;
    unsigned short d_reclen;
    unsigned char d_type;
    char d_name[768];
};
#define dirent dirent64
enum { DT_UNKNOWN = 0, DT_DIR = 4, DT_REG = 8 };

/* Fails, so the sizes of spools are not added up (src/spool/usage.c). */
ssize_t getdents64(int directory, void *entries, size_t room) __asm__("probity_posix_getdents64");

typedef struct probity_posix_directory DIR;
DIR *opendir(const char *path) __asm__("probity_posix_opendir");
/* Takes ownership of the descriptor, unless it fails. */
DIR *fdopendir(int descriptor) __asm__("probity_posix_fdopendir");
int dirfd(DIR *directory) __asm__("probity_posix_dirfd");
/* The result is valid until the next call. */
struct dirent *readdir(DIR *directory) __asm__("probity_posix_readdir");
int closedir(DIR *directory) __asm__("probity_posix_closedir");

#endif
