/* SPDX-License-Identifier: MIT
 *
 * kill_target.c: 8 threads that record at full rate until they are killed. Each counts its hits in
 * a mapped file, after each hit. Usage: kill_target COUNTS [END], where END is how the process ends
 * after a moment: exit, ExitProcess, detach (ExitProcess again in detach.dll), TerminateProcess,
 * job, access, abort, overflow. Without END it runs on.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "probity.h"

enum { THREADS = 8, FIRST = 100, APART = 8 };

static volatile uint64_t *counts;
static volatile LONG are_running, must_stop;

static DWORD WINAPI run(void *argument)
{
    uint32_t id = (uint32_t)(uintptr_t)argument;

    InterlockedIncrement(&are_running);
    while (!must_stop) {
        PROBITY_PROBE(FIRST + id);
        counts[id * APART]++;
    }
    InterlockedDecrement(&are_running);
    return 0;
}

static int overflow(volatile char *before)
{
    volatile char here[4096];

    here[0] = *before;
    return overflow(here) + here[0];
}

/* As part of a job that a service terminates. */
static void end_job(void)
{
    HANDLE job = CreateJobObjectA(NULL, NULL);

    AssignProcessToJobObject(job, GetCurrentProcess());
    TerminateJobObject(job, 1);
}

static void end(const char *how)
{
    static int *volatile nowhere;
    volatile char first = 1;

    /* Threads that are still running would count probes that are already off. */
    must_stop = strcmp(how, "exit") == 0;
    while (must_stop && are_running > 0)
        Sleep(1);
    if (must_stop)
        exit(0);
    if (strcmp(how, "ExitProcess") == 0)
        ExitProcess(0);
    if (strcmp(how, "detach") == 0 && LoadLibraryA("detach.dll") != NULL)
        ExitProcess(0);
    if (strcmp(how, "access") == 0)
        *nowhere = 1;
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "overflow") == 0)
        overflow(&first);
    if (strcmp(how, "TerminateProcess") == 0)
        TerminateProcess(GetCurrentProcess(), 1);
    if (strcmp(how, "job") == 0)
        end_job();
}

int main(int count, char **arguments)
{
    SetErrorMode(SEM_NOGPFAULTERRORBOX | SEM_FAILCRITICALERRORS);
    HANDLE file = count > 1 ? CreateFileA(arguments[1], GENERIC_READ | GENERIC_WRITE,
                                          FILE_SHARE_READ, NULL, CREATE_ALWAYS, 0, NULL)
                            : INVALID_HANDLE_VALUE;
    HANDLE section = CreateFileMappingA(file, NULL, PAGE_READWRITE, 0, 4096, NULL);

    counts = section != NULL ? MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, 4096) : NULL;
    if (counts == NULL)
        return 2;
    for (uintptr_t i = 0; i < THREADS; i++)
        CreateThread(NULL, 0, run, (void *)i, 0, NULL);
    while (are_running < THREADS)
        Sleep(1);
    printf("running\n");
    fflush(stdout);
    Sleep(count > 2 ? 50 : INFINITE);
    end(arguments[2]);
    return 3;
}
