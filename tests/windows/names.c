/* SPDX-License-Identifier: MIT
 *
 * names.c: two threads, one named by SetThreadDescription() before its first probe, one after it.
 * Exit status 2 if the system has no such function.
 */
#include <windows.h>

#include "probity.h"

typedef HRESULT WINAPI describe_thread(HANDLE thread, const wchar_t *text);

static describe_thread *describe;

static DWORD WINAPI run(void *is_early)
{
    if (is_early != NULL)
        describe(GetCurrentThread(), L"early \x00e9");
    PROBITY_PROBE(1);
    if (is_early == NULL)
        describe(GetCurrentThread(), L"later");
    PROBITY_PROBE(2);
    return 0;
}

int main(void)
{
    HMODULE kernel = GetModuleHandleW(L"kernelbase.dll");

    describe = (describe_thread *)(void *)GetProcAddress(kernel, "SetThreadDescription");
    if (describe == NULL)
        return 2;
    for (uintptr_t is_early = 0; is_early < 2; is_early++) {
        HANDLE thread = CreateThread(NULL, 0, run, (void *)is_early, 0, NULL);
        WaitForSingleObject(thread, INFINITE);
    }
    return 0;
}
