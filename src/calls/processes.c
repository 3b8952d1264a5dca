/* SPDX-License-Identifier: MIT
 *
 * processes.c: replacements for functions that create processes, run programs, and wait for
 * children: scopes with values. vfork() has no scope: the child would return into a frame that its
 * parent needs.
 */
#include <stdarg.h>

#include "calls/scopes.h"

#define SITE(type, name, parameters) PROBITY_CALLS_SITE("threads", type, name, parameters)
#define SCOPE(type, name, parameters, arguments, enter)                                            \
    SITE(type, name, parameters);                                                                  \
    PROBITY_CALLS_SCOPE(PROBITY_CALLS_THREADS, site_##name, type, name, parameters, arguments,     \
                        enter)
#define ENTER_PATH(path) probity_call_enter_path(&call, path)

/* The scope belongs to the parent: in the child, it is closed without a record. */
SITE(pid_t, fork, (void));
PROBITY_CALLS_WRAP(PROBITY_CALLS_THREADS, pid_t, fork, (void), ())
{
    struct probity_call call;

    if (!probity_call_begin(&call, &site_fork))
        return probity_calls_next.fork();
    probity_call_enter(&call);
    pid_t child = probity_calls_next.fork();
    if (child != 0)
        probity_call_leave_errno(&call, child);
    else
        probity_call_close(&call);
    return child;
}

/* ---- Programs ----------------------------------------------------------------------------------
 */

#define STRINGS char *const
#define EXECS(name, parameters, arguments, enter)                                                  \
    SITE(int, name, parameters);                                                                   \
    PROBITY_CALLS_SCOPE_IF(PROBITY_CALLS_THREADS, site_##name, int, name, parameters, arguments,   \
                           probity_calls_is_own_process(), enter)

EXECS(execve, (const char *path, STRINGS *arguments, STRINGS *environment),
      (path, arguments, environment), ENTER_PATH(path))
EXECS(execv, (const char *path, STRINGS *arguments), (path, arguments), ENTER_PATH(path))
EXECS(execvp, (const char *path, STRINGS *arguments), (path, arguments), ENTER_PATH(path))
EXECS(execvpe, (const char *path, STRINGS *arguments, STRINGS *environment),
      (path, arguments, environment), ENTER_PATH(path))
EXECS(fexecve, (int fd, STRINGS *arguments, STRINGS *environment),
      (fd, arguments, environment), probity_call_enter_fd(&call, fd))

/* Counts a list of arguments. The list is copied to the stack, as in libc: a variadic function can
 * neither jump to another one nor pass its arguments on. */
static size_t count_of(const char *first, va_list rest)
{
    size_t count = 0;

    for (const char *one = first; one != NULL; one = va_arg(rest, const char *))
        count++;
    return count;
}

/* Copies the arguments and the NULL after the last one. */
static void take(const char **arguments, const char *first, va_list *rest)
{
    const char *one = first;

    for (; one != NULL; one = va_arg(*rest, const char *))
        *arguments++ = one;
    *arguments = NULL;
}

/* next: the function that takes an array instead, with `passed`; environment: declares the argument
 * after the list, if there is one. */
#define EXECS_LIST(name, next, environment, passed)                                                \
    SITE(int, name, (const char *path, const char *argument, ...));                                \
    PROBITY_API int name(const char *path, const char *first, ...)                                 \
    {                                                                                              \
        struct probity_call call;                                                                  \
        va_list rest;                                                                              \
                                                                                                   \
        va_start(rest, first);                                                                     \
        const char *arguments[count_of(first, rest) + 1];                                          \
        va_end(rest);                                                                              \
        va_start(rest, first);                                                                     \
        take(arguments, first, &rest);                                                             \
        environment;                                                                               \
        va_end(rest);                                                                              \
        STRINGS *list = (STRINGS *)(uintptr_t)arguments;                                           \
        if (probity_calls_are_off(PROBITY_CALLS_THREADS) || !probity_calls_is_own_process() ||     \
            !probity_call_begin(&call, &site_##name))                                              \
            return probity_calls_next.next passed;                                                 \
        ENTER_PATH(path);                                                                          \
        int result = probity_calls_next.next passed;                                               \
        probity_call_leave_errno(&call, result);                                                   \
        return result;                                                                             \
    }

EXECS_LIST(execl, execv, (void)0, (path, list))
EXECS_LIST(execlp, execvp, (void)0, (path, list))
EXECS_LIST(execle, execve, STRINGS *variables = va_arg(rest, STRINGS *), (path, list, variables))

/* These functions return an error. */
#define SPAWN_PARAMETERS                                                                           \
    (pid_t *restrict child, const char *restrict path, const posix_spawn_file_actions_t *actions,  \
     const posix_spawnattr_t *restrict attributes, STRINGS *restrict arguments,                    \
     STRINGS *restrict environment)
#define SPAWN(name)                                                                                \
    SITE(int, name, SPAWN_PARAMETERS);                                                             \
    PROBITY_CALLS_WRAP(PROBITY_CALLS_THREADS, int, name, SPAWN_PARAMETERS,                         \
                       (child, path, actions, attributes, arguments, environment))                 \
    {                                                                                              \
        struct probity_call call;                                                                  \
                                                                                                   \
        if (!probity_call_begin(&call, &site_##name))                                              \
            return probity_calls_next.name(child, path, actions, attributes, arguments,            \
                                           environment);                                           \
        ENTER_PATH(path);                                                                          \
        int error = probity_calls_next.name(child, path, actions, attributes, arguments,           \
                                            environment);                                          \
        if (error == 0)                                                                            \
            probity_call_leave(&call, error);                                                      \
        else                                                                                       \
            probity_call_leave_error(&call, error, error);                                         \
        return error;                                                                              \
    }

SPAWN(posix_spawn)
SPAWN(posix_spawnp)

/* ---- Waiting for children ----------------------------------------------------------------------
 */

SCOPE(pid_t, wait, (int *status), (status), probity_call_enter(&call))
SCOPE(pid_t, waitpid, (pid_t child, int *status, int options), (child, status, options),
      probity_call_enter(&call))
SCOPE(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options),
      (type, id, info, options), probity_call_enter(&call))
SCOPE(pid_t, wait3, (int *status, int options, struct rusage *usage), (status, options, usage),
      probity_call_enter(&call))
SCOPE(pid_t, wait4, (pid_t child, int *status, int options, struct rusage *usage),
      (child, status, options, usage), probity_call_enter(&call))
