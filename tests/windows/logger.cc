// SPDX-License-Identifier: MIT
//
// logger.cc: a program for Logger, with 4 threads created by the system's functions: the libraries
// of Debian's default compiler for Windows have no std::thread.
#define LOG_FILE_NAME "logger.csv"
#include <Logger.h>

#include <windows.h>

static DWORD WINAPI work(void *)
{
    for (int i = 0; i < 1000; i++) {
        alexta::LogEvent(1);
        alexta::LogEvent(2);
    }
    return 0;
}

int main()
{
    HANDLE threads[4];

    alexta::Initialize();
    for (HANDLE &thread : threads)
        thread = CreateThread(nullptr, 0, work, nullptr, 0, nullptr);
    WaitForMultipleObjects(4, threads, TRUE, INFINITE);
    return 0;
}
