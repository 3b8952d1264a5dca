/* SPDX-License-Identifier: MIT
 *
 * posix/dirent.h: listing a directory.
 */
#ifndef PROBITY_POSIX_DIRENT_H
#define PROBITY_POSIX_DIRENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct dirent64 {
    unsigned short d_reclen;
    unsigned char d_type;
    char d_name[260];
};
#define dirent dirent64
enum { DT_UNKNOWN = 0, DT_REG = 8 };

/* Fails: spools are then not added up (src/spool/usage.c). */
ssize_t getdents64(int directory, void *entries, size_t room) __asm__("probity_posix_getdents64");

#endif
