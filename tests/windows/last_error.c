/* SPDX-License-Identifier: MIT
 *
 * last_error.c: probes and scopes must leave errno and the thread's last error unchanged, even if
 * chunks are changed, or if text cannot be read. Prints the operations that changed one of them,
 * and "done".
 */
#define FN_INSTRUMENT
#include <errno.h>
#include <stdio.h>
#include <windows.h>

#include "FnTrace.h"
#include "probity.h"

enum { LAST_ERROR = 1234, NUMBER = 77, ROUNDS = 50000 };

static void prepare(void)
{
    SetLastError(LAST_ERROR);
    errno = NUMBER;
}

static int check(const char *what, int round)
{
    DWORD error = GetLastError();
    int number = errno;

    if (error == LAST_ERROR && number == NUMBER)
        return 0;
    printf("%s, round %d: last error %lu, errno %d\n", what, round, error, number);
    return 1;
}

__attribute__((noinline)) static void take(const char *text, const wchar_t *wide)
{
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 2, text, wide);
}

static DWORD WINAPI run(void *unused)
{
    static const uintptr_t nowhere[] = {0x10, UINTPTR_MAX / 2 + 1, UINTPTR_MAX - 255};
    int failed = 0;

    for (int i = 0; i < ROUNDS && failed == 0; i++) {
        prepare();
        PROBITY_PROBE(1);
        failed += check("probe", i);
        prepare();
        take("text", L"wide \xd800");
        failed += check("scope", i);
    }
    for (int i = 0; i < 3; i++) {
        prepare();
        take((const char *)nowhere[i], NULL);
        failed += check("text", i);
        prepare();
        take(NULL, (const wchar_t *)nowhere[i]);
        failed += check("wide text", i);
    }
    (void)unused;
    return (DWORD)failed;
}

int main(void)
{
    HANDLE thread = CreateThread(NULL, 0, run, NULL, 0, NULL);
    DWORD failed = 0;

    WaitForSingleObject(thread, INFINITE);
    GetExitCodeThread(thread, &failed);
    failed += run(NULL);
    printf("done\n");
    return failed != 0;
}
