/* SPDX-License-Identifier: MIT
 *
 * late.c: a program that ends with ExitProcess, and its libraries, compiled with LATE or USER. At
 * the end, when all other threads are gone, LATE calls a function of USER that uses the recorder:
 * in the callback of a fiber-local slot that is older than libprobity's, so before the trace ends.
 * Usage: late HOW: flush, or block: more hits than the spool has room for. Prints "done"
 * afterwards.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#ifdef LATE
__declspec(dllexport) void (*late_function)(void);
__declspec(dllexport) DWORD late_slot;

static void WINAPI at_end(void *unused)
{
    (void)unused;
    if (late_function != NULL)
        late_function();
}

BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, void *is_exit)
{
    (void)library;
    (void)is_exit;
    if (reason == DLL_PROCESS_ATTACH)
        late_slot = FlsAlloc(at_end);
    return TRUE;
}
#elif defined(USER)
#include "probity.h"

enum { HITS = 3000000 };

__declspec(dllexport) int user_is_flush;

__declspec(dllexport) void user_begin(void)
{
    PROBITY_PROBE(1);
}

__declspec(dllexport) void user_end(void)
{
    static const char done[] = "done\n";
    DWORD written;

    if (!probity_is_recording() || (user_is_flush && probity_flush() != PROBITY_ERROR_STATE))
        return;
    for (int i = 0; !user_is_flush && i < HITS; i++)
        PROBITY_PROBE(2);
    WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), done, sizeof done - 1, &written, NULL);
}
#else
#define FIND(library, name) ((void *)(uintptr_t)GetProcAddress(library, name))

int main(int count, char **arguments)
{
    HMODULE late = LoadLibraryA("late.dll"), user = LoadLibraryA("user.dll");

    if (late == NULL || user == NULL)
        return 1;
    *(int *)FIND(user, "user_is_flush") = count > 1 && strcmp(arguments[1], "flush") == 0;
    *(void **)FIND(late, "late_function") = FIND(user, "user_end");
    FlsSetValue(*(DWORD *)FIND(late, "late_slot"), late);
    ((void (*)(void))FIND(user, "user_begin"))();
    ExitProcess(0);
}
#endif
