/* SPDX-License-Identifier: MIT
 *
 * windows/posix_names.c: names and texts of the system, which are UTF-16, as UTF-8: paths and the
 * environment. msvcrt's conversions to the system's code page replace characters that it lacks.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "base/limits.h"
#include "base/os.h"
#include "base/windows/posix.h"

int probity_posix_wide(const char *text, wchar_t *ret_wide, size_t room)
{
    int units = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, ret_wide, (int)room);

    if (units == 0 && GetLastError() == ERROR_NO_UNICODE_TRANSLATION)
        units = MultiByteToWideChar(CP_ACP, MB_ERR_INVALID_CHARS, text, -1, ret_wide, (int)room);
    return units > 0 ? units - 1 : probity_posix_fail();
}

int probity_posix_narrow(const wchar_t *text, char *ret_text, size_t room)
{
    int bytes = WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, text, -1, ret_text, (int)room,
                                    NULL, NULL);

    return bytes > 0 ? bytes - 1 : probity_posix_fail();
}

/* Directories and the program's name, which are UTF-8, are added to texts of the program. What is
 * valid in neither encoding stays, and is reported when it is used. */
int probity_os_convert_text(char *text, size_t room)
{
    wchar_t wide[PROBITY_LIMIT_PATH];
    DWORD error = GetLastError();
    int is_valid = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0) > 0;
    int bytes = 1;

    if (!is_valid && MultiByteToWideChar(CP_ACP, MB_ERR_INVALID_CHARS, text, -1, wide,
                                         PROBITY_LIMIT_PATH) > 0) {
        int needed = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
        bytes = needed <= (int)room
                    ? WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, (int)room, NULL, NULL)
                    : 0;
    }
    SetLastError(error);
    return bytes > 0;
}

/* ---- The environment ---------------------------------------------------------------------------
 */

/* Callers keep the result of getenv(), so it stays valid. A value that was read before is
 * reused. */
struct variable {
    const struct variable *next;
    char text[]; /* the value */
};
static const struct variable *variables;

static const char *keep(struct variable *variable)
{
    const struct variable *first = __atomic_load_n(&variables, __ATOMIC_ACQUIRE);

    for (const struct variable *at = first; at != NULL; at = at->next) {
        if (strcmp(at->text, variable->text) == 0) {
            VirtualFree(variable, 0, MEM_RELEASE);
            return at->text;
        }
    }
    do {
        variable->next = first;
    } while (!__atomic_compare_exchange_n(&variables, &first, variable, 0, __ATOMIC_RELEASE,
                                          __ATOMIC_ACQUIRE));
    return variable->text;
}

/* units: room for the value and its end. Returns NULL if out of memory, or if the value has grown
 * or is not valid UTF-16. */
static const char *read_variable(const wchar_t *name, DWORD units)
{
    size_t bytes = sizeof(struct variable) + 3 * (size_t)units;
    size_t wide_at = (bytes + sizeof(wchar_t) - 1) / sizeof(wchar_t) * sizeof(wchar_t);
    char *memory = VirtualAlloc(NULL, wide_at + units * sizeof(wchar_t), MEM_COMMIT | MEM_RESERVE,
                                PAGE_READWRITE);
    struct variable *variable = (struct variable *)(void *)memory;

    if (memory == NULL)
        return NULL;
    wchar_t *wide = (wchar_t *)(void *)(memory + wide_at);
    if (GetEnvironmentVariableW(name, wide, units) < units &&
        probity_posix_narrow(wide, variable->text, 3 * (size_t)units) >= 0)
        return keep(variable);
    VirtualFree(memory, 0, MEM_RELEASE);
    return NULL;
}

/* Uses neither msvcrt's lock nor that of the heap: another thread may have been terminated while it
 * held them. */
char *getenv(const char *name)
{
    wchar_t wide[64];
    DWORD error = GetLastError();
    int number = errno;
    const char *value = NULL;

    if (probity_posix_wide(name, wide, sizeof wide / sizeof wide[0]) > 0) {
        DWORD units = GetEnvironmentVariableW(wide, NULL, 0);
        value = units > 0 ? read_variable(wide, units) : NULL;
    }
    errno = number;
    SetLastError(error);
    return (char *)(uintptr_t)value;
}
