/* SPDX-License-Identifier: MIT
 *
 * tool/spawn.c: starts programs and waits for them. The handle of a process stays open until this
 * process ends, so that its id is not reused.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <windows.h>

#include "base/windows/posix.h"

/* For callers that pass it to posix_spawnp(). */
char **const environ = NULL;

/* Quotes an argument as required by the way in which programs split their command line: backslashes
 * before a quotation mark are doubled, and another one is put before the mark. */
static void put_argument(FILE *stream, const char *argument)
{
    size_t backslashes = 0;

    if (argument[0] != 0 && strpbrk(argument, " \t\n\v\"") == NULL) {
        fputs(argument, stream);
        return;
    }
    fputc('"', stream);
    for (const char *at = argument; *at != 0; at++) {
        for (size_t i = 0; *at == '"' && i < backslashes + 1; i++)
            fputc('\\', stream);
        backslashes = *at == '\\' ? backslashes + 1 : 0;
        fputc(*at, stream);
    }
    for (; backslashes > 0; backslashes--)
        fputc('\\', stream);
    fputc('"', stream);
}

/* Returns a text for the system, to be freed; NULL if out of memory. */
static wchar_t *widen(const char *text)
{
    size_t room = strlen(text) + 1;
    wchar_t *wide = malloc(room * sizeof *wide);

    if (wide != NULL && probity_posix_wide(text, wide, room) < 0) {
        free(wide);
        return NULL;
    }
    return wide;
}

/* To be freed; NULL if out of memory. */
static wchar_t *command_of(char *const arguments[])
{
    char *command = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&command, &bytes);

    if (stream == NULL)
        return NULL;
    for (size_t i = 0; arguments[i] != NULL; i++) {
        if (i > 0)
            fputc(' ', stream);
        put_argument(stream, arguments[i]);
    }
    wchar_t *wide = fclose(stream) == 0 ? widen(command) : NULL;
    free(command);
    return wide;
}

/* The system would run a batch file in a shell, which splits arguments by other rules. */
static int is_batch(const wchar_t *path)
{
    const wchar_t *dot = wcsrchr(path, '.');

    return dot != NULL && (_wcsicmp(dot, L".bat") == 0 || _wcsicmp(dot, L".cmd") == 0);
}

/* Returns 0 or an error number. */
static int find(const char *program, wchar_t path[PATH_MAX])
{
    wchar_t name[PATH_MAX];

    if (probity_posix_wide(program, name, PATH_MAX) < 0)
        return errno;
    DWORD length = SearchPathW(NULL, name, L".exe", PATH_MAX, path, NULL);

    if (length == 0 || length >= PATH_MAX)
        return ENOENT;
    return is_batch(path) ? ENOEXEC : 0;
}

/* Returns the program's handle for a standard descriptor; *ret_opened: to be closed. */
static HANDLE standard(int descriptor, unsigned actions, HANDLE *ret_opened)
{
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    HANDLE handle = probity_posix_handle(descriptor);

    *ret_opened = INVALID_HANDLE_VALUE;
    if (actions >> descriptor & 1) {
        *ret_opened = CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0,
                                  NULL);
        return *ret_opened;
    }
    SetHandleInformation(handle, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    return handle;
}

static int start_process(const wchar_t *path, wchar_t *command, unsigned actions, pid_t *ret_pid)
{
    STARTUPINFOW start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES};
    PROCESS_INFORMATION process;
    HANDLE opened[3];

    start.hStdInput = standard(STDIN_FILENO, actions, &opened[0]);
    start.hStdOutput = standard(STDOUT_FILENO, actions, &opened[1]);
    start.hStdError = standard(STDERR_FILENO, actions, &opened[2]);
    int error = 0;
    if (!CreateProcessW(path, command, NULL, NULL, TRUE, 0, NULL, NULL, &start, &process)) {
        error = GetLastError() == ERROR_BAD_EXE_FORMAT ? ENOEXEC : (probity_posix_fail(), errno);
    } else {
        CloseHandle(process.hThread);
        *ret_pid = (pid_t)process.dwProcessId;
    }
    for (size_t i = 0; i < 3; i++) {
        if (opened[i] != INVALID_HANDLE_VALUE)
            CloseHandle(opened[i]);
    }
    return error;
}

int posix_spawnp(pid_t *ret_pid, const char *program, const posix_spawn_file_actions_t *actions,
                 const void *attributes, char *const arguments[], char *const environment[])
{
    wchar_t path[PATH_MAX];
    int error = find(program, path);

    (void)attributes;
    (void)environment;
    if (error != 0)
        return error;
    wchar_t *command = command_of(arguments);
    if (command == NULL)
        return ENOMEM;
    error = start_process(path, command, actions != NULL ? *actions : 0, ret_pid);
    free(command);
    return error;
}

static void time_of(const FILETIME *time, struct timeval *ret_time)
{
    uint64_t units = (uint64_t)time->dwHighDateTime << 32 | time->dwLowDateTime;

    ret_time->tv_sec = (long)(units / 10000000);
    ret_time->tv_usec = (long)(units % 10000000 / 10);
}

pid_t wait4(pid_t pid, int *ret_status, int options, struct rusage *ret_usage)
{
    HANDLE process = OpenProcess(SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION, FALSE,
                                 (DWORD)pid);
    FILETIME begin, end, kernel, user;
    DWORD status;
    pid_t ended = -1;

    if (process == NULL) {
        errno = ECHILD;
        return -1;
    }
    DWORD found = WaitForSingleObject(process, options & WNOHANG ? 0 : INFINITE);
    if (found == WAIT_TIMEOUT) {
        ended = 0;
    } else if (found == WAIT_OBJECT_0 && GetExitCodeProcess(process, &status) &&
               GetProcessTimes(process, &begin, &end, &kernel, &user)) {
        ended = pid;
        *ret_status = (int)status;
        if (ret_usage != NULL) {
            time_of(&user, &ret_usage->ru_utime);
            time_of(&kernel, &ret_usage->ru_stime);
        }
    } else {
        probity_posix_fail();
    }
    CloseHandle(process);
    return ended;
}

/* ---- The environment of this process -----------------------------------------------------------
 */

/* Without a value, removes the variable. msvcrt's getenv() of this process still returns the old
 * values. */
static int put_variable(const char *name, const char *value)
{
    wchar_t *wide_name = widen(name), *wide = value != NULL ? widen(value) : NULL;
    int result = -1;

    if (wide_name != NULL && (wide != NULL || value == NULL))
        result = SetEnvironmentVariableW(wide_name, wide) ? 0 : probity_posix_fail();
    free(wide_name);
    free(wide);
    return result;
}

int setenv(const char *name, const char *value, int replaces)
{
    return replaces || getenv(name) == NULL ? put_variable(name, value) : 0;
}

int unsetenv(const char *name)
{
    (void)put_variable(name, NULL); /* fails if there is no such variable */
    return 0;
}
