/* SPDX-License-Identifier: MIT
 *
 * stopping.c: stops recording at the most difficult moments. Hits made before must be in the trace.
 *     stopping ending   threads exit while another one stops: 16 threads, 50 hits each
 *     stopping hole     a word reserved and never stored, as after a jump out of a handler,
 *                       then 1,000 hits and a normal exit
 *     stopping held     two words reserved, as by a handler's probe inside a probe; after the
 *                       writer has written everything around them, the inner one stores (4),
 *                       then the outer one (3), then a normal exit
 *     stopping held_killed    same as above with SIGKILL at the end
 *     stopping late     a hit, and a word reserved before the end of recording and stored after it
 *     stopping beside   start and stop in two threads at once, for 20,000 rounds
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probity.h"

enum { THREADS = 16, HITS = 50, BEHIND_HOLE = 1000, ROUNDS = 20000 };

static atomic_int done;

static void *record_and_end(void *argument)
{
    long spin = (long)(intptr_t)argument * 2000;

    for (int i = 0; i < HITS; i++)
        PROBITY_PROBE(7);
    atomic_fetch_add(&done, 1);
    for (volatile long i = 0; i < spin; i++)
        ;
    return NULL;
}

static int ending(void)
{
    pthread_attr_t detached;

    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &detached, record_and_end, (void *)(intptr_t)i) != 0)
            return 1;
    }
    while (atomic_load(&done) < THREADS)
        ;
    return probity_stop() != 0;
}

static int hole(void)
{
#if PROBITY_HAS_FAST_PATH
    PROBITY_PROBE(1);
    probity_reserve(probity_thread_self, 8);
#endif
    for (int i = 0; i < BEHIND_HOLE; i++)
        PROBITY_PROBE(2);
    return 0;
}

#if PROBITY_HAS_FAST_PATH
static void store_late(uint64_t at, uint64_t tick, uint32_t id)
{
    __atomic_store_n((uint64_t *)at, tick << 24 | (4096 + 2 * (uint64_t)id), __ATOMIC_RELAXED);
}

/* The writer waits for a probe in progress for one second by its clock. */
static int held(int is_killed)
{
    enum { PATIENCE_S = 2 };
    struct timespec first, now;

    PROBITY_PROBE(1);
    uint64_t outer = probity_reserve(probity_thread_self, 8), outer_tick = probity_ticks();
    uint64_t inner = probity_reserve(probity_thread_self, 8), inner_tick = probity_ticks();
    clock_gettime(CLOCK_MONOTONIC, &first);
    do {
        for (int i = 0; i < BEHIND_HOLE; i++)
            PROBITY_PROBE(2);
        probity_flush();
        usleep(20000);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - first.tv_sec < PATIENCE_S);
    store_late(inner, inner_tick, 4);
    store_late(outer, outer_tick, 3);
    if (is_killed)
        raise(SIGKILL);
    return 0;
}
#endif

#if PROBITY_HAS_FAST_PATH
/* Like a thread that was preempted inside a probe. */
static int late(void)
{
    PROBITY_PROBE(1);
    uint64_t at = probity_reserve(probity_thread_self, 8), tick = probity_ticks();
    int result = probity_stop();
    store_late(at, tick, 2);
    return result != 0;
}
#endif

static void *stop_again_and_again(void *unused)
{
    (void)unused;
    while (!atomic_load(&done))
        probity_stop();
    return NULL;
}

static int beside(void)
{
    struct probity_options options = {.out = "beside.probity",
                                      .overwrite = PROBITY_ON,
                                      .chunk_records = 512,
                                      .spool_records = 4096};
    pthread_t thread;

    if (pthread_create(&thread, NULL, stop_again_and_again, NULL) != 0)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        probity_start(&options);
        PROBITY_PROBE(3);
    }
    atomic_store(&done, 1);
    return pthread_join(thread, NULL) != 0;
}

int main(int count, char **arguments)
{
    const char *way = count == 2 ? arguments[1] : "";

    if (strcmp(way, "ending") == 0)
        return ending();
    if (strcmp(way, "hole") == 0)
        return hole();
#if PROBITY_HAS_FAST_PATH
    if (strncmp(way, "held", 4) == 0)
        return held(strcmp(way, "held_killed") == 0);
    if (strcmp(way, "late") == 0)
        return late();
#endif
    if (strcmp(way, "beside") == 0)
        return beside();
    fprintf(stderr, "usage: stopping ending|hole|held|held_killed|late|beside\n");
    return 2;
}
