/* SPDX-License-Identifier: MIT
 *
 * posix/stdlib.h: what msvcrt lacks.
 */
#ifndef PROBITY_POSIX_STDLIB_H
#define PROBITY_POSIX_STDLIB_H

#include_next <stdlib.h>

/* msvcrt's heap, or a separate one once the process's other threads are gone (posix_heap.c). */
void *malloc(size_t bytes) __asm__("probity_posix_malloc");
void *calloc(size_t count, size_t bytes) __asm__("probity_posix_calloc");
void *realloc(void *memory, size_t bytes) __asm__("probity_posix_realloc");
void free(void *memory) __asm__("probity_posix_free");

/* An empty file, whose name is written over the last six characters. */
int mkostemp(char *path, int flags) __asm__("probity_posix_mkostemp");

/* The same for a directory. Returns path, or NULL. Only in the tool, as are setenv() and
 * unsetenv(). */
char *mkdtemp(char *path) __asm__("probity_posix_mkdtemp");

/* The value, as UTF-8, which stays valid. */
char *getenv(const char *name) __asm__("probity_posix_getenv");

/* Set variables of this process's environment, which child processes inherit. */
int setenv(const char *name, const char *value, int replaces) __asm__("probity_posix_setenv");
int unsetenv(const char *name) __asm__("probity_posix_unsetenv");

/* The absolute path, with slashes; to be freed. */
char *realpath(const char *path, char *text) __asm__("probity_posix_realpath");

/* Aligned like malloc(): callers align only for speed, and free() could not free anything else. */
#define aligned_alloc(alignment, bytes) ((void)(alignment), malloc(bytes))

/* Stable, as glibc's are if memory allows, so that answers list equal rows in the same order. */
void qsort(void *rows, size_t count, size_t bytes, int (*compare)(const void *, const void *))
    __asm__("probity_posix_qsort");
void qsort_r(void *rows, size_t count, size_t bytes,
             int (*compare)(const void *, const void *, void *), void *context)
    __asm__("probity_posix_qsort_r");

#endif
