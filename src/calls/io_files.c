/* SPDX-License-Identifier: MIT
 *
 * io_files.c: replacements for functions that create, copy and close descriptors.
 */
#include <limits.h>
#include <stdarg.h>

#include "calls/scopes.h"

#define SITE(type, name, parameters) PROBITY_CALLS_SITE("io", type, name, parameters)
#define IO(site, type, name, parameters, arguments, enter)                                         \
    PROBITY_CALLS_SCOPE(PROBITY_CALLS_IO, site, type, name, parameters, arguments, enter)

/* ---- Open --------------------------------------------------------------------------------------
 */

/* Reads the argument that open() and similar functions take only with some flags. */
#define READ_MODE(mode)                                                                            \
    if (__OPEN_NEEDS_MODE(flags)) {                                                                \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode = va_arg(rest, mode_t);                                                               \
        va_end(rest);                                                                              \
    }

/* A variadic function cannot jump to another one, so the function itself records. */
#define OPENS(site, name, parameters, arguments)                                                   \
    PROBITY_API PROBITY_CPU_RETURNS_BY_JUMP int name parameters                                    \
    {                                                                                              \
        struct probity_call call;                                                                  \
        mode_t mode = 0;                                                                           \
                                                                                                   \
        READ_MODE(mode)                                                                            \
        if (probity_calls_are_off(PROBITY_CALLS_IO) || !probity_call_begin(&call, &site))          \
            return probity_calls_next.name arguments;                                              \
        probity_call_enter_path(&call, path);                                                      \
        int result = probity_calls_next.name arguments;                                            \
        probity_call_leave_errno(&call, result);                                                   \
        return result;                                                                             \
    }

SITE(int, open, (const char *path, int flags, ...));
OPENS(site_open, open, (const char *path, int flags, ...), (path, flags, mode))
OPENS(site_open, open64, (const char *path, int flags, ...), (path, flags, mode))
IO(site_open, int, __open_2, (const char *path, int flags), (path, flags),
   probity_call_enter_path(&call, path))
IO(site_open, int, __open64_2, (const char *path, int flags), (path, flags),
   probity_call_enter_path(&call, path))

SITE(int, openat, (int directory, const char *path, int flags, ...));
OPENS(site_openat, openat, (int directory, const char *path, int flags, ...),
      (directory, path, flags, mode))
OPENS(site_openat, openat64, (int directory, const char *path, int flags, ...),
      (directory, path, flags, mode))
IO(site_openat, int, __openat_2, (int directory, const char *path, int flags),
   (directory, path, flags), probity_call_enter_path(&call, path))
IO(site_openat, int, __openat64_2, (int directory, const char *path, int flags),
   (directory, path, flags), probity_call_enter_path(&call, path))

SITE(int, creat, (const char *path, mode_t mode));
IO(site_creat, int, creat, (const char *path, mode_t mode), (path, mode),
   probity_call_enter_path(&call, path))
IO(site_creat, int, creat64, (const char *path, mode_t mode), (path, mode),
   probity_call_enter_path(&call, path))

/* ---- Others ------------------------------------------------------------------------------------
 */

SITE(int, close, (int fd));
IO(site_close, int, close, (int fd), (fd), probity_call_enter_fd(&call, fd))

/* Closes a range of descriptors. Not recorded with flags: CLOSE_RANGE_CLOEXEC closes none yet, and
 * CLOSE_RANGE_UNSHARE closes those in a separate table of the thread. */
static int number_of(unsigned fd)
{
    return fd < INT_MAX ? (int)fd : INT_MAX;
}

SITE(int, close_range, (unsigned first, unsigned last, int flags));
PROBITY_CALLS_SCOPE_IF(PROBITY_CALLS_IO, site_close_range, int, close_range,
                       (unsigned first, unsigned last, int flags), (first, last, flags),
                       flags == 0 && probity_calls_is_own_process(),
                       probity_call_enter_range(&call, number_of(first), number_of(last)))

SITE(void, closefrom, (int first));
PROBITY_CALLS_WRAP_VOID(PROBITY_CALLS_IO, closefrom, (int first), (first))
{
    struct probity_call call;

    if (!probity_calls_is_own_process() || !probity_call_begin(&call, &site_closefrom)) {
        probity_calls_next.closefrom(first);
        return;
    }
    probity_call_enter_range(&call, first > 0 ? first : 0, INT_MAX);
    probity_calls_next.closefrom(first);
    probity_call_leave(&call, 0);
}

SITE(int, fsync, (int fd));
IO(site_fsync, int, fsync, (int fd), (fd), probity_call_enter_fd(&call, fd))

