/* SPDX-License-Identifier: MIT
 *
 * posix/stdlib.h: functions that msvcrt lacks.
 */
#ifndef PROBITY_POSIX_STDLIB_H
#define PROBITY_POSIX_STDLIB_H

#include_next <stdlib.h>

/* msvcrt's heap, or a separate one once the process's other threads are gone (posix_heap.c). */
void *malloc(size_t bytes) __asm__("probity_posix_malloc");
void *calloc(size_t count, size_t bytes) __asm__("probity_posix_calloc");
void *realloc(void *memory, size_t bytes) __asm__("probity_posix_realloc");
void free(void *memory) __asm__("probity_posix_free");

/* Creates an empty file, whose name replaces the last six characters. */
int mkostemp(char *path, int flags) __asm__("probity_posix_mkostemp");

/* The same for a directory. Returns path, or NULL. Only in the tool, like setenv() and
 * unsetenv(). */
char *mkdtemp(char *path) __asm__("probity_posix_mkdtemp");

/* Returns the value as UTF-8, which stays valid. */
char *getenv(const char *name) __asm__("probity_posix_getenv");

/* Set variables of this process's environment, which child processes inherit. */
int setenv(const char *name, const char *value, int replaces) __asm__("probity_posix_setenv");
int unsetenv(const char *name) __asm__("probity_posix_unsetenv");

/* Returns the absolute path, with slashes; to be freed. */
char *realpath(const char *path, char *text) __asm__("probity_posix_realpath");

/* Aligned only like malloc(): callers align for speed, and free() could not free anything else. */
#define aligned_alloc(alignment, bytes) ((void)(alignment), malloc(bytes))

/* Stable, like glibc's if memory allows, so that answers list equal rows in the same order. */
void qsort(void *rows, size_t count, size_t bytes, int (*compare)(const void *, const void *))
    __asm__("probity_posix_qsort");
void qsort_r(void *rows, size_t count, size_t bytes,
             int (*compare)(const void *, const void *, void *), void *context)
    __asm__("probity_posix_qsort_r");

#endif
