// SPDX-License-Identifier: MIT
//
// logger.cc: a program written for Logger, Probity's predecessor: it uses only Initialize() and
// LogEvent().
#define LOG_FILE_NAME "logger.csv"
#include <Logger.h>

#include <thread>
#include <vector>

static void work()
{
    for (int i = 0; i < 1000; i++) {
        alexta::LogEvent(1);
        alexta::LogEvent(2);
    }
}

int main()
{
    alexta::Initialize();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(work);
    for (auto &thread : threads)
        thread.join();
    return 0;
}
