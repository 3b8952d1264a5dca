/* SPDX-License-Identifier: MIT
 *
 * killer.c: starts a program N times and terminates each process at a random moment after its
 * threads have begun. Usage: killer PROGRAM DIRECTORY N. The process of round I records to
 * DIRECTORY/I.probity and counts in DIRECTORY/I.counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static int round_of(const char *program, const char *directory, int number)
{
    STARTUPINFOA start = {.cb = sizeof start, .dwFlags = STARTF_USESTDHANDLES};
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    PROCESS_INFORMATION process;
    char path[MAX_PATH], command[2 * MAX_PATH], line[8];
    HANDLE from, to;
    DWORD got = 0;

    snprintf(path, sizeof path, "%s/%d.probity", directory, number);
    SetEnvironmentVariableA("PROBITY_OUT", path);
    snprintf(command, sizeof command, "\"%s\" %s/%d.counts", program, directory, number);
    if (!CreatePipe(&from, &to, &inherited, 0))
        return 1;
    start.hStdOutput = to;
    start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    if (!CreateProcessA(NULL, command, NULL, NULL, TRUE, 0, NULL, NULL, &start, &process))
        return 1;
    CloseHandle(to);
    if (!ReadFile(from, line, sizeof line, &got, NULL) || got == 0)
        return 1;
    Sleep((DWORD)(rand() % 100));
    TerminateProcess(process.hProcess, 9);
    WaitForSingleObject(process.hProcess, INFINITE);
    CloseHandle(process.hProcess);
    CloseHandle(process.hThread);
    CloseHandle(from);
    return 0;
}

int main(int count, char **arguments)
{
    int failed = 0, rounds = count > 3 ? atoi(arguments[3]) : 0;

    srand(GetTickCount());
    for (int i = 0; i < rounds && !failed; i++)
        failed = round_of(arguments[1], arguments[2], i);
    printf("%s\n", failed ? "failed" : "done");
    return failed;
}
