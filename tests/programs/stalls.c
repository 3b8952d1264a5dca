/* SPDX-License-Identifier: MIT
 *
 * stalls.c: threads that call functions without pause, and calls that are planted among them and
 * take long.
 *
 *     stalls THREADS PLANTED KIND [MS]
 *
 * KIND: sleep, lock (another thread holds it), spin (of CPU time), snapshot (asked for by the
 * program), none, or forever: until it is killed. Prints how many calls were planted, and how often
 * each thread has called step(), which is recorded each time.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FN_INSTRUMENT
#include "FnTrace.h"
#include "probity.h"

enum { THREADS_MAX = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_over, holds, threads, planted_ms = 20;
static const char *kind;
static unsigned long steps[THREADS_MAX][8];

static unsigned long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec;
}

static void sleep_ms(int ms)
{
    struct timespec rest = {ms / 1000, ms % 1000 * 1000000L};

    while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
        continue;
}

static void spin_ns(unsigned long long ns)
{
    unsigned long long end = now_ns() + ns;

    while (now_ns() < end)
        continue;
}

static __attribute__((noinline)) void step(unsigned long *count)
{
    FN_FUNC(void, FN_1);
    ++*count;
}

static void *hold(void *unused)
{
    pthread_mutex_lock(&lock);
    __atomic_store_n(&holds, 1, __ATOMIC_RELEASE);
    sleep_ms(planted_ms);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void wait_for_lock(void)
{
    pthread_t holder;

    __atomic_store_n(&holds, 0, __ATOMIC_RELEASE);
    if (pthread_create(&holder, NULL, hold, NULL) != 0)
        return;
    while (!__atomic_load_n(&holds, __ATOMIC_ACQUIRE))
        continue;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_join(holder, NULL);
}

static __attribute__((noinline)) void handle_request(int is_planted, unsigned long *count)
{
    FN_FUNC(void, FN_1);
    step(count);
    if (is_planted && strcmp(kind, "sleep") == 0)
        sleep_ms(planted_ms);
    else if (is_planted && strcmp(kind, "lock") == 0)
        wait_for_lock();
    else if (is_planted && strcmp(kind, "spin") == 0)
        spin_ns((unsigned long long)planted_ms * 1000000u);
    else if (is_planted && strcmp(kind, "snapshot") == 0)
        probity_snapshot("planted");
}

static void *work(void *argument)
{
    unsigned long *count = argument;

    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        for (int i = 0; i < 100; i++)
            step(count);
        spin_ns(20000);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS_MAX];
    int planted = argc > 3 ? atoi(argv[2]) : 0;

    if (argc < 4)
        return 2;
    threads = atoi(argv[1]) < THREADS_MAX ? atoi(argv[1]) : THREADS_MAX - 1;
    kind = argv[3];
    planted_ms = argc > 4 ? atoi(argv[4]) : planted_ms;
    for (int i = 1; i <= threads; i++)
        pthread_create(&thread[i], NULL, work, steps[i]);
    int is_endless = strcmp(kind, "forever") == 0;
    for (int i = 0; is_endless || i < planted; i++) {
        for (unsigned long long end = now_ns() + 100000000u; now_ns() < end;) {
            handle_request(0, steps[0]);
            spin_ns(10000);
        }
        handle_request(!is_endless, steps[0]);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 1; i <= threads; i++)
        pthread_join(thread[i], NULL);
    printf("planted %d\n", planted);
    for (int i = 0; i <= threads; i++)
        printf("steps %lu\n", steps[i][0]);
    return 0;
}
