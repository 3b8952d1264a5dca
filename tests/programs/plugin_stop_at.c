/* SPDX-License-Identifier: MIT
 *
 * plugin_stop_at.c: for LD_PRELOAD: stops the process (SIGSTOP) before the STOP_AT-th of its calls
 * of connect(), send() and recv(). On exit, writes the number of these calls to the file
 * STOP_COUNT, if set.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* Without <sys/socket.h>, whose declaration of connect() differs between libraries. */
int connect(int file, const void *address, unsigned size);
ssize_t send(int file, const void *bytes, size_t count, int flags);
ssize_t recv(int file, void *bytes, size_t count, int flags);

static unsigned long calls;

static void find(const char *name, void *ret_function)
{
    void *found = dlsym(RTLD_NEXT, name);

    memcpy(ret_function, &found, sizeof found);
}

static void count_call(void)
{
    const char *at = getenv("STOP_AT");

    if (++calls == (at != NULL ? strtoul(at, NULL, 10) : 0))
        raise(SIGSTOP);
}

__attribute__((destructor)) static void write_count(void)
{
    const char *path = getenv("STOP_COUNT");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;

    if (file == NULL)
        return;
    fprintf(file, "%lu\n", calls);
    fclose(file);
}

int connect(int file, const void *address, unsigned size)
{
    int (*next)(int, const void *, unsigned);

    find("connect", &next);
    count_call();
    return next(file, address, size);
}

ssize_t send(int file, const void *bytes, size_t count, int flags)
{
    ssize_t (*next)(int, const void *, size_t, int);

    find("send", &next);
    count_call();
    return next(file, bytes, count, flags);
}

ssize_t recv(int file, void *bytes, size_t count, int flags)
{
    ssize_t (*next)(int, void *, size_t, int);

    find("recv", &next);
    count_call();
    return next(file, bytes, count, flags);
}
