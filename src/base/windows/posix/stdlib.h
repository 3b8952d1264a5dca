/* SPDX-License-Identifier: MIT
 *
 * posix/stdlib.h: what msvcrt lacks.
 */
#ifndef PROBITY_POSIX_STDLIB_H
#define PROBITY_POSIX_STDLIB_H

#include_next <stdlib.h>

/* An empty file, whose name is written over the last six characters. */
int mkostemp(char *path, int flags) __asm__("probity_posix_mkostemp");

/* The absolute path, with slashes; to be freed. */
char *realpath(const char *path, char *text) __asm__("probity_posix_realpath");

#endif
