/* SPDX-License-Identifier: MIT
 *
 * windows/posix_threads.c: threads, clocks and system information for posix/.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <windows.h>
#include <winternl.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/windows/posix.h"

/* ---- Threads -----------------------------------------------------------------------------------
 */

struct start {
    void *(*function)(void *);
    void *argument;
};

static DWORD WINAPI run(void *argument)
{
    struct start start = *(struct start *)argument;

    HeapFree(GetProcessHeap(), 0, argument);
    start.function(start.argument);
    return 0;
}

int pthread_create(pthread_t *ret_thread, const pthread_attr_t *attributes,
                   void *(*start)(void *), void *argument)
{
    struct start *made = HeapAlloc(GetProcessHeap(), 0, sizeof *made);
    DWORD id = 0;

    (void)attributes;
    if (made == NULL)
        return ENOMEM;
    *made = (struct start){start, argument};
    HANDLE handle = CreateThread(NULL, 0, run, made, CREATE_SUSPENDED, &id);
    if (handle == NULL) {
        HeapFree(GetProcessHeap(), 0, made);
        return EAGAIN;
    }
    *ret_thread = (pthread_t){handle, id}; /* stored before the thread can need it */
    ResumeThread(handle);
    return 0;
}

int pthread_join(pthread_t thread, void **ret_result)
{
    (void)ret_result;
    WaitForSingleObject(thread.handle, INFINITE);
    CloseHandle(thread.handle);
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    AcquireSRWLockExclusive((SRWLOCK *)mutex);
    return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    ReleaseSRWLockExclusive((SRWLOCK *)mutex);
    return 0;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    SleepConditionVariableSRW((CONDITION_VARIABLE *)condition, (SRWLOCK *)mutex, INFINITE, 0);
    return 0;
}

int pthread_cond_signal(pthread_cond_t *condition)
{
    WakeConditionVariable((CONDITION_VARIABLE *)condition);
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
    WakeAllConditionVariable((CONDITION_VARIABLE *)condition);
    return 0;
}

pthread_t pthread_self(void)
{
    return (pthread_t){NULL, GetCurrentThreadId()};
}

int pthread_key_create(pthread_key_t *ret_key, void (*destructor)(void *))
{
    DWORD index = FlsAlloc((PFLS_CALLBACK_FUNCTION)destructor);

    if (index == FLS_OUT_OF_INDEXES)
        return EAGAIN;
    *ret_key = index;
    FlsSetValue(index, ret_key); /* the program's first thread may end the process */
    return 0;
}

/* The index is not released: that would call the destructor for each thread, in this thread. */
int pthread_key_delete(pthread_key_t key)
{
    (void)key;
    return 0;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    return FlsSetValue(key, (void *)(uintptr_t)value) ? 0 : ENOMEM;
}

/* ---- Names of threads --------------------------------------------------------------------------
 */

#pragma GCC diagnostic ignored "-Wpedantic" /* functions are looked up as objects */
typedef HRESULT WINAPI set_description(HANDLE thread, const wchar_t *text);
typedef HRESULT WINAPI get_description(HANDLE thread, wchar_t **ret_text);

/* Available since Windows 10. */
static FARPROC of_kernel(const char *name)
{
    HMODULE kernel = GetModuleHandleW(L"kernelbase.dll");

    return kernel != NULL ? GetProcAddress(kernel, name) : NULL;
}

static int name_set(const char *name)
{
    set_description *set = (set_description *)(void *)of_kernel("SetThreadDescription");
    wchar_t text[64];

    if (set == NULL || MultiByteToWideChar(CP_UTF8, 0, name, -1, text, 64) == 0)
        return -1;
    return SUCCEEDED(set(GetCurrentThread(), text)) ? 0 : -1;
}

/* As on Linux, at most 15 bytes; fails if there is no name. */
static int name_get(char *ret_name)
{
    get_description *get = (get_description *)(void *)of_kernel("GetThreadDescription");
    wchar_t *text = NULL;
    char name[256];

    if (get == NULL || FAILED(get(GetCurrentThread(), &text)) || text == NULL)
        return -1;
    int bytes = WideCharToMultiByte(CP_UTF8, 0, text, -1, name, sizeof name, NULL, NULL);
    LocalFree(text);
    if (bytes <= 1)
        return -1;
    snprintf(ret_name, 16, "%.15s", name);
    return 0;
}

int prctl(int option, ...)
{
    va_list arguments;
    int result = -1;

    va_start(arguments, option);
    if (option == PR_SET_NAME)
        result = name_set(va_arg(arguments, const char *));
    else if (option == PR_GET_NAME)
        result = name_get(va_arg(arguments, char *));
    va_end(arguments);
    return result;
}

/* ---- Clocks ------------------------------------------------------------------------------------
 */

