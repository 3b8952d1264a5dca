/* SPDX-License-Identifier: MIT
 *
 * detach.c: a library that ends the process again while it is already ending and its threads are
 * gone.
 */
#include <windows.h>

BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, void *is_exit)
{
    (void)library;
    if (reason == DLL_PROCESS_DETACH && is_exit != NULL)
        ExitProcess(5);
    return TRUE;
}
