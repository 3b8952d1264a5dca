// SPDX-License-Identifier: MIT
//
// loaded.cc: a library that records when it is loaded and unloaded, and in work(), which loader.c
// calls. Its text is a TCHAR string.
#define FN_INSTRUMENT
#include <tchar.h>
#include <windows.h>

#include "FnTrace.h"
#include "probity.h"

__attribute__((noinline)) static void inner(const TCHAR *text)
{
    FN_FUNC_PARAMS(FN_VOID, FN_VOID, FN_1, 1, text);
    PROBITY_PROBE_NAMED("inner");
}

extern "C" __declspec(dllexport) void work(int calls)
{
    FN_FUNC(FN_VOID, FN_1);
    for (int i = 0; i < calls; i++)
        inner(_T("wide \x00e9"));
}

BOOL WINAPI DllMain(HINSTANCE, DWORD reason, void *)
{
    if (reason == DLL_PROCESS_ATTACH)
        PROBITY_PROBE_NAMED("attach");
    if (reason == DLL_PROCESS_DETACH)
        PROBITY_PROBE_NAMED("detach");
    return TRUE;
}
