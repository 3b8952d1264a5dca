/* SPDX-License-Identifier: MIT
 *
 * sigbus_guard.h: guards against truncation of a mapped file. Accesses to pages after the new end
 * raise SIGBUS. The tool's handler maps zeros there and sets is_cut. In a traced program, which may
 * have its own handler, mappings are not guarded.
 */
#ifndef PROBITY_BASE_SIGBUS_GUARD_H
#define PROBITY_BASE_SIGBUS_GUARD_H

#include <stddef.h>

/* A guarded mapping. The caller owns it, and must not move it until it is removed. */
struct probity_sigbus_guard {
    struct probity_sigbus_guard *next;
    const char *path;
    char *at;
    size_t bytes;
    int is_cut;
};

/* Defined in cli_sigbus.c, that is, only in the tool. */
void probity_sigbus_guard_add(struct probity_sigbus_guard *watch) __attribute__((weak));
void probity_sigbus_guard_remove(struct probity_sigbus_guard *watch) __attribute__((weak));

static inline void probity_sigbus_guard_begin(struct probity_sigbus_guard *watch, const char *path,
                                              void *at, size_t bytes)
{
    *watch = (struct probity_sigbus_guard){NULL, path, at, bytes, 0};
    if (probity_sigbus_guard_add != NULL)
        probity_sigbus_guard_add(watch);
}

static inline void probity_sigbus_guard_end(struct probity_sigbus_guard *watch)
{
    if (probity_sigbus_guard_remove != NULL)
        probity_sigbus_guard_remove(watch);
}

#endif
