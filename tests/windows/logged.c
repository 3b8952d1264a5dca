/* SPDX-License-Identifier: MIT
 *
 * logged.c: three calls, each with a hit, then the end. With an argument, ended with ExitProcess():
 *
 * logged exit        at once
 * logged unwritten   without a writer thread: while this thread has the loader's lock, none starts
 * logged begun       after the writer thread has begun the log (PROBITY_LOG), with more calls
 *
 * Linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc. It ends with status 99 if its code
 * uses the heap when other threads are gone: one may have been ended with the heap's lock taken.
 */
#define FN_INSTRUMENT
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "FnTrace.h"
#include "probity.h"

BOOLEAN NTAPI RtlDllShutdownInProgress(void);
NTSTATUS NTAPI LdrLockLoaderLock(ULONG flags, ULONG *ret_result, ULONG_PTR *ret_cookie);
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

static void check(void)
{
    if (RtlDllShutdownInProgress())
        TerminateProcess(GetCurrentProcess(), 99);
}

void *__wrap_malloc(size_t bytes)
{
    check();
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    check();
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    check();
    return __real_realloc(memory, bytes);
}

static void work(void)
{
    FN_FUNC(FN_VOID, FN_1);
    PROBITY_PROBE(1);
}

static void await_log(void)
{
    WIN32_FILE_ATTRIBUTE_DATA data;

    while (!GetFileAttributesExA(getenv("PROBITY_LOG"), GetFileExInfoStandard, &data) ||
           data.nFileSizeLow == 0)
        Sleep(1);
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "";
    ULONG_PTR cookie;

    if (strcmp(how, "unwritten") == 0)
        LdrLockLoaderLock(0, NULL, &cookie);
    work();
    if (strcmp(how, "begun") == 0)
        await_log();
    work();
    work();
    if (count > 1)
        ExitProcess(0);
    return 0;
}
