/* SPDX-License-Identifier: MIT
 *
 * loader.c: repeatedly loads a library, calls its work() in this thread, an older and a younger
 * one, unloads it and reuses its memory. Usage: loader LIBRARY ROUNDS CALLS. Prints whether the
 * library is loaded at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

typedef void work(int calls);

static HANDLE begin, ended;
static work *volatile function;
static int calls;

static DWORD WINAPI run_older(void *unused)
{
    (void)unused;
    for (;;) {
        WaitForSingleObject(begin, INFINITE);
        if (function == NULL)
            return 0;
        function(calls);
        SetEvent(ended);
    }
}

static DWORD WINAPI run_younger(void *unused)
{
    (void)unused;
    function(calls);
    return 0;
}

static int load(const char *name)
{
    HMODULE library = LoadLibraryA(name);

    function = library != NULL ? (work *)GetProcAddress(library, "work") : NULL;
    if (function == NULL)
        return 1;
    function(calls);
    SetEvent(begin);
    WaitForSingleObject(ended, INFINITE);
    HANDLE younger = CreateThread(NULL, 0, run_younger, NULL, 0, NULL);
    WaitForSingleObject(younger, INFINITE);
    CloseHandle(younger);
    FreeLibrary(library);
    void *same = VirtualAlloc(library, 65536, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (same != NULL)
        VirtualFree(same, 0, MEM_RELEASE);
    return 0;
}

int main(int count, char **arguments)
{
    int rounds = count > 3 ? atoi(arguments[2]) : 0, failed = rounds == 0;

    calls = count > 3 ? atoi(arguments[3]) : 0;
    begin = CreateEventA(NULL, FALSE, FALSE, NULL);
    ended = CreateEventA(NULL, FALSE, FALSE, NULL);
    HANDLE older = CreateThread(NULL, 0, run_older, NULL, 0, NULL);
    for (int i = 0; i < rounds && !failed; i++)
        failed = load(arguments[1]);
    function = NULL;
    SetEvent(begin);
    WaitForSingleObject(older, INFINITE);
    printf("%s\n", GetModuleHandleA(arguments[1]) != NULL ? "loaded" : "unloaded");
    return failed;
}