int clock_gettime(clockid_t clock, struct timespec *ret_now)
{
    uint64_t ns = probity_clock_read(0, clock);

    ret_now->tv_sec = (time_t)(ns / 1000000000);
    ret_now->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

int nanosleep(const struct timespec *time, struct timespec *ret_left)
{
    (void)ret_left;
    Sleep((DWORD)(time->tv_sec * 1000 + (time->tv_nsec + 999999) / 1000000));
    return 0;
}

struct tm *localtime_r(const time_t *time, struct tm *ret_time)
{
    return localtime_s(ret_time, time) == 0 ? ret_time : NULL;
}

struct tm *gmtime_r(const time_t *time, struct tm *ret_time)
{
    return gmtime_s(ret_time, time) == 0 ? ret_time : NULL;
}

/* ---- The system --------------------------------------------------------------------------------
 */

int getpid(void)
{
    return (int)GetCurrentProcessId();
}

int getppid(void)
{
    PROCESS_BASIC_INFORMATION process = {0};

    if (NtQueryInformationProcess(GetCurrentProcess(), ProcessBasicInformation, &process,
                                  sizeof process, NULL) != 0)
        return 0;
    return (int)process.InheritedFromUniqueProcessId;
}

uid_t geteuid(void)
{
    return 0;
}

long sysconf(int name)
{
    return name == _SC_PAGESIZE ? 4096 : (long)probity_os_processors();
}

ssize_t getdents64(int directory, void *entries, size_t room)
{
    (void)directory;
    (void)entries;
    (void)room;
    errno = ENOSYS;
    return -1;
}

int uname(struct utsname *ret_name)
{
    NTSTATUS NTAPI RtlGetVersion(OSVERSIONINFOW *);
    OSVERSIONINFOW version = {.dwOSVersionInfoSize = sizeof version};
    wchar_t name[MAX_COMPUTERNAME_LENGTH + 1];
    DWORD room = MAX_COMPUTERNAME_LENGTH + 1;

    memset(ret_name, 0, sizeof *ret_name);
    if (!GetComputerNameW(name, &room) || RtlGetVersion(&version) != 0)
        return probity_posix_fail();
    if (probity_posix_narrow(name, ret_name->nodename, sizeof ret_name->nodename) < 0)
        return -1;
    snprintf(ret_name->sysname, sizeof ret_name->sysname, "Windows");
    snprintf(ret_name->release, sizeof ret_name->release, "Windows %lu.%lu.%lu",
             version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber);
    snprintf(ret_name->machine, sizeof ret_name->machine, "x86_64");
    return 0;
}

long probity_os_program(char *text, size_t room)
{
    wchar_t path[PATH_MAX];
    DWORD units = GetModuleFileNameW(NULL, path, PATH_MAX);
    int length = units > 0 && units < PATH_MAX ? probity_posix_narrow(path, text, room) : -1;

    if (length >= 0)
        probity_posix_slashes(text);
    return length;
}

/* Returns one argument: Windows passes the command line as a single text. It is only shown, so half
 * of a pair of units becomes a replacement character. */
long probity_os_command(char *text, size_t room)
{
    int bytes = WideCharToMultiByte(CP_UTF8, 0, GetCommandLineW(), -1, text, (int)room, NULL, NULL);

    return bytes > 0 ? bytes - 1 : probity_posix_fail();
}

const char *probity_posix_program_name(void)
{
    static char name[256];
    char path[PATH_MAX];

    if (name[0] == 0 && probity_os_program(path, sizeof path) > 0) {
        const char *slash = strrchr(path, '/');
        int length = snprintf(name, sizeof name, "%s", slash != NULL ? slash + 1 : path);
        if (length > 4 && length < (int)sizeof name && _stricmp(name + length - 4, ".exe") == 0)
            name[length - 4] = 0;
    }
    return name;
}

/* Skips a set of characters. Returns whether the character is in it. */
static int is_in_set(const char **pattern, char wanted)
{
    const char *at = *pattern + 1;
    int is_not = *at == '!' || *at == '^', is_in = 0;

    for (at += is_not; *at != 0; at++) {
        char last = at[1] == '-' && at[2] != ']' && at[2] != 0 ? at[2] : *at;
        is_in |= wanted >= *at && wanted <= last;
        at += last != *at ? 2 : 0;
        if (at[1] == ']')
            break;
    }
    *pattern = *at != 0 ? at + 1 : at;
    return is_in != is_not;
}

int fnmatch(const char *pattern, const char *text, int flags)
{
    for (; *pattern != 0; pattern++, text++) {
        if (*pattern == '*') {
            while (*text != 0 && fnmatch(pattern + 1, text, flags) != 0)
                text++;
            return fnmatch(pattern + 1, text, flags);
        }
        if (*text == 0)
            return 1;
        if (*pattern == '[') {
            if (!is_in_set(&pattern, *text))
                return 1;
            continue;
        }
        if (*pattern == '\\' && pattern[1] != 0)
            pattern++;
        if (*pattern != '?' && *pattern != *text)
            return 1;
    }
    return *text != 0;
}

/* ---- Texts -------------------------------------------------------------------------------------
 */

void *memmem(const void *in, size_t bytes, const void *wanted, size_t wanted_bytes)
{
    const char *at = in;

    for (; wanted_bytes <= bytes; at++, bytes--) {
        if (memcmp(at, wanted, wanted_bytes) == 0)
            return (void *)(uintptr_t)at;
    }
    return NULL;
}

void *memrchr(const void *in, int byte, size_t bytes)
{
    const char *at = in;

    while (bytes-- > 0) {
        if (at[bytes] == (char)byte)
            return (void *)(uintptr_t)(at + bytes);
    }
    return NULL;
}

char *strdup(const char *text)
{
    return strndup(text, strlen(text));
}

char *strndup(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    char *copy = malloc(length + 1);

    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

char *strchrnul(const char *text, int byte)
{
    while (*text != 0 && *text != (char)byte)
        text++;
    return (char *)(uintptr_t)text;
}

char *stpcpy(char *to, const char *from)
{
    size_t length = strlen(from);

    memcpy(to, from, length + 1);
    return to + length;
}

void explicit_bzero(void *at, size_t bytes)
{
    SecureZeroMemory(at, bytes);
}