SITE(int, fdatasync, (int fd));
IO(site_fdatasync, int, fdatasync, (int fd), (fd), probity_call_enter_fd(&call, fd))

/* Streams and directories: if their functions were not recorded, a descriptor number would keep the
 * name of its previous file. A stream in memory has no descriptor; that must not change errno. */
static int number_of_stream(FILE *stream)
{
    int saved = errno, fd = fileno(stream);

    errno = saved;
    return fd;
}

static int number_of_directory(DIR *directory)
{
    int saved = errno, fd = dirfd(directory);

    errno = saved;
    return fd;
}

SITE(int, fclose, (FILE * stream));
IO(site_fclose, int, fclose, (FILE * stream), (stream),
   probity_call_enter_fd(&call, number_of_stream(stream)))

SITE(int, closedir, (DIR * directory));
IO(site_closedir, int, closedir, (DIR * directory), (directory),
   probity_call_enter_fd(&call, number_of_directory(directory)))

SITE(int, dup, (int fd));
IO(site_dup, int, dup, (int fd), (fd), probity_call_enter_fd(&call, fd))

SITE(int, dup2, (int fd, int to));
PROBITY_CALLS_SCOPE_IF(PROBITY_CALLS_IO, site_dup2, int, dup2, (int fd, int to), (fd, to),
                       probity_calls_is_own_process(), probity_call_enter_fd(&call, fd))

SITE(int, dup3, (int fd, int to, int flags));
PROBITY_CALLS_SCOPE_IF(PROBITY_CALLS_IO, site_dup3, int, dup3, (int fd, int to, int flags),
                       (fd, to, flags), probity_calls_is_own_process(),
                       probity_call_enter_fd(&call, fd))

/* Functions that make descriptors of kernel objects. */
#define MAKES(name, parameters, arguments)                                                         \
    SITE(int, name, parameters);                                                                   \
    IO(site_##name, int, name, parameters, arguments, probity_call_enter(&call))

MAKES(eventfd, (unsigned count, int flags), (count, flags))
MAKES(timerfd_create, (clockid_t clock, int flags), (clock, flags))
MAKES(signalfd, (int fd, const sigset_t *mask, int flags), (fd, mask, flags))
MAKES(inotify_init, (void), ())
MAKES(inotify_init1, (int flags), (flags))
MAKES(memfd_create, (const char *name, unsigned flags), (name, flags))

#define PIPE(name, parameters, arguments)                                                          \
    PROBITY_CALLS_WRAP_SYSTEM(PROBITY_CALLS_IO, int, name, parameters, arguments)                  \
    {                                                                                              \
        struct probity_call call;                                                                  \
                                                                                                   \
        if (!probity_call_begin(&call, &site_##name))                                              \
            return probity_calls_next.name arguments;                                              \
        probity_call_enter(&call);                                                                 \
        int result = probity_calls_next.name arguments;                                            \
        if (result == 0)                                                                           \
            probity_call_leave_pair(&call, result, pair);                                          \
        else                                                                                       \
            probity_call_leave_error(&call, result, errno);                                        \
        return result;                                                                             \
    }

SITE(int, pipe, (int *pair));
PIPE(pipe, (int pair[2]), (pair))
SITE(int, pipe2, (int *pair, int flags));
PIPE(pipe2, (int pair[2], int flags), (pair, flags))

/* Recorded only if it copies a descriptor. Its argument is a number or a pointer; like libc's
 * function, this function takes it as a pointer. */
SITE(int, fcntl, (int fd, int command, ...));

#define FCNTL(name)                                                                                \
    PROBITY_API PROBITY_CPU_RETURNS_BY_JUMP int name(int fd, int command, ...)                     \
    {                                                                                              \
        struct probity_call call;                                                                  \
        va_list rest;                                                                              \
                                                                                                   \
        va_start(rest, command);                                                                   \
        void *argument = va_arg(rest, void *);                                                     \
        va_end(rest);                                                                              \
        if (probity_calls_are_off(PROBITY_CALLS_IO) ||                                             \
            (command != F_DUPFD && command != F_DUPFD_CLOEXEC) ||                                  \
            !probity_call_begin(&call, &site_fcntl))                                               \
            return probity_calls_next.name(fd, command, argument);                                 \
        probity_call_enter_fd(&call, fd);                                                          \
        int result = probity_calls_next.name(fd, command, argument);                               \
        probity_call_leave_errno(&call, result);                                                   \
        return result;                                                                             \
    }
FCNTL(fcntl)
FCNTL(fcntl64)
