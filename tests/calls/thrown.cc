// SPDX-License-Identifier: MIT
//
// thrown.cc: exceptions that leave std::call_once(), whose function then runs again; and the locks
// and threads of C++, which use pthreads.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>

static std::once_flag flag;
static int runs;

static bool run_once()
{
    try {
        std::call_once(flag, [] {
            if (++runs < 3)
                throw std::runtime_error("not yet");
        });
    } catch (const std::runtime_error &) {
        return false;
    }
    return true;
}

int main()
{
    std::mutex mutex;
    std::shared_timed_mutex shared;
    std::condition_variable changed;
    bool is_set = false;

    if (run_once() || run_once() || !run_once() || !run_once() || runs != 3)
        return 1;
    std::thread other([&] {
        std::unique_lock<std::mutex> lock(mutex);
        std::shared_lock<std::shared_timed_mutex> reads(shared);
        changed.wait(lock, [&] { return is_set; });
    });
    {
        std::lock_guard<std::mutex> lock(mutex);
        is_set = true;
        changed.notify_all();
    }
    other.join();
    std::puts("done");
}
