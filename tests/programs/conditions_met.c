/* SPDX-License-Identifier: MIT
 *
 * conditions_met.c: meets conditions on requests that pass two threads, gaps between hits, rates
 * and values, while other threads hit probes without pause.
 *
 *     conditions_met KIND PLANTED THREADS
 *
 * KIND: request (30 ms; others take none), gap (300 ms; hits are 2 ms apart), rate (400 hits at
 * once), value (7; others are 0 or less), low (no hit for 1.1 s; else one each 2 ms). These events
 * are 200 ms apart, or 500 ms for rate and low, so that no window contains two. last: only a
 * request of 20 ms, right after which the recording ends.
 *
 * Prints "met LEAST MOST": how many requests exceeded 15 ms, or gaps 100 ms, by the program's
 * clock: LEAST certainly did, MOST may have. For rate, it counts periods of 200 ms with more than
 * 150 hits, and for low, periods of 500 ms with fewer than 10.
 */
#include "probity_typed.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS_MAX = 16, MS = 1000000 };

static int is_over, least, most;
static sem_t given, done;
static uint64_t begun_before, begun_after;
static const char *kind;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
    struct timespec rest = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

    while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
        continue;
}

static void *hit(void *unused)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
        PROBITY_PROBE(5);
    return unused;
}

/* Both threads reuse the same few ids. */
static void *answer(void *unused)
{
    for (uint64_t i = 0;; i++) {
        sem_wait(&given);
        if (__atomic_load_n(&is_over, __ATOMIC_RELAXED))
            return unused;
        uint64_t before = now_ns();
        PROBITY_REQUEST_END("request", i % 3);
        least += before - begun_after > 15 * MS;
        most += now_ns() - begun_before > 15 * MS;
        sem_post(&done);
    }
}

static void ask(uint64_t number, uint64_t ns)
{
    begun_before = now_ns();
    PROBITY_REQUEST_BEGIN("request", number % 3);
    begun_after = now_ns();
    if (ns != 0)
        sleep_ns(ns);
    sem_post(&given);
    sem_wait(&done);
}

/* Unless interrupted, a burst falls into one or two periods, at least one of which has enough hits.
 * It can count again after a period without hits. */
static void burst(void)
{
    uint64_t begin = now_ns();

    for (int i = 0; i < 400; i++)
        PROBITY_PROBE_WITH(77, i);
    uint64_t periods = (now_ns() - begin) / (200 * MS);
    least += periods == 0;
    most += 1 + (int)periods;
}

/* A period with fewer than 10 hits lies between a hit and the 10th one after it. Such stretches are
 * joined if they overlap. */
static struct {
    uint64_t count, begin, end;
    int most;
} low;

/* A period counts again only after one that has enough hits. */
static void end_stretch(void)
{
    low.most += ((int)((low.end - low.begin) / (500 * MS)) + 1) / 2;
    low.count += low.end != 0;
}

/* Clock readings before and after the hit. */
static void count_low(uint64_t before, uint64_t after)
{
    enum { HITS = 10 };
    static uint64_t latest[HITS], count;
    uint64_t *tenth = &latest[count++ % HITS];

    if (count > HITS && after - *tenth > 500 * MS) {
        if (*tenth > low.end) {
            end_stretch();
            low.begin = *tenth;
        }
        low.end = after;
    }
    *tenth = before;
}

/* If there were no other stretches, a period with enough hits is between any two of them. */
static void count_all_low(int planted)
{
    end_stretch();
    least = low.count == (uint64_t)planted ? planted : planted > 0;
    most = low.most + 1; /* after its last beat, the program may take long to end */
}

static void beat_low(uint64_t ns)
{
    sleep_ns(ns);
    uint64_t before = now_ns();
    PROBITY_PROBE_NAMED("beat");
    count_low(before, now_ns());
}

static void beat(uint64_t ns)
{
    static uint64_t before, after;

    sleep_ns(ns);
    uint64_t now = now_ns();
    PROBITY_PROBE_NAMED("beat");
    if (before != 0) {
        least += now - after > 100 * MS;
        most += now_ns() - before > 100 * MS;
    }
    before = now;
    after = now_ns();
}

static void meet(uint64_t number, int is_planted)
{
    if (strcmp(kind, "request") == 0)
        ask(number, is_planted ? 30 * MS : 0);
    else if (strcmp(kind, "gap") == 0)
        beat(is_planted ? 300 * MS : 2 * MS);
    else if (strcmp(kind, "low") == 0)
        beat_low(is_planted ? 1100 * MS : 2 * MS);
    else if (strcmp(kind, "value") == 0)
        PROBITY_PROBE_NAMED_WITH("failed", is_planted ? 7 : -(int64_t)(number % 2));
    else if (is_planted)
        burst();
}

/* The recording ends right after the request. */
static int meet_last(void)
{
    uint64_t begun = now_ns();

    PROBITY_REQUEST_BEGIN("request", 1);
    while (now_ns() - begun < 20 * MS)
        continue;
    PROBITY_REQUEST_END("request", 1);
    probity_stop();
    puts("met 1 1");
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS_MAX], answering;
    int planted = argc > 3 ? atoi(argv[2]) : 0, threads = argc > 3 ? atoi(argv[3]) : 0;
    uint64_t number = 0, between = 200 * MS;

    if (argc < 4 || threads > THREADS_MAX)
        return 2;
    kind = argv[1];
    if (strcmp(kind, "last") == 0)
        return meet_last();
    if (strcmp(kind, "rate") == 0 || strcmp(kind, "low") == 0)
        between = 500 * MS;
    sem_init(&given, 0, 0);
    sem_init(&done, 0, 0);
    if (pthread_create(&answering, NULL, answer, NULL) != 0)
        return 1;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, hit, NULL) != 0)
            return 1;
    for (int i = 0; i <= planted; i++) {
        for (uint64_t end = now_ns() + between; now_ns() < end; number++) {
            meet(number, 0);
            sleep_ns(100000);
        }
        if (i < planted)
            meet(number++, 1);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    sem_post(&given);
    pthread_join(answering, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    if (strcmp(kind, "low") == 0)
        count_all_low(planted);
    /* After its last beat, the program may take long to end. */
    printf("met %d %d\n", least, most + (strcmp(kind, "gap") == 0));
    return 0;
}
