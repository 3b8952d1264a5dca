/* SPDX-License-Identifier: MIT
 *
 * posix/unistd.h: see fcntl.h.
 */
#ifndef PROBITY_POSIX_UNISTD_H
#define PROBITY_POSIX_UNISTD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#undef STDIN_FILENO
#undef STDOUT_FILENO
#undef STDERR_FILENO
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
enum { R_OK = 4, W_OK = 2, X_OK = 1, F_OK = 0 };

int close(int descriptor) __asm__("probity_posix_close");
ssize_t read(int descriptor, void *bytes, size_t count) __asm__("probity_posix_read");
ssize_t write(int descriptor, const void *bytes, size_t count) __asm__("probity_posix_write");
ssize_t pread(int descriptor, void *bytes, size_t count, off_t at) __asm__("probity_posix_pread");
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t at)
    __asm__("probity_posix_pwrite");
off_t lseek(int descriptor, off_t offset, int whence) __asm__("probity_posix_lseek");
int ftruncate(int descriptor, off_t bytes) __asm__("probity_posix_ftruncate");
int fsync(int descriptor) __asm__("probity_posix_fsync");
int fdatasync(int descriptor) __asm__("probity_posix_fsync");
int isatty(int descriptor) __asm__("probity_posix_isatty");
int dup(int descriptor) __asm__("probity_posix_dup");
int access(const char *path, int mode) __asm__("probity_posix_access");
int unlink(const char *path) __asm__("probity_posix_unlink");
int rmdir(const char *path) __asm__("probity_posix_rmdir");
int unlinkat(int directory, const char *path, int flags) __asm__("probity_posix_unlinkat");
int linkat(int from, const char *path, int to, const char *link, int flags)
    __asm__("probity_posix_linkat");
int renameat(int from, const char *path, int to, const char *name)
    __asm__("probity_posix_renameat");
/* There are no symbolic links: fails with EINVAL. */
ssize_t readlink(const char *path, char *text, size_t room) __asm__("probity_posix_readlink");
char *getcwd(char *text, size_t room) __asm__("probity_posix_getcwd");
int getpid(void) __asm__("probity_posix_getpid");
int getppid(void) __asm__("probity_posix_getppid");
/* Users have no numbers: always 0, like the owner of each file. */
uid_t geteuid(void) __asm__("probity_posix_geteuid");
uid_t getuid(void) __asm__("probity_posix_geteuid");
long sysconf(int name) __asm__("probity_posix_sysconf");
enum { _SC_PAGESIZE = 30, _SC_NPROCESSORS_ONLN = 84 };

#endif
