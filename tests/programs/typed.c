/* SPDX-License-Identifier: MIT
 *
 * typed.c REQUESTS [signal|flush]: requests that pass through a queue and a lock, in two threads,
 * with a known number of hits. The first thread begins each request and puts it in the queue; the
 * second one gets and ends it. With "signal", a handler also hits typed probes, as often as it can;
 * with "flush", the first thread flushes now and then, so that reading can start at many places in
 * the trace. Prints the number of the handler's hits.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probity.h"
#include "probity_typed.h"

enum { ROOM = 16, FLUSH_EVERY = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t items[ROOM];
static unsigned long first, end, requests;
static volatile sig_atomic_t handled;

/* Runs in the first thread only. */
static void handle(int number)
{
    int before = errno;

    (void)number;
    errno = ESTALE;
    PROBITY_PROBE_NAMED_WITH("handled", handled);
    if (errno != ESTALE)
        abort();
    errno = before;
    handled = handled + 1;
}

static void hold(void)
{
    if (pthread_mutex_trylock(&lock) != 0) {
        PROBITY_LOCK_WAIT("items", &lock);
        pthread_mutex_lock(&lock);
    }
    PROBITY_LOCK_HOLD("items", &lock);
}

static void release(void)
{
    PROBITY_LOCK_RELEASE("items", &lock);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Releases the lock during the wait. */
static void wait_for_change(void)
{
    PROBITY_LOCK_RELEASE("items", &lock);
    pthread_cond_wait(&changed, &lock);
    PROBITY_LOCK_HOLD("items", &lock);
}

static void put(uint64_t item)
{
    hold();
    while (end - first == ROOM)
        wait_for_change();
    PROBITY_QUEUE_PUT("items", items, item);
    items[end++ % ROOM] = item;
    release();
}

static uint64_t get(void)
{
    hold();
    while (end == first)
        wait_for_change();
    uint64_t item = items[first++ % ROOM];
    PROBITY_QUEUE_GET("items", items, item);
    release();
    return item;
}

static void *serve(void *unused)
{
    for (unsigned long i = 0; i < requests; i++) {
        uint64_t item = get();
        PROBITY_PROBE_WITH(7, item);
        PROBITY_PROBE_ROLE(8, PROBITY_ROLE_REQUEST_END, item, 0);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t server;
    timer_t timer = NULL;
    struct itimerspec often = {{0, 100000}, {0, 100000}};
    int with_signal = argc > 2 && strcmp(argv[2], "signal") == 0;
    int with_flush = argc > 2 && strcmp(argv[2], "flush") == 0;

    requests = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
    PROBITY_PROBE(1);
    if (with_signal) {
        signal(SIGALRM, handle);
        timer_create(CLOCK_MONOTONIC, NULL, &timer);
        timer_settime(timer, 0, &often, NULL);
    }
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL); /* the thread inherits the mask */
    pthread_create(&server, NULL, serve, NULL);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    for (unsigned long i = 0; i < requests; i++) {
        PROBITY_REQUEST_BEGIN("request", i + 1);
        put(i + 1);
        if (with_flush && i % FLUSH_EVERY == 0 && probity_flush() != 0)
            return 1;
    }
    pthread_join(server, NULL);
    if (with_signal) {
        timer_delete(timer);
        signal(SIGALRM, SIG_IGN); /* later signals would not be counted */
    }
    printf("%d\n", (int)handled);
    return 0;
}
