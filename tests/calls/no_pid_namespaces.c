/* SPDX-License-Identifier: MIT
 *
 * no_pid_namespaces.c: for LD_PRELOAD. As on a kernel without process-id namespaces, /proc does not
 * show that of a process. With NO_NAMESPACES, it shows none at all.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int __xstat(int version, const char *path, struct stat *found);

static int is_hidden(const char *path)
{
    errno = ENOENT;
    return strcmp(path, "/proc/self/ns/pid") == 0 ||
           (strcmp(path, "/proc/self/ns") == 0 && getenv("NO_NAMESPACES") != NULL);
}

int stat(const char *path, struct stat *found)
{
    int (*next)(const char *, struct stat *);

    *(void **)&next = dlsym(RTLD_NEXT, "stat");
    return is_hidden(path) ? -1 : next(path, found);
}

/* Before glibc 2.33. */
int __xstat(int version, const char *path, struct stat *found)
{
    int (*next)(int, const char *, struct stat *);

    *(void **)&next = dlsym(RTLD_NEXT, "__xstat");
    return is_hidden(path) ? -1 : next(version, path, found);
}
