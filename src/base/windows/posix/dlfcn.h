/* SPDX-License-Identifier: MIT
 *
 * posix/dlfcn.h: loads libraries. Here, everything is in one library, and nothing is loaded.
 */
#ifndef PROBITY_POSIX_DLFCN_H
#define PROBITY_POSIX_DLFCN_H

#include <stddef.h>

enum { RTLD_NOW = 2, RTLD_LOCAL = 0, RTLD_NODELETE = 0x1000 };
#define RTLD_DEFAULT ((void *)0)
typedef struct {
    const char *dli_fname;
} Dl_info;

void *dlopen(const char *path, int flags);

static inline int dladdr(const void *at, Dl_info *ret_info)
{
    (void)at;
    ret_info->dli_fname = NULL;
    return 0;
}

static inline void *dlsym(void *library, const char *name)
{
    (void)library;
    (void)name;
    return NULL;
}

static inline const char *dlerror(void)
{
    return NULL;
}

#endif
