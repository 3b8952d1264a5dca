/* SPDX-License-Identifier: MIT
 *
 * exchange.c: preloaded into the tool by exchanged.sh. Acts as another user who replaces a
 * directory at the worst moment: just before call number EXCHANGE_AT of those below, it renames
 * EXCHANGE_FROM to EXCHANGE_FROM.away, and EXCHANGE_TO, which may be a link, to EXCHANGE_FROM. At
 * exit it writes the number of calls to EXCHANGE_REPORT. It runs in the threads of the tool, and
 * must not end the tool. Calls that libc makes internally, such as the open() in fopen(), are not
 * intercepted, so every function that takes a path is here; exchanged.sh compares the list with the
 * tool's symbols.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static int calls, failed;

static int replace(const char *from, const char *to)
{
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static void called(void)
{
    const char *at = getenv("EXCHANGE_AT"), *from = getenv("EXCHANGE_FROM");
    const char *to = getenv("EXCHANGE_TO");
    char away[4096];

    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) != (at != NULL ? atoi(at) : 0))
        return;
    snprintf(away, sizeof away, "%s.away", from);
    failed = replace(from, away) != 0 || replace(to, from) != 0;
}

__attribute__((destructor)) static void report(void)
{
    const char *name = getenv("EXCHANGE_REPORT");
    int count = calls; /* not those below */
    FILE *stream = name != NULL ? fopen(name, "w") : NULL;

    if (stream == NULL)
        return;
    fprintf(stream, failed ? "failed\n" : "%d\n", count);
    fclose(stream);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* The mode is passed on even if there is none: the callee then ignores it. */
#define OPEN(name, PARAMETERS, ...)                                                                \
    int name PARAMETERS                                                                            \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        unsigned mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, unsigned) : 0;              \
        va_end(list);                                                                              \
        called();                                                                                  \
        return REAL(name)(__VA_ARGS__, mode);                                                      \
    }
OPEN(open, (const char *file, int flags, ...), file, flags)
OPEN(openat, (int at, const char *file, int flags, ...), at, file, flags)

int fcntl(int file, int command, ...)
{
    va_list list;

    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    called();
    return REAL(fcntl)(file, command, argument);
}

#define WRAP_TYPE(type, name, PARAMETERS, ...)                                                     \
    type name PARAMETERS                                                                           \
    {                                                                                              \
        called();                                                                                  \
        return REAL(name)(__VA_ARGS__);                                                            \
    }
#define WRAP(name, PARAMETERS, ...) WRAP_TYPE(int, name, PARAMETERS, __VA_ARGS__)
WRAP(stat, (const char *file, struct stat *status), file, status)
WRAP(lstat, (const char *file, struct stat *status), file, status)
WRAP(fstat, (int file, struct stat *status), file, status)
WRAP(fstatat, (int at, const char *file, struct stat *status, int flags), at, file, status, flags)
WRAP(unlink, (const char *file), file)
WRAP(unlinkat, (int at, const char *file, int flags), at, file, flags)
WRAP(rename, (const char *from, const char *to), from, to)
WRAP(renameat, (int at, const char *from, int to_at, const char *to), at, from, to_at, to)
WRAP(linkat, (int at, const char *from, int to_at, const char *to, int flags), at, from, to_at, to,
     flags)
WRAP(ftruncate, (int file, off_t length), file, length)
WRAP(fsync, (int file), file)
WRAP(access, (const char *file, int mode), file, mode)
WRAP(mkdir, (const char *name, mode_t mode), name, mode)
WRAP(rmdir, (const char *name), name)
WRAP(mkostemp, (char *name, int flags), name, flags)
WRAP(renameat2, (int at, const char *from, int to_at, const char *to, unsigned flags), at, from,
     to_at, to, flags)
WRAP(statfs, (const char *file, struct statfs *status), file, status)
WRAP_TYPE(char *, mkdtemp, (char *name), name)
WRAP_TYPE(char *, realpath, (const char *name, char *resolved), name, resolved)
WRAP_TYPE(DIR *, opendir, (const char *name), name)
WRAP_TYPE(DIR *, fdopendir, (int file), file)
WRAP_TYPE(FILE *, fopen, (const char *name, const char *mode), name, mode)
WRAP_TYPE(struct dirent *, readdir, (DIR *directory), directory)
WRAP_TYPE(ssize_t, readlink, (const char *name, char *text, size_t size), name, text, size)
