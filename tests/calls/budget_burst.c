/* SPDX-License-Identifier: MIT
 *
 * budget_burst.c: is idle for a while, then takes and releases a mutex about a million times a
 * second: too often for a budget of 1 %, even if only counted.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdint.h>
#include <time.h>

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int main(void)
{
    enum { AT_ONCE = 10000, WORK = 200 };
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const struct timespec idle = {.tv_nsec = 500000000};

    nanosleep(&idle, NULL);
    for (uint64_t end_ns = now_ns() + 500000000; now_ns() < end_ns;) {
        for (int i = 0; i < AT_ONCE; i++) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
            for (volatile int k = 0; k < WORK; k++)
                ;
        }
    }
    return 0;
}
