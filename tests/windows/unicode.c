/* SPDX-License-Identifier: MIT
 *
 * unicode.c: names that are not in the system's code page. In arguments, "{d83d}" is a unit of
 * UTF-16, so a shell passes only ASCII. Usage:
 *
 * unicode launch [NAME=VALUE]... PROGRAM [ARGUMENT]...   runs it, and ends with its status
 * unicode exists PATH...                                 whether all exist, exactly
 * unicode print [ARGUMENT]...                            hits probes; prints its arguments, and
 *                                                        PROBITY_LABEL
 * unicode narrow DIRECTORY                               records there, with names in the code page
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

#include "probity.h"

static wchar_t *expand(const wchar_t *text)
{
    wchar_t *whole = malloc((wcslen(text) + 1) * sizeof *whole), *to = whole;

    while (*text != 0) {
        if (*text == '{') {
            *to++ = (wchar_t)wcstoul(text + 1, NULL, 16);
            text += 6;
        } else {
            *to++ = *text++;
        }
    }
    *to = 0;
    return whole;
}

static void print(const wchar_t *text)
{
    char bytes[1000];

    WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, sizeof bytes, NULL, NULL);
    printf("[%s]\n", bytes);
}

static int launch(wchar_t **arguments)
{
    STARTUPINFOW start = {.cb = sizeof start};
    PROCESS_INFORMATION process;
    wchar_t command[2000] = L"";
    DWORD status = 0;

    for (; wcschr(*arguments, '=') != NULL; arguments++) {
        wchar_t *name = expand(*arguments), *value = wcschr(name, '=');
        *value++ = 0;
        SetEnvironmentVariableW(name, value);
    }
    for (; *arguments != NULL; arguments++) {
        const wchar_t *mark = wcschr(*arguments, ' ') != NULL ? L"\"" : L"";
        wcscat(wcscat(wcscat(wcscat(command, mark), expand(*arguments)), mark), L" ");
    }
    if (!CreateProcessW(NULL, command, NULL, NULL, TRUE, 0, NULL, NULL, &start, &process)) {
        printf("CreateProcess: error %lu\n", GetLastError());
        return 99;
    }
    WaitForSingleObject(process.hProcess, INFINITE);
    GetExitCodeProcess(process.hProcess, &status);
    return (int)status;
}

/* Uses the system's own search, so that similar names do not count. */
static int exist(wchar_t **paths)
{
    for (; *paths != NULL; paths++) {
        WIN32_FIND_DATAW found;
        wchar_t *path = expand(*paths), *slash = wcsrchr(path, '/');
        if (FindFirstFileW(path, &found) == INVALID_HANDLE_VALUE ||
            wcscmp(found.cFileName, slash != NULL ? slash + 1 : path) != 0) {
            print(path);
            return 1;
        }
    }
    return 0;
}

static int print_all(wchar_t **arguments)
{
    wchar_t label[100] = L"none";

    PROBITY_PROBE(1);
    GetEnvironmentVariableW(L"PROBITY_LABEL", label, 100);
    print(label);
    for (; *arguments != NULL; arguments++)
        print(*arguments);
    PROBITY_PROBE(2);
    return 7;
}

static int record_narrow(const wchar_t *directory)
{
    struct probity_options options = {
        .out = "sm\xf8rrebr\xf8" "d.%n.probity", .log = "bl\xe5.log", .label = "\xe6"};

    if (GetACP() != 1252)
        return 77;
    if (!SetCurrentDirectoryW(expand(directory)))
        return 78;
    int error = probity_start(&options);
    PROBITY_PROBE(1);
    return error;
}

int wmain(int count, wchar_t **arguments)
{
    if (count > 2 && wcscmp(arguments[1], L"launch") == 0)
        return launch(arguments + 2);
    if (count > 2 && wcscmp(arguments[1], L"exists") == 0)
        return exist(arguments + 2);
    if (count > 2 && wcscmp(arguments[1], L"narrow") == 0)
        return record_narrow(arguments[2]);
    return print_all(arguments + 2);
}
