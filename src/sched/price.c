/* SPDX-License-Identifier: MIT
 *
 * price.c: measures the price of a switch. Two threads take turns on one CPU, by sched_yield():
 * first without events, then with the events on one of them. The difference in CPU time is what the
 * kernel takes for that thread's records. Each is measured in a few short blocks, of which only the
 * fastest counts, because the machine may have other work.
 */
#include "sched/price.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "sched/events.h"

enum {
    BLOCKS = 4,
    BLOCKS_MIN = 3, /* fewer are not compared, because the first runs with cold caches */
    TURNS = 12, /* turns of each thread, per block */
    LIMIT_NS = 20000000, /* if other programs use the CPU, a turn may take milliseconds */
    PRICE_NS_MIN = 200,
    PRICE_NS_MAX = 12000 /* ten times what duty.c assumes */
};

struct pair {
    pthread_t thread;
    int turn; /* 0: this thread's; 1: the other thread's; 2: the other thread must end */
    pid_t tid; /* id of the other thread, once it has had a turn */
    uint64_t until_ns;
};

static uint64_t read_ns(clockid_t clock)
{
    struct timespec now = {0, 0};

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *take_turns(void *context)
{
    struct pair *pair = context;
    int turn;

    __atomic_store_n(&pair->tid, (pid_t)probity_os_thread_id(), __ATOMIC_RELEASE);
    while ((turn = __atomic_load_n(&pair->turn, __ATOMIC_ACQUIRE)) != 2) {
        if (turn == 1)
            __atomic_store_n(&pair->turn, 0, __ATOMIC_RELEASE);
        sched_yield();
    }
    return NULL;
}

/* Gives the other thread a turn. Returns 0, or -1 if it takes too long. */
static int give_turn(struct pair *pair)
{
    __atomic_store_n(&pair->turn, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&pair->turn, __ATOMIC_ACQUIRE) == 1) {
        if (read_ns(CLOCK_MONOTONIC) > pair->until_ns)
            return -1;
        sched_yield();
    }
    return 0;
}

/* Returns the CPU time of the fastest block, or UINT64_MAX if there are too few. */
static uint64_t fastest_of(struct pair *pair)
{
    uint64_t fastest_ns = UINT64_MAX;

    for (int block = 0; block < BLOCKS; block++) {
        uint64_t before_ns = read_ns(CLOCK_PROCESS_CPUTIME_ID);
        for (int i = 0; i < TURNS; i++) {
            if (give_turn(pair) != 0)
                return block >= BLOCKS_MIN ? fastest_ns : UINT64_MAX;
        }
        uint64_t ns = read_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns;
        fastest_ns = ns < fastest_ns ? ns : fastest_ns;
    }
    return fastest_ns;
}

static uint32_t price_of(struct pair *pair, uint32_t cpu)
{
    struct probity_sched_ring ring;
    uint64_t without_ns = UINT64_MAX, with_ns = UINT64_MAX;

    /* Once the other thread has had a turn, its id is known. */
    if (give_turn(pair) == 0)
        without_ns = fastest_of(pair);
    pid_t tid = __atomic_load_n(&pair->tid, __ATOMIC_ACQUIRE);
    if (without_ns != UINT64_MAX && probity_sched_ring_try(&ring, tid, cpu) == 0) {
        if (give_turn(pair) == 0)
            with_ns = fastest_of(pair);
        probity_sched_ring_end(&ring);
    }
    if (with_ns == UINT64_MAX || with_ns <= without_ns)
        return 0;
    uint64_t price_ns = (with_ns - without_ns) / TURNS / 2;
    return price_ns >= PRICE_NS_MIN && price_ns <= PRICE_NS_MAX ? (uint32_t)price_ns : 0;
}

uint32_t probity_sched_price_ns(void)
{
    struct pair pair = {.until_ns = read_ns(CLOCK_MONOTONIC) + LIMIT_NS};
    int cpu = sched_getcpu();
    uint32_t price_ns = 0;
    cpu_set_t before, one;

    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof before, &before) != 0)
        return 0;
    CPU_ZERO(&one);
    CPU_SET((unsigned)cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        return 0;
    if (pthread_create(&pair.thread, NULL, take_turns, &pair) == 0) {
        price_ns = price_of(&pair, (uint32_t)cpu);
        __atomic_store_n(&pair.turn, 2, __ATOMIC_RELEASE);
        pthread_join(pair.thread, NULL);
    }
    sched_setaffinity(0, sizeof before, &before);
    return price_ns;
}
