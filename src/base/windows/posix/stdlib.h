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

/* Aligned for any type, as malloc() does; more would be for speed, and free() could not free it. */
#define aligned_alloc(alignment, bytes) ((void)(alignment), malloc(bytes))

/* Stable, as glibc's are if memory allows, so that answers list equal rows in the same order. */
void qsort(void *rows, size_t count, size_t bytes, int (*compare)(const void *, const void *))
    __asm__("probity_posix_qsort");
void qsort_r(void *rows, size_t count, size_t bytes,
             int (*compare)(const void *, const void *, void *), void *context)
    __asm__("probity_posix_qsort_r");

#endif
