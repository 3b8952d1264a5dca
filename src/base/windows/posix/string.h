/* SPDX-License-Identifier: MIT
 *
 * posix/string.h: functions that msvcrt lacks.
 */
#ifndef PROBITY_POSIX_STRING_H
#define PROBITY_POSIX_STRING_H

#include_next <string.h>

char *strdup(const char *text) __asm__("probity_posix_strdup");
void *memmem(const void *in, size_t bytes, const void *wanted, size_t wanted_bytes)
    __asm__("probity_posix_memmem");
void *memrchr(const void *in, int byte, size_t bytes) __asm__("probity_posix_memrchr");
char *strndup(const char *text, size_t most) __asm__("probity_posix_strndup");
char *strchrnul(const char *text, int byte) __asm__("probity_posix_strchrnul");
char *stpcpy(char *to, const char *from) __asm__("probity_posix_stpcpy");
void explicit_bzero(void *at, size_t bytes) __asm__("probity_posix_explicit_bzero");
char *probity_posix_strerror(int error);

/* Also has a message for names that cannot be expressed in the system's code page. */
#define strerror(error) probity_posix_strerror(error)

/* No program is terminated by a signal. */
#define strsignal(number) ((void)(number), "unknown signal")

#endif
